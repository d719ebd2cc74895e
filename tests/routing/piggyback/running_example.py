"""The running example of the papers, reconstructed from their text, and chains written as paths."""

from __future__ import annotations

from twigcast.document import read
from twigcast.pattern import parse
from twigcast.routing.piggyback.questions import Binding, Chain

PREFIXES = {"p": "urn:p"}

DOCUMENT = read(b"<b><d><e><g/></e><f/></d><a><x><c/></x><y><c/></y></a></b>")

ROWS = {f"s{at}": parse(text) for at, text in enumerate(["//a/y/c", "//a/z/c", "//h/m", "//h/k/m"], 1)}
ROWS |= {"s5": parse("/b/d/e/g"), "s6": parse("/q/d[m]/k/j/g")}

TOLD = {"s'1": parse("//a/*/c"), "s'2": parse("//h//m"), "s'3": parse("/*/d//g")}

AGGREGATED = {"s'1": ("s1", "s2"), "s'2": ("s3", "s4"), "s'3": ("s5", "s6")}
"""Which rows each told pattern stands for."""


def chain(text: str) -> Chain:
    """The chain that ``a/b`` or ``p:a/b`` stands for; the empty text is the empty chain."""
    names = [name.rpartition(":") for name in text.split("/") if name]
    return tuple([(PREFIXES.get(prefix, ""), local) for prefix, _, local in names])


def binding(**names: str) -> Binding:
    """The binding with these names: ``binding(_1="b", _2="c/d")``."""
    return tuple([(int(number[1:]), chain(text)) for number, text in names.items()])

"""Programs put together from compiled parts are those the compiler would have made of the patterns."""

from __future__ import annotations

from random import Random

import pytest

from tests.pattern.strategies import pattern
from twigcast.errors import PatternError
from twigcast.filtering.compiling import Compiler
from twigcast.filtering.program_cache import ProgramCache
from twigcast.pattern.syntax.parsing import parse_alone
from twigcast.workload import generate_subscriptions, news, presets


def test_equals_the_compiler() -> None:
    """Whatever the text, it gives the compiler's exact program or leaves the text to parser and compiler."""
    random = Random(11)
    compiler = Compiler()
    assembler = ProgramCache(compiler)
    for _ in range(2000):
        text = pattern(random).ours
        words = assembler.assembled(text)
        if words is not None:
            assert (words, True) == _compiled(text, compiler)


def test_generated_subscriptions_are_assembled() -> None:
    """Steps with nested paths and values among their predicates are usual, whatever was seen before."""
    compiler = Compiler()
    assembler = ProgramCache(compiler)
    for text in generate_subscriptions(news(), 1000, presets.VALUES):
        assert (assembler.assembled(text), True) == _compiled(text, compiler)


@pytest.mark.parametrize(
    "text",
    [
        "/a[b]/b",  # what follows is what the predicate asks
        "/a[c][b][c]",
        "/a[@x!='1'][@x!='2']",  # both ask for the attribute
        "/a[b and c][b]//d",
        "/a[.//b[@id='n1'][@k]/c]",
        "/a[b[d][c]][b[c][d]]",  # the same, in another order
        "/a[not(c or b)]/d",
        "/*[contains(@x, 'y')]/*[.='z']",
    ],
)
def test_predicates_are_asked_once_and_in_order(text: str) -> None:
    """The words are the compiler's where parts overlap."""
    compiler = Compiler()
    assert (ProgramCache(compiler).assembled(text), True) == _compiled(text, compiler)


@pytest.mark.parametrize("text", ["", "a/b", "/a | /b", "/a[b or c]", "/a[.]", "/a[2]", "/p:a", "/a[/b]"])
def test_others_are_left_to_the_compiler(text: str) -> None:
    """Alternatives, what always holds, what must be confirmed, and what is no subscription."""
    assert ProgramCache(Compiler()).assembled(text) is None


def _compiled(text: str, compiler: Compiler) -> tuple[bytes, bool] | None:
    try:
        program = compiler.compile(parse_alone(text))
    except PatternError:
        return None
    return program.words, program.exact

"""Whether a document is one that an advertisement announced.

Each element is given the position that its name leads to from that of its parent; where there is none, the
document is outside.  The subscription language cannot ask for this (it has no ``not(self::name)``), so an
index of patterns cannot answer it: the router that a document enters at follows its tags, once.
Cost: a bare parse and one lookup for each element, a quarter of what a tree of nodes takes.
"""

from __future__ import annotations

from xml.parsers import expat

from twigcast.analysis.automaton import DOCUMENT, SchemaAutomaton
from twigcast.pattern import Axis, NameTest

_SEPARATOR = "\x01"  # parts the namespace of a name from its local part; no document contains it


def describes(automaton: SchemaAutomaton, body: bytes) -> bool:
    """Whether every label path of a well-formed document is one that the automaton describes."""
    return _Follower(automaton).follows(body)


class _Outside(Exception):
    """An element that no position admits has been met."""


class _Follower:
    """One document being followed: the positions of its open elements."""

    def __init__(self, automaton: SchemaAutomaton) -> None:
        self.step = automaton.step
        self.open = [DOCUMENT]

    def follows(self, body: bytes) -> bool:
        parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        try:
            parser.Parse(body, True)
        except (_Outside, expat.ExpatError, LookupError, ValueError):  # what is not read is not announced
            return False
        return True

    def _start(self, name: str, _: object) -> None:
        namespace, _, local = name.rpartition(_SEPARATOR)
        position = self.step(self.open[-1], Axis.CHILD, NameTest(namespace, local))
        if not position:
            raise _Outside
        self.open.append(position)

    def _end(self, _: str) -> None:
        self.open.pop()

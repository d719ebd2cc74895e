"""Whether a document conforms to a schema; the naive version of what the kernel decides while it matches.

Each element gets the position to which its name leads from the position of its parent; a document does not
conform if there is no such position.  No pattern can express this, because the subscription language has no
``not(self::name)``.
Cost: a bare parse and one lookup for each element, which is a quarter of the cost of building a tree.
"""

from __future__ import annotations

from xml.parsers import expat

from twigcast.analysis.automaton import DOCUMENT, SchemaAutomaton
from twigcast.pattern import Axis, NameTest

_SEPARATOR = "\x01"  # separates namespace and local name; XML documents cannot contain this character


def describes(automaton: SchemaAutomaton, body: bytes) -> bool:
    """Whether a document is well-formed and the automaton describes every label path of it."""
    return _Walk(automaton).conforms(body)


class _Outside(Exception):
    """Raised inside the parser at the first element that no position admits."""


class _Walk:
    """The walk of one document through the automaton: a stack with the positions of the open elements."""

    def __init__(self, automaton: SchemaAutomaton) -> None:
        self.step = automaton.step
        self.open = [DOCUMENT]

    def conforms(self, body: bytes) -> bool:
        parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        try:
            parser.Parse(body, True)
        except (_Outside, expat.ExpatError, LookupError, ValueError):  # unreadable documents do not conform
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

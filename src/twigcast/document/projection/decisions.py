"""How much of an element is kept, decided for each label path and each output.

    Keep    what is written
    DROP    nothing, and nothing below it
    ABOVE   its tags, if something below it is kept
    TAG     its start tag with all attributes and its end tag; below it, what is kept there
    OWN     TAG, every byte that is directly in it, and its children at least as TAG
    TREE    every byte from "<" to ">"

Decisions are an automaton over label paths: a state for the document node, and a step for each name.  So a
document with millions of label paths needs only as many states as there are different decisions to come.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Protocol, TypeAlias

LabelPath: TypeAlias = tuple[tuple[str, str], ...]
"""The namespaces and local names from the root to an element; empty for the document node."""


class Keep(IntEnum):
    """How much of an element is kept in an output."""

    DROP = 0
    ABOVE = 1
    TAG = 2
    OWN = 3
    TREE = 4


class Decisions(Protocol):
    """An automaton that decides what is kept at each label path.

    Invariants: a state determines the name of its element; below ``DROP`` and ``TREE`` an output has only
    ``DROP``.  ``TREE`` for the document node keeps the whole document, with what follows the root element.
    """

    start: int

    def step(self, state: int, namespace: str, local: str) -> int:
        """The state of a child with this name."""

    def keeps(self, state: int) -> Sequence[Keep]:
        """How much is kept in each output."""

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

from collections.abc import Callable, Sequence
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


class PathDecisions:
    """Decisions by a function of the label path, with a state for each label path that occurs."""

    def __init__(self, decide: Callable[[LabelPath], Sequence[Keep]]) -> None:
        self.start = 0
        self._decide = decide
        self._paths: list[LabelPath] = [()]
        self._keeps: list[tuple[Keep, ...]] = [tuple(decide(()))]
        self._steps: dict[tuple[int, str, str], int] = {}

    def step(self, state: int, namespace: str, local: str) -> int:
        """The state of a child with this name."""
        key = state, namespace, local
        found = self._steps.get(key)
        if found is None:
            path = (*self._paths[state], (namespace, local))
            above = self._keeps[state] if state else [Keep.ABOVE] * len(self._keeps[0])
            own = self._decide(path)
            ended = (Keep.DROP, Keep.TREE)
            kept = [Keep.DROP if outer in ended else each for outer, each in zip(above, own, strict=True)]
            found = self._steps[key] = len(self._paths)
            self._paths.append(path)
            self._keeps.append(tuple(kept))
        return found

    def keeps(self, state: int) -> Sequence[Keep]:
        """How much is kept in each output."""
        return self._keeps[state]

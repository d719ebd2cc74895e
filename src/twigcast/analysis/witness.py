"""The smallest document that shows what a pattern speaks of: its steps and branches, with some gaps filled.

    /a[b or c]//d            document ─ a ┬ b
                                          ├ c
                                          └ ? ─ d            the gap of ``//``, filled with one element

A pattern that covers another has a trunk that lies somewhere along the witness of the other: a necessary
condition that many patterns can be tested for at once.
Places are numbered, parents before children; the document is place 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from twigcast.analysis.covering import denials
from twigcast.pattern import ANY, And, Axis, NameTest, Not, Or, Path, Pattern, Position, Predicate


class Witness:
    """Places with their children, all places below them, and the keys of the tests that admit each.

    ``names`` has the key of a place's own test, None where it admits anything; ``parts`` those of the tests
    of only its namespace or only its local name; ``where`` has the places of each name.
    ``missing`` are the bits of what no place below is called, ``height`` the number of levels below.
    """

    __slots__ = ("below", "children", "height", "missing", "names", "parts", "where")

    def __init__(self, pattern: Pattern) -> None:
        self.children: list[Sequence[int]] = [()]
        self.names: list[str | None] = [None]
        self.parts: list[tuple[str, ...]] = [()]
        self.below: list[Sequence[int]]
        path = pattern.alternatives[0]
        if len(pattern.alternatives) > 1:
            path = max(pattern.alternatives, key=lambda path: len(path.steps))
        self.where: dict[str | None, list[int]] = {None: []}
        self._grow(0, path)
        size = len(self.children)
        self.below = [range(place + 1, size) for place in range(size)]
        branching = any(len(children) > 1 for children in self.children)
        self.height = [0] * size
        self.missing = [-1] * size
        for place in range(size - 1, -1, -1):
            missing = -1
            for child in self.children[place]:
                missing &= self.missing[child] & ~bit(self.names[child])
                self.height[place] = max(self.height[place], self.height[child] + 1)
            self.missing[place] = missing
            if branching:
                children = self.children[place]
                self.below[place] = [*children, *(each for child in children for each in self.below[child])]

    def _grow(self, place: int, path: Path) -> None:
        self._branch(place, path.filters)
        for step in path.steps:
            if step.axis is Axis.DESCENDANT:
                place = self._add(place, ANY)
            place = self._add(place, step.test)
            if step.predicates:
                self._branch(place, step.predicates)

    def _add(self, place: int, test: NameTest) -> int:
        number = len(self.children)
        if number == place + 1:
            self.children[place] = (number,)
        else:
            self.children[place] = (*self.children[place], number)
        self.children.append(())
        name, parts = _keys(test)
        self.names.append(name)
        self.parts.append(parts)
        if name is not None:
            self.where.setdefault(name, []).append(number)
        return number

    def _branch(self, place: int, predicates: Iterable[Predicate]) -> None:
        for predicate in predicates:
            match predicate:
                case And(operands) | Or(operands):
                    self._branch(place, operands)
                case Not(operand):
                    self._branch(place, denials(operand))
                case Position():
                    self._branch(place, predicate.among)
                case _:
                    for path in predicate.paths:
                        self._grow(place, path)


@lru_cache(maxsize=1 << 14)
def key(test: NameTest) -> str | None:
    """A test as text, which is compared faster; None for the test that admits everything."""
    if test.namespace is None:
        return test.local
    return f"{test.namespace}}}{test.local or ''}"  # no local name has a brace, and none is empty


def bit(name: str | None) -> int:
    """One of some hundred bits, by which sets of names are compared at once."""
    return 0 if name is None else 1 << (hash(name) & 255)


@lru_cache(maxsize=1 << 14)
def _keys(test: NameTest) -> tuple[str | None, tuple[str, ...]]:
    if None in test:
        return key(test), ()
    parts = (NameTest(test.namespace, None), NameTest(None, test.local))
    return key(test), tuple([part for part in map(key, parts) if part is not None])

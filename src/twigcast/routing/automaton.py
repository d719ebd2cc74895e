"""What documents can look like, as positions: the form in which a schema is compared with subscriptions.

A position stands for the elements at certain places of a document, all called alike.  The expression
``/a/b(/c/d)+/e`` has six, with the document itself as the first:

    document ──► a ──► b ──► c ⇄ d ──► e

    position   0   1   2   3   4     5
    test       –   a   b   c   d     e
    follow    {1} {2} {3} {4} {3,5} {}        each set one integer, a bit for each position

A document is described if its elements can be given positions so that each name is admitted by its position,
and each position follows that of the parent.  Every position may be the last: branches end anywhere.

Invariant: a name leads from a position to one position at most, so an element's position depends on nothing
but the names above it, and the branches of a twig can be looked at one by one.  Where tests overlap, a name
belongs to the narrowest that admits it; the tests are closed under intersection, so there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

from twigcast.pattern import ANY, Axis, NameTest

DOCUMENT = 1
"""The set of only the document's position."""

MEMORY = 100_000
"""Steps that are remembered: documents and subscriptions can bring any number of names."""


@dataclass(frozen=True, eq=True)  # without slots: what is derived is kept once computed
class Automaton:
    """Positions by number: the name test of each, and the set of those that can follow it as children.

    The first is the document, whose test is never asked for.
    Cost: a step from a set of positions is one lookup once it was made before.
    """

    tests: tuple[NameTest, ...]
    follow: tuple[int, ...]

    def __hash__(self) -> int:
        return hash((len(self.tests), self.follow))

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    def step(self, positions: int, axis: Axis, test: NameTest) -> int:
        """The positions to which a step can lead from any of these."""
        key = (positions, axis, test)
        found = self._steps.get(key)
        if found is None:
            if len(self._steps) > MEMORY:
                self._steps.clear()
            reached = self.children(positions) if axis is Axis.CHILD else self.descendants(positions)
            found = self._steps[key] = reached & self.admitted(test)
        return found

    def step_back(self, positions: int, axis: Axis) -> int:
        """The positions from which a step of this axis can lead to one of these."""
        key = (positions, axis)
        found = self._back.get(key)
        if found is None:
            sources = self.follow if axis is Axis.CHILD else self.below
            found = self._back[key] = sum(1 << n for n, reached in enumerate(sources) if reached & positions)
        return found

    def admitted(self, test: NameTest) -> int:
        """The positions of elements that can have a name which ``test`` admits."""
        found = self._admitted.get(test)
        if found is None:
            if len(self._admitted) > MEMORY:
                self._admitted.clear()
            found = 0
            for known, positions in self._by_test.items():
                both = meet(known, test)
                if both is not None and self._narrowest(both) == known:
                    found |= positions
            self._admitted[test] = found
        return found

    def named(self, namespace: str, local: str) -> int:
        """The positions of elements with this very name."""
        return self.admitted(NameTest(namespace, local))

    def children(self, positions: int) -> int:
        return self._union(self.follow, positions)

    def descendants(self, positions: int) -> int:
        return self._union(self.below, positions)

    @cached_property
    def everywhere(self) -> int:
        """All positions, the document's included."""
        return (1 << len(self.tests)) - 1

    @cached_property
    def below(self) -> tuple[int, ...]:
        """For each position, those that can stand anywhere below it."""
        below = list(self.follow)
        changed = True
        while changed:
            changed = False
            for number in range(len(below) - 1, -1, -1):
                reached = below[number] | self._union(below, below[number])
                if reached != below[number]:
                    below[number] = reached
                    changed = True
        return tuple(below)

    @cached_property
    def _by_test(self) -> dict[NameTest, int]:
        by_test: dict[NameTest, int] = {}
        for number, test in enumerate(self.tests):
            if number:
                by_test[test] = by_test.get(test, 0) | 1 << number
        return by_test

    def _narrowest(self, test: NameTest) -> NameTest | None:
        """The class of tests to which the names of ``test`` belong that no narrower test speaks of."""
        namespace, local = test
        for known in (test, NameTest(None, local), NameTest(namespace, None), ANY):
            if known in self._by_test:
                return known
        return None

    @cached_property
    def _steps(self) -> dict[tuple[int, Axis, NameTest], int]:
        return {}

    @cached_property
    def _back(self) -> dict[tuple[int, Axis], int]:
        return {}

    @cached_property
    def _admitted(self) -> dict[NameTest, int]:
        return {}

    @staticmethod
    def _union(table: Sequence[int], positions: int) -> int:
        union = 0
        for number in members(positions):
            union |= table[number]
        return union


def members(positions: int) -> Iterator[int]:
    """The numbers of the positions in a set."""
    while positions:
        lowest = positions & -positions
        yield lowest.bit_length() - 1
        positions ^= lowest


def meet(one: NameTest, other: NameTest) -> NameTest | None:
    """The test for the names that both admit; None where there are none."""
    namespace = one.namespace if other.namespace is None else other.namespace
    local = one.local if other.local is None else other.local
    if one.namespace not in (None, namespace) or one.local not in (None, local):
        return None
    return NameTest(namespace, local)


def deterministic(tests: Sequence[NameTest], follow: Sequence[int]) -> Automaton:
    """The automaton of these positions, where a name may lead from one position to several.

    Its positions are sets of the given ones, with the names they share (the subset construction).
    """
    if _is_deterministic(tests):
        return Automaton(tuple(tests), tuple(follow))
    alphabet = _closed(set(tests[1:]))
    admitting = {
        name: sum(1 << n for n, test in enumerate(tests) if n and meet(test, name) == name)
        for name in alphabet
    }
    numbers: dict[tuple[NameTest, int], int] = {(ANY, DOCUMENT): 0}
    waiting = [(ANY, DOCUMENT)]
    reached: list[int] = []
    for _, positions in waiting:  # grows while it is walked
        below = 0
        for number in members(positions):
            below |= follow[number]
        into = 0
        for name in alphabet:
            found = below & admitting[name]
            if found:
                state = (name, found)
                if state not in numbers:
                    numbers[state] = len(numbers)
                    waiting.append(state)
                into |= 1 << numbers[state]
        reached.append(into)
    return Automaton(tuple(name for name, _ in waiting), tuple(reached))


def _is_deterministic(tests: Sequence[NameTest]) -> bool:
    """Whether no two positions share a name."""
    named = tests[1:]
    return len(set(named)) == len(named) and all(None not in test for test in named)


def _closed(tests: set[NameTest]) -> list[NameTest]:
    """The tests and all their intersections, sorted."""
    closed = set(tests)
    vague = [test for test in tests if None in test]
    for one in vague:
        for other in list(closed):
            both = meet(one, other)
            if both is not None:
                closed.add(both)
    return sorted(closed, key=lambda test: (test.namespace or "", test.local or "", test.namespace is None))

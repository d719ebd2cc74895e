"""A schema as an automaton over element names, in which form it is compared with patterns and documents.

A position stands for the elements that share a name test and a context.  The automaton of the expression
``/a/b(/c/d)+/e`` has six positions; the first one is the document itself:

    document ──► a ──► b ──► c ⇄ d ──► e

    position   0   1   2   3   4     5
    test       –   a   b   c   d     e
    follow    {1} {2} {3} {4} {3,5} {}        each set is one integer with a bit for each position

The automaton describes a document if every element can be assigned a position whose test admits the element's
name and which follows the position of the element's parent.  Every position may be the last one, since a
branch of a document may end anywhere.

Invariant: the automaton is deterministic, that is, a name leads from a position to at most one other.  The
position of an element therefore depends only on its label path, and the branches of a twig can be decided
independently of each other.  Where tests overlap, a name belongs to the narrowest test that admits it; there
is exactly one such test, because the tests are closed under intersection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from twigcast.errors import SchemaError
from twigcast.pattern import ANY, Axis, NameTest
from twigcast.schema import ElementGraph

DOCUMENT = 1
"""The set that contains only the position of the document."""

MEMORY = 100_000
"""The largest number of cached steps; a bound is needed because documents may contain any number of names."""


@dataclass(frozen=True, eq=True)  # without slots: derived facts are cached in the instance
class SchemaAutomaton:
    """A deterministic automaton: for each position its name test and the set of positions that can follow it.

    The first position is the document, whose test is not used.  The constructor raises ``SchemaError`` if a
    name leads from one position to two others.
    Cost: the steps from sets of positions are cached, so that a repeated step is one lookup.
    """

    tests: tuple[NameTest, ...]
    follow: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.tests) != len(self.follow) or not self.tests:
            raise SchemaError("a schema automaton needs one set of followers for each of its positions")
        distinct = len(set(self.tests[1:])) == len(self.tests) - 1
        for positions in self.follow:
            if positions & DOCUMENT or positions >> len(self.tests):
                raise SchemaError("a schema automaton has a follower that is not one of its positions")
            if not distinct:
                tests = [self.tests[number] for number in members(positions)]
                if len(set(tests)) < len(tests):
                    raise SchemaError("a name leads from one position of a schema automaton to two others")

    @property
    def roots(self) -> tuple[NameTest, ...]:
        """The name tests of the root elements that documents can have."""
        return tuple(self.tests[number] for number in members(self.follow[0]))

    def to_json(self) -> dict[str, Any]:
        """Return the automaton as plain lists and strings."""
        return {
            "tests": [list(test) for test in self.tests],
            "follow": [list(members(positions)) for positions in self.follow],
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> SchemaAutomaton:
        """Read the output of ``to_json``; raises ``SchemaError`` if the automaton is not deterministic."""
        tests = tuple(NameTest(*test) for test in fields["tests"])
        if any(not 0 <= number < len(tests) for numbers in fields["follow"] for number in numbers):
            raise SchemaError("a schema automaton has a follower that is not one of its positions")
        follow = tuple(sum(1 << number for number in set(numbers)) for numbers in fields["follow"])
        return cls(tests, follow)

    def __hash__(self) -> int:
        return hash((len(self.tests), self.follow))

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    def step(self, positions: int, axis: Axis, test: NameTest) -> int:
        """Return the positions to which a step can lead from any of ``positions``."""
        key = (positions, axis, test)
        found = self._steps.get(key)
        if found is None:
            if len(self._steps) > MEMORY:
                self._steps.clear()
            reached = self.children(positions) if axis is Axis.CHILD else self.descendants(positions)
            found = self._steps[key] = reached & self.admitted(test)
        return found

    def step_back(self, positions: int, axis: Axis) -> int:
        """Return the positions from which a step along ``axis`` can lead to one of ``positions``."""
        key = (positions, axis)
        found = self._back.get(key)
        if found is None:
            sources = self.follow if axis is Axis.CHILD else self.below
            found = self._back[key] = sum(1 << n for n, reached in enumerate(sources) if reached & positions)
        return found

    def admitted(self, test: NameTest) -> int:
        """Return the positions whose elements can have a name that ``test`` admits."""
        found = self._admitted.get(test)
        if found is None:
            if len(self._admitted) > MEMORY:
                self._admitted.clear()
            found = 0
            for known, positions in self._by_test.items():
                both = known.meet(test)
                if both is not None and self._narrowest(both) == known:
                    found |= positions
            self._admitted[test] = found
        return found

    def named(self, namespace: str, local: str) -> int:
        """Return the positions whose elements can have this name."""
        return self.admitted(NameTest(namespace, local))

    def children(self, positions: int) -> int:
        """Return the positions that can follow one of ``positions`` directly."""
        return self._union(self.follow, positions)

    def descendants(self, positions: int) -> int:
        """Return the positions that can occur at any depth below one of ``positions``."""
        return self._union(self.below, positions)

    @cached_property
    def everywhere(self) -> int:
        """All positions, including that of the document."""
        return (1 << len(self.tests)) - 1

    @cached_property
    def below(self) -> tuple[int, ...]:
        """For each position, the set of positions that can occur at any depth below it."""
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
        """Return the narrowest known test that admits all names of ``test``; None if there is none."""
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
    """Yield the numbers of the positions in a set, in ascending order."""
    while positions:
        lowest = positions & -positions
        yield lowest.bit_length() - 1
        positions ^= lowest


def schema_automaton(graph: ElementGraph) -> SchemaAutomaton:
    """Make the automaton of a schema: one position for each element that can be reached from the root."""
    names = [graph.root, *sorted(graph.descendants[graph.root] - {graph.root})]
    numbers = {name: number for number, name in enumerate(names, 1)}
    tests = [ANY, *(NameTest(*graph.expanded(name)) for name in names)]
    follow = [1 << 1]
    for name in names:
        follow.append(sum(1 << numbers[child.name] for child in graph.children(name)))
    return deterministic(tests, follow)


def deterministic(tests: Sequence[NameTest], follow: Sequence[int]) -> SchemaAutomaton:
    """Make a deterministic automaton from positions where a name may lead from one position to several.

    This is the subset construction: a position of the result is a set of the given positions, together with a
    name test that all of them admit.
    """
    if _is_deterministic(tests):
        return SchemaAutomaton(tuple(tests), tuple(follow))
    alphabet = _closed(set(tests[1:]))
    admitting = {
        name: sum(1 << n for n, test in enumerate(tests) if n and test.meet(name) == name)
        for name in alphabet
    }
    numbers: dict[tuple[NameTest, int], int] = {(ANY, DOCUMENT): 0}
    waiting = [(ANY, DOCUMENT)]
    reached: list[int] = []
    for _, positions in waiting:  # the loop appends to the list
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
    return SchemaAutomaton(tuple(name for name, _ in waiting), tuple(reached))


def _is_deterministic(tests: Sequence[NameTest]) -> bool:
    """Whether no two positions admit the same name, and no test has a wildcard."""
    named = tests[1:]
    return len(set(named)) == len(named) and all(None not in test for test in named)


def _closed(tests: set[NameTest]) -> list[NameTest]:
    """Return the tests and all their intersections, sorted."""
    closed = set(tests)
    wildcards = [test for test in tests if None in test]
    for one in wildcards:
        for other in list(closed):
            both = one.meet(other)
            if both is not None:
                closed.add(both)
    return sorted(closed, key=lambda test: (test.namespace or "", test.local or "", test.namespace is None))

"""How much of a schema a subscription asks for: the number of label paths that it selects an element of.

The suffixes of a pattern that are still to be found are a state; a label leads from states to states.  The
counts below an element depend on the state and the levels left only, and so are computed once, for whatever
pattern has the same steps to go:

    /a/*//c      {/a/*//c} ─a─► {/*//c} ─b─► {//c} ─x─► {//c} ─c─► found: all paths that go on from here

Paths are counted each as one, as in the paper, or by how likely a random walk down the schema is to take
them.  The two disagree about recursive schemas, where nearly all paths are long and documents hardly go: of
NITF's 787,128 paths to depth 10 all but 142 have six labels or more, of those in generated documents 59 %.

A twig is counted by its trunk, as if its predicates always held: an estimate, too large for the twig itself,
and fair for the ratio of twigs with the same predicates.
Cost: at most the edges of the schema times the levels, for each state not met before.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from twigcast.analysis.automaton import members
from twigcast.pattern import Axis, NameTest, Path, Pattern
from twigcast.schema import ElementGraph, label_children, label_path_counts

DEPTH = 10
"""To this depth label paths are counted, if nothing else is said: the deepest documents of the paper."""


class Measure(Enum):
    """What a label path counts."""

    PATHS = "one, whatever its length"
    WALKS = "its share of random walks from the root, each going on to any child or, where it can, ending"


def degree(merger: Pattern, parts: Iterable[Pattern], graph: ElementGraph, depth: int = DEPTH) -> float:
    """The imperfect degree of a merger: the share of what it selects that none of its parts does.

    It is 0.0 too where the merger selects nothing of the schema.
    """
    return PathCounter(graph, depth).degree(merger, parts)


class PathCounter:
    """Counts the label paths of one schema, to one depth, that patterns select an element of.

    Invariant: a state is a set of suffixes, interned; 0 is the empty set, and ``FOUND`` any set in which a
    pattern is complete.
    """

    def __init__(self, graph: ElementGraph, depth: int = DEPTH, measure: Measure = Measure.PATHS) -> None:
        self.graph = graph
        self.depth = depth
        onward = label_children(graph)
        self._numbers = {name: number for number, name in enumerate(onward)}
        self._children = [
            sum(1 << self._numbers[child] for child in children) for children in onward.values()
        ]
        self._names = [graph.expanded(name) for name in onward]
        if measure is Measure.PATHS:
            self._totals = [
                [counts.get(name, 0) for name in onward] for counts in label_path_counts(graph, depth)
            ]
            self._shares = [1] * len(onward)
        else:
            self._totals = [[CERTAIN] * len(onward)] * (depth + 1)
            self._shares = [len(children) + (graph.heights[name] == 1) for name, children in onward.items()]
        self._forget()

    def count(self, patterns: Iterable[Pattern]) -> int:
        """How many label paths have an element that one of the patterns selects, by the measure."""
        root = self._numbers.get(self.graph.root)
        if root is None or self.depth < 1:
            return 0
        if len(self._counts) > MEMORY:
            self._forget()
        suffixes = {self._suffix(path) for pattern in patterns for path in pattern.alternatives}
        if END in suffixes:
            return self._totals[self.depth][root]
        state = self._after(self._state(frozenset(suffixes)), root)
        if state == FOUND:
            return self._totals[self.depth][root]
        found = self._counts.get((state, root, self.depth))
        return self._below(state, root, self.depth) if found is None else found

    def degree(self, merger: Pattern, parts: Iterable[Pattern]) -> float:
        """The imperfect degree of a merger."""
        whole = self.count([merger])
        return 1.0 - self.count(parts) / whole if whole else 0.0

    def includes(self, parts: Iterable[Pattern], merger: Pattern) -> bool:
        """Whether each label path on which ``merger`` selects an element is seen, so far, to match a part.

        It is decided at any depth, by walking the states of both side by side.
        """
        root = self._numbers.get(self.graph.root)
        if root is None:
            return True
        suffixes = frozenset(self._suffix(path) for part in parts for path in part.alternatives)
        asked = frozenset(self._suffix(path) for path in merger.alternatives)
        if END in suffixes or END in asked:
            return END in suffixes
        whole, some = self._state(asked), self._state(suffixes)
        start = (root, self._read(whole, root), self._read(some, root))
        seen = {start}
        waiting = [start]
        while waiting:
            element, whole, some = waiting.pop()
            if some == FOUND or whole == EMPTY:
                continue
            if whole == FOUND:
                return False
            for child in members(self._children[element] & self._promising(whole)):
                state = (child, self._read(whole, child), self._read(some, child))
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
        return True

    def _read(self, state: int, element: int) -> int:
        found = self._reached.get((state, element))
        return self._after(state, element) if found is None else found

    def _below(self, state: int, element: int, levels: int) -> int:
        """The label paths from an element down, its own label read, that complete a suffix of the state."""
        found = 0
        if levels > self._shortest[state]:
            shares = self._shares[element]
            reached, counts = self._reached, self._counts
            for child in members(self._children[element] & self._promising(state)):
                after = reached.get((state, child))
                if after is None:
                    after = self._after(state, child)
                if after == FOUND:
                    found += self._totals[levels - 1][child]
                else:
                    more = counts.get((after, child, levels - 1))
                    found += self._below(after, child, levels - 1) if more is None else more
            found //= shares
        self._counts[state, element, levels] = found
        return found

    def _promising(self, state: int) -> int:
        """The elements that, read next, complete a suffix of the state or leave one that can be completed."""
        found = self._onward[state]
        if found is None:
            found = 0
            for suffix in self._sets[state]:
                found |= self._ahead[suffix]
            self._onward[state] = found
        return found

    def _after(self, state: int, element: int) -> int:
        """The state after the label of an element was read."""
        suffixes: set[int] = set()
        for number in self._sets[state]:
            axis, _, rest = self._steps[number]
            if axis is Axis.DESCENDANT:
                suffixes.add(number)
            if self._named[number] >> element & 1:
                suffixes.add(rest)
        found = FOUND if END in suffixes else self._state(frozenset(suffixes))
        self._reached[state, element] = found
        return found

    def _admitted(self, test: NameTest) -> int:
        """The elements that can have a name which ``test`` admits."""
        found = self._tests.get(test)
        if found is None:
            found = 0
            for number, name in enumerate(self._names):
                if test.meet(NameTest(*name)) is not None:
                    found |= 1 << number
            self._tests[test] = found
        return found

    def _suffix(self, path: Path) -> int:
        rest = END
        for step in reversed(path.steps):
            key = (step.axis, step.test, rest)
            number = self._suffixes.get(key)
            if number is None:
                number = self._suffixes[key] = len(self._steps)
                self._steps.append(key)
                self._named.append(self._admitted(step.test))
                self._lengths.append(1 if rest == END else self._lengths[rest] + 1)
                self._ahead.append(self._leading(*key))
            rest = number
        return rest

    def _leading(self, axis: Axis, test: NameTest, rest: int) -> int:
        """The elements that can be the next above or at which such a suffix begins to be found."""
        found = self._admitted(test)
        if rest != END:
            found &= self._above(self._ahead[rest])
        while axis is Axis.DESCENDANT:
            further = found | self._above(found)
            if further == found:
                break
            found = further
        return found

    def _above(self, elements: int) -> int:
        """The elements with a child among these."""
        found = self._parents.get(elements)
        if found is None:
            found = sum(1 << number for number, children in enumerate(self._children) if children & elements)
            self._parents[elements] = found
        return found

    def _state(self, suffixes: frozenset[int]) -> int:
        number = self._states.get(suffixes)
        if number is None:
            number = self._states[suffixes] = len(self._sets)
            self._sets.append(suffixes)
            self._onward.append(None)
            self._shortest.append(min((self._lengths[suffix] for suffix in suffixes), default=self.depth))
        return number

    def _forget(self) -> None:
        self._steps: list[tuple[Axis, NameTest, int]] = []
        self._suffixes: dict[tuple[Axis, NameTest, int], int] = {}
        self._tests: dict[NameTest, int] = {}
        self._parents: dict[int, int] = {}
        self._named: list[int] = []
        self._lengths: list[int] = []
        self._shortest: list[int] = [self.depth]
        self._ahead: list[int] = []
        self._onward: list[int | None] = [0]
        self._sets: list[frozenset[int]] = [frozenset()]
        self._states: dict[frozenset[int], int] = {frozenset(): EMPTY}
        self._reached: dict[tuple[int, int], int] = {}
        self._counts: dict[tuple[int, int, int], int] = {}


MEMORY = 2_000_000
"""Counts that are remembered before a counter starts anew."""

CERTAIN = 1 << 60
"""What all random walks together count; shares of it are whole numbers, whose sums depend on no order."""

END = -1
EMPTY = 0
FOUND = -1

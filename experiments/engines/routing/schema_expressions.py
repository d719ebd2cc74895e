"""Lists the path expressions of a schema, which are the advertisements of the routing paper.

    list ──► title          /list/title
     │ ▲                    /list/item
     ▼ │                    /list(/item/list)+/title ...
    item

Elements with the same children are one state, because the same paths continue from them.  States that can
reach one another form a strongly connected component.  An expression has one part for each component that it
passes through, from the state of entry to the state of exit; this part is found by state elimination, the
cheapest state first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from experiments.engines.routing.path_expression import (
    Label,
    PathExpression,
    Repeat,
    Series,
    either,
    series,
    size,
)
from twigcast.pattern import NameTest
from twigcast.schema import ElementGraph, label_children

Ways: TypeAlias = dict[tuple[int, int], PathExpression]
"""For two states, the expression of all ways from the first to the second."""


def path_expressions(graph: ElementGraph) -> Iterator[PathExpression]:
    """Yield expressions that together describe exactly the root-to-leaf label paths of a schema.

    There is one expression for each way from the root to a leaf through the graph of components, so their
    number is finite even for recursive schemas: 64 for PSD (reconstructed), 3,374 for NITF.  A single
    expression can be long: the recursive core of NITF alone takes up to 1,300 labels.  The schema automaton,
    with which subscriptions are compared, is made from the graph and not from these expressions.
    """
    return _Unfolding(graph).expressions()


class _Unfolding:
    """A schema as a graph of states with its strongly connected components."""

    def __init__(self, graph: ElementGraph) -> None:
        onward = label_children(graph)
        numbers: dict[tuple[frozenset[str], bool], int] = {}
        states = {
            name: numbers.setdefault((frozenset(children), graph.heights[name] == 1), len(numbers))
            for name, children in onward.items()
        }
        self.graph = graph
        self.root = states.get(graph.root)
        self.ends = [ends for _, ends in numbers]
        self.onward: list[dict[int, list[str]]] = []
        for children, _ in numbers:
            into: dict[int, list[str]] = {}
            for child in sorted(children):
                into.setdefault(states[child], []).append(child)
            self.onward.append(into)
        self.components = _components(self.onward)
        self._passages: Ways = {}

    def expressions(self) -> Iterator[PathExpression]:
        if self.root is not None:
            yield from self._from(self._label(self.graph.root), self.root)

    def _from(self, head: PathExpression, entry: int) -> Iterator[PathExpression]:
        """Yield the expressions that begin with ``head``, which ends at the state ``entry``."""
        for exit in sorted(self.components[entry]):
            passed = series(head, self._passage(entry, exit))
            if self.ends[exit]:
                yield passed
            for state, names in self.onward[exit].items():
                if state not in self.components[entry]:
                    for name in names:
                        yield from self._from(series(passed, self._label(name)), state)

    def _passage(self, entry: int, exit: int) -> PathExpression:
        """Return the expression of all ways between two states of a component that stay inside it."""
        found = self._passages.get((entry, exit))
        if found is None:
            inside = self.components[entry]
            ways: Ways = {
                (one, other): either(*[self._label(name) for name in names])
                for one in inside
                for other, names in self.onward[one].items()
                if other in inside
            }
            sizes = {pair: size(way) for pair, way in ways.items()}
            left = set(inside) - {entry, exit}
            while left:
                cheapest = min(left, key=lambda state: (_cost(sizes, state), state))
                _eliminate(ways, sizes, cheapest)
                left.remove(cheapest)
            found = self._passages[entry, exit] = _between(ways, entry, exit)
        return found

    def _label(self, name: str) -> Label:
        return Label(NameTest(*self.graph.expanded(name)))


NOTHING = Series(())


def _components(onward: list[dict[int, list[str]]]) -> list[frozenset[int]]:
    """Return the strongly connected component of each state."""
    reached = [set(into) for into in onward]
    for middle in range(len(onward)):
        for reach in reached:
            if middle in reach:
                reach |= reached[middle]
    return [
        frozenset({state} | {other for other in reached[state] if state in reached[other]})
        for state in range(len(onward))
    ]


def _cost(sizes: dict[tuple[int, int], int], state: int) -> int:
    """Return by how many labels the expressions grow when a state is eliminated."""
    into = [found for (one, other), found in sizes.items() if other == state != one]
    out = [found for (one, other), found in sizes.items() if one == state != other]
    loop = sizes.get((state, state), 0)
    return sum(into) * (len(out) - 1) + sum(out) * (len(into) - 1) + loop * (len(into) * len(out) - 1)


def _eliminate(ways: Ways, sizes: dict[tuple[int, int], int], state: int) -> None:
    """Eliminate a state: the ways through it become direct ways between its neighbours."""
    loop = _any_times(ways.get((state, state)))
    into = [one for one, other in ways if other == state != one]
    out = [other for one, other in ways if one == state != other]
    for one in into:
        for other in out:
            past = series(ways[one, state], loop, ways[state, other])
            known = ways.get((one, other))
            ways[one, other] = past if known is None else either(known, past)
            sizes[one, other] = size(ways[one, other])
    for pair in [pair for pair in ways if state in pair]:
        del ways[pair], sizes[pair]


def _between(ways: Ways, entry: int, exit: int) -> PathExpression:
    """Return the expression of all ways between the last two states: the shorter of two equivalent forms."""
    if entry == exit:
        return _any_times(ways.get((entry, entry)))
    there, back = ways[entry, exit], ways.get((exit, entry))
    at_entry, at_exit = ways.get((entry, entry)), ways.get((exit, exit))
    if back is None:
        return series(_any_times(at_entry), there, _any_times(at_exit))
    first = series(_any_times(at_entry, series(there, _any_times(at_exit), back)), there, _any_times(at_exit))
    last = series(_any_times(at_entry), there, _any_times(at_exit, series(back, _any_times(at_entry), there)))
    return min(first, last, key=size)


def _any_times(*bodies: PathExpression | None) -> PathExpression:
    """Return an expression for zero or more repetitions of any of these."""
    found = [body for body in bodies if body is not None]
    return either(NOTHING, Repeat(either(*found))) if found else NOTHING

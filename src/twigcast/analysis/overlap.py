"""Whether some document of an advertisement can match a subscription.

The steps of a path lead from sets of positions to sets of positions, starting at the document; a predicate
keeps those positions at which it can hold.  If a set is left at the end, there is overlap:

    /a/b(/c/d)+/e  and  //d[e]/c        {0} ─//d─► {4} ─[e]─► {4} ─/c─► {3}       overlap

It is exact for linear paths, and for twigs of elements joined by ``and`` and ``or``.  What speaks of values,
of numbers or of absence can hold wherever the elements that it needs can stand: the answer is never no where
a document of the advertisement matches.
Cost: a lookup for each step; a set of positions is one integer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from twigcast.analysis.automaton import DOCUMENT, SchemaAutomaton, schema_automaton
from twigcast.pattern import (
    And,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    NameTest,
    Not,
    Or,
    Path,
    Pattern,
    Position,
    Predicate,
    Step,
    StringTest,
    compare,
)
from twigcast.schema import ElementGraph


def overlaps(automaton: SchemaAutomaton, pattern: Pattern) -> bool:
    """Whether a document that the automaton describes can match ``pattern``."""
    return any(_selected(automaton, path) for path in pattern.alternatives)


def admissible_paths(graph: ElementGraph, pattern: Pattern, depth: int) -> Iterator[tuple[str, ...]]:
    """The label paths, no longer than ``depth``, from the root to elements that ``pattern`` can select.

    Of an attribute or text that it selects, the path of the element around it; the empty path where it
    selects the document.  Each comes once, in depth-first order.
    """
    automaton = schema_automaton(graph)
    routes = [_Route(automaton, path) for path in pattern.alternatives]
    waiting: list[tuple[tuple[str, ...], int, list[_Found]]] = [
        ((), DOCUMENT, [route.start() for route in routes])
    ]
    while waiting:
        path, position, found = waiting.pop()
        if any(route.is_complete(each) for route, each in zip(routes, found, strict=True)):
            yield path
        if len(path) == depth:
            continue
        children = [child.name for child in graph.children(path[-1])] if path else [graph.root]
        for child in reversed(children):
            test = NameTest(*graph.expanded(child))
            at = automaton.step(position, Axis.CHILD, test)
            onward = [route.read(each, at, test) for route, each in zip(routes, found, strict=True)]
            if any(route.leads(each, at) for route, each in zip(routes, onward, strict=True)):
                waiting.append(((*path, child), at, onward))


class _Found(NamedTuple):
    """How many steps of a path are found: ending at this very element, and anywhere above or at it."""

    here: frozenset[int]
    above: frozenset[int]


class _Route:
    """A path followed down the names of a document, element by element."""

    def __init__(self, automaton: SchemaAutomaton, path: Path) -> None:
        self.steps = path.steps
        self.filtered = _kept(automaton, DOCUMENT, path.filters)
        self.standing = [
            _kept(automaton, automaton.admitted(step.test), step.predicates) for step in path.steps
        ]
        self.ahead = [automaton.everywhere]
        """For each number of steps found, from the last: the positions below which the others can stand."""
        for step, standing in zip(reversed(path.steps), reversed(self.standing), strict=True):
            self.ahead.append(automaton.step_back(standing & self.ahead[-1], step.axis))
        self.ahead.reverse()

    def start(self) -> _Found:
        found = frozenset({0} if self.filtered else ())
        return _Found(found, found)

    def read(self, found: _Found, at: int, test: NameTest) -> _Found:
        """What is found at a child with this name, which stands at one of these positions."""
        here = set()
        for number in found.above:
            if number < len(self.steps) and at & self.standing[number]:
                step = self.steps[number]
                near = number in found.here or step.axis is Axis.DESCENDANT
                if near and step.test.meet(test) is not None:
                    here.add(number + 1)
        return _Found(frozenset(here), found.above | here)

    def leads(self, found: _Found, at: int) -> bool:
        """Whether the path is complete at an element at these positions, or can be below it."""
        return any(at & self.ahead[number] for number in found.here) or any(
            at & self.ahead[number] and self.steps[number].axis is Axis.DESCENDANT
            for number in found.above
            if number < len(self.steps)
        )

    def is_complete(self, found: _Found) -> bool:
        return len(self.steps) in found.here


def _selected(automaton: SchemaAutomaton, path: Path) -> int:
    """The positions of the elements (or of what has the attributes, the text) that a path can select."""
    positions = DOCUMENT
    for condition in path.filters:
        positions &= possible(automaton, condition)
    for step in path.steps:
        positions = automaton.step(positions, step.axis, step.test)
        if step.predicates:
            for predicate in step.predicates:
                positions &= possible(automaton, predicate)
        if not positions:
            return 0
    return positions


def possible(automaton: SchemaAutomaton, predicate: Predicate) -> int:
    """The positions of elements for which ``predicate`` can hold."""
    match predicate:
        case Exists(paths) | Comparison(paths) | StringTest(_, paths):
            return _leading_to_something(automaton, paths)
        case Length(paths, operator, value) | Count(paths, operator, value):
            if compare(0.0, operator, value):
                return automaton.everywhere
            return _leading_to_something(automaton, paths)
        case Position(test, _, _, among):
            return _kept(automaton, automaton.admitted(test), among)
        case And(operands):
            return _kept(automaton, automaton.everywhere, operands)
        case Or(operands):
            positions = 0
            for operand in operands:
                positions |= possible(automaton, operand)
            return positions
        case Not():
            return automaton.everywhere


def _leading_to_something(automaton: SchemaAutomaton, paths: Iterable[Path]) -> int:
    """The positions from which one of the paths can select something."""
    found = 0
    for path in paths:
        positions = automaton.everywhere
        for step in reversed(path.steps):
            positions = automaton.step_back(_standing(automaton, step, positions), step.axis)
        if path.tail is not None and not path.steps:
            positions &= ~DOCUMENT
        found |= _kept(automaton, positions, path.filters)
    return found


def _standing(automaton: SchemaAutomaton, step: Step, positions: int) -> int:
    return _kept(automaton, positions & automaton.admitted(step.test), step.predicates)


def _kept(automaton: SchemaAutomaton, positions: int, predicates: Iterable[Predicate]) -> int:
    for predicate in predicates:
        positions &= possible(automaton, predicate)
    return positions

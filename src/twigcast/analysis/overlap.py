"""Whether some document of a schema can match a pattern.

Each step of a path leads from a set of positions of the schema automaton to another set, starting at the
document; a predicate keeps the positions at which it can hold.  If the last set is not empty, they overlap:

    /a/b(/c/d)+/e  and  //d[e]/c        {0} ─//d─► {4} ─[e]─► {4} ─/c─► {3}       overlap

The answer is exact for linear paths, and for twigs of elements joined by ``and`` and ``or``.  A condition on
values, numbers or absence is assumed to hold wherever the elements that it needs can occur.  So there are no
false negatives: if a document of the schema matches the pattern, the answer is yes.
Cost: one lookup for each step; a set of positions is one integer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from twigcast.analysis.automaton import DOCUMENT, SchemaAutomaton, schema_automaton
from twigcast.pattern import (
    ANY,
    And,
    AttributeTail,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    NameTest,
    Not,
    Onward,
    Or,
    Path,
    Pattern,
    Position,
    Predicate,
    Step,
    StringTest,
    Test,
    TextTail,
    compare,
)
from twigcast.schema import ElementGraph


def overlaps(automaton: SchemaAutomaton, pattern: Pattern) -> bool:
    """Whether a document that the automaton describes can match ``pattern``."""
    return any(_selected(automaton, path) for path in pattern.alternatives)


def admissible_paths(graph: ElementGraph, pattern: Pattern, depth: int) -> Iterator[tuple[str, ...]]:
    """Yield the label paths of elements that ``pattern`` can select, up to a length of ``depth``.

    For an attribute or text it is the path of the element around it, for the document the empty path.
    Each path is yielded once, in depth-first order.  General steps are assumed to lead anywhere.
    """
    automaton = schema_automaton(graph)
    paths = [path for path in pattern.alternatives if not isinstance(path.tail, Onward)]
    if len(paths) < len(pattern.alternatives):
        paths += [Path(()), Path((Step(Axis.DESCENDANT, ANY),))]
    routes = [_Route(automaton, path) for path in paths]
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
    """The numbers of steps that are matched: those that end at this element, and those at it or above it."""

    here: frozenset[int]
    above: frozenset[int]


class _Route:
    """Matches a path against label paths, one label at a time."""

    def __init__(self, automaton: SchemaAutomaton, path: Path) -> None:
        self.steps = path.steps
        self.filtered = _kept(automaton, DOCUMENT, path.filters)
        self.standing = [
            _kept(automaton, automaton.admitted(step.test), step.predicates) for step in path.steps
        ]
        self.ahead = [automaton.everywhere]
        """For each number of matched steps: the positions from which the remaining steps can be matched."""
        for step, standing in zip(reversed(path.steps), reversed(self.standing), strict=True):
            self.ahead.append(automaton.step_back(standing & self.ahead[-1], step.axis))
        self.ahead.reverse()

    def start(self) -> _Found:
        found = frozenset({0} if self.filtered else ())
        return _Found(found, found)

    def read(self, found: _Found, at: int, test: NameTest) -> _Found:
        """Return the steps matched at a child with the name ``test`` and one of the positions ``at``."""
        here = set()
        for number in found.above:
            if number < len(self.steps) and at & self.standing[number]:
                step = self.steps[number]
                near = number in found.here or step.axis is Axis.DESCENDANT
                if near and step.test.meet(test) is not None:
                    here.add(number + 1)
        return _Found(frozenset(here), found.above | here)

    def leads(self, found: _Found, at: int) -> bool:
        """Whether the path is matched at an element at these positions, or can be matched below it."""
        return any(at & self.ahead[number] for number in found.here) or any(
            at & self.ahead[number] and self.steps[number].axis is Axis.DESCENDANT
            for number in found.above
            if number < len(self.steps)
        )

    def is_complete(self, found: _Found) -> bool:
        return len(self.steps) in found.here


def _selected(automaton: SchemaAutomaton, path: Path) -> int:
    """Return the positions of the elements that a path can select, or whose attributes or text it selects."""
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
    """Return the positions of the elements for which ``predicate`` can hold."""
    match predicate:
        case Exists(paths) | Comparison(paths) | StringTest(_, paths):
            return _with_selection(automaton, paths)
        case Length(paths, operator, value) | Count(paths, operator, value):
            if compare(0.0, operator, value):
                return automaton.everywhere
            return _with_selection(automaton, paths)
        case Position(test, _, _, among):
            return _kept(automaton, automaton.admitted(test), among)
        case And(operands):
            return _kept(automaton, automaton.everywhere, operands)
        case Or(operands):
            positions = 0
            for operand in operands:
                positions |= possible(automaton, operand)
            return positions
        case Not() | Test():
            return automaton.everywhere


def _with_selection(automaton: SchemaAutomaton, paths: Iterable[Path]) -> int:
    """Return the positions from which one of the paths can select a node."""
    found = 0
    for path in paths:
        positions = automaton.everywhere
        for step in reversed(path.steps):
            positions = automaton.step_back(_standing(automaton, step, positions), step.axis)
        if isinstance(path.tail, AttributeTail | TextTail) and not path.steps:
            positions &= ~DOCUMENT
        found |= _kept(automaton, positions, path.filters)
    return found


def _standing(automaton: SchemaAutomaton, step: Step, positions: int) -> int:
    return _kept(automaton, positions & automaton.admitted(step.test), step.predicates)


def _kept(automaton: SchemaAutomaton, positions: int, predicates: Iterable[Predicate]) -> int:
    for predicate in predicates:
        positions &= possible(automaton, predicate)
    return positions

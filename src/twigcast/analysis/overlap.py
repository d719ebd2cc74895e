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

from collections.abc import Iterable

from twigcast.analysis.automaton import DOCUMENT, SchemaAutomaton
from twigcast.pattern import (
    And,
    AttributeTail,
    Comparison,
    Count,
    Exists,
    Length,
    Not,
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


def overlaps(automaton: SchemaAutomaton, pattern: Pattern) -> bool:
    """Whether a document that the automaton describes can match ``pattern``."""
    return any(_selected(automaton, path) for path in pattern.alternatives)


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

"""What general expressions of a pattern look at: only downward from their node, or anywhere.

A general expression (``Test``, ``Onward``) that starts at its node and follows the axes child, descendant,
attribute and self looks at nothing beyond the subtree.  The word that leads out of it, such as ``following``,
is reported, because it costs the whole document.
"""

from __future__ import annotations

from twigcast.pattern import (
    And,
    AxisStep,
    Call,
    Comparison,
    Count,
    DocumentNode,
    Exists,
    Expression,
    Filtered,
    Length,
    Negative,
    Not,
    Number,
    Onward,
    Operation,
    Or,
    Path,
    Position,
    Predicate,
    Selection,
    SiblingCount,
    SiblingPosition,
    String,
    StringTest,
    Test,
    Union,
    counted_names,
)

_DOWNWARD = {"child", "descendant", "descendant-or-self", "self", "attribute"}


def looks_outside(path: Path) -> str | None:
    """The first word in a path that leads out of the subtrees of its nodes; ``None`` if all is downward."""
    for predicate in path.filters:
        if found := _in_predicate(predicate):
            return found
    for step in path.steps:
        for predicate in step.predicates:
            if found := _in_predicate(predicate):
                return found
    if isinstance(path.tail, Onward):
        return _in_steps(path.tail.steps) or _in_expression(path.tail.start)
    return None


def counts_siblings(predicate: Predicate) -> bool:
    """Whether a predicate of a step depends on the siblings of its element."""
    match predicate:
        case And(operands) | Or(operands):
            return any(map(counts_siblings, operands))
        case Not(operand):
            return counts_siblings(operand)
        case _:
            return counted_names(predicate) is not None


def reads_node(expression: Expression) -> bool:
    """Whether an expression looks at its node, and not only at how many siblings there are: ``last()``."""
    match expression:
        case Number() | String() | SiblingPosition() | SiblingCount():
            return False
        case Operation(_, left, right):
            return reads_node(left) or reads_node(right)
        case Negative(operand):
            return reads_node(operand)
        case _:
            return True


def _in_predicate(predicate: Predicate) -> str | None:
    match predicate:
        case Exists(paths) | Comparison(paths) | StringTest(_, paths) | Length(paths) | Count(paths):
            return next(filter(None, map(looks_outside, paths)), None)
        case And(operands) | Or(operands) | Position(_, _, _, operands):
            return next(filter(None, map(_in_predicate, operands)), None)
        case Not(operand):
            return _in_predicate(operand)
        case Test(expression):
            return _in_expression(expression)


def _in_expression(expression: Expression) -> str | None:
    match expression:
        case DocumentNode():
            return "an absolute path in a condition"
        case Call(_, arguments):
            return next(filter(None, map(_in_expression, arguments)), None)
        case Operation(_, left, right):
            return _in_expression(left) or _in_expression(right)
        case Negative(operand):
            return _in_expression(operand)
        case Union(operands):
            return next(filter(None, map(_in_expression, operands)), None)
        case Filtered(operand, predicates):
            return next(filter(None, map(_in_expression, (operand, *predicates))), None)
        case Selection(start, steps):
            return _in_expression(start) or _in_steps(steps)
        case SiblingPosition(_, among) | SiblingCount(_, among):
            return next(filter(None, map(_in_predicate, among)), None)
        case _:
            return None


def _in_steps(steps: tuple[AxisStep, ...]) -> str | None:
    for step in steps:
        if step.axis not in _DOWNWARD:
            return f"{step.axis}::"
        for predicate in step.predicates:
            if found := _in_expression(predicate):
                return found
    return None

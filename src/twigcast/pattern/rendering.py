"""The canonical text of a pattern, its persistent form: ``parse(render(pattern)) == pattern``.

Absolute paths begin with ``/`` or ``//``; names in a namespace are written ``Q{uri}local``; numbers have no
exponent; strings take whichever quote they do not contain.
"""

from __future__ import annotations

from twigcast.pattern.expression import Expression
from twigcast.pattern.expression_text import ExpressionText, literal
from twigcast.pattern.numbers import number_text
from twigcast.pattern.tree import (
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
    Tail,
    Test,
    counted_among,
    counted_names,
)


def render(pattern: Pattern) -> str:
    """The canonical text of ``pattern``."""
    return " | ".join([render_absolute(path) for path in pattern.alternatives])


def render_absolute(path: Path) -> str:
    """The canonical text of an absolute path, as it is written at the top of a pattern."""
    text = "".join([_step(step) for step in path.steps]) + render_tail(path.tail)
    if path.filters:
        return f"/self::node(){_brackets(path.filters)}{text}"
    return text or "/"


def render_path(path: Path) -> str:
    """The canonical text of a path from a context node, as it is written in a predicate."""
    text = "".join([_step(step) for step in path.steps]) + render_tail(path.tail)
    if path.filters:
        return f"self::node(){_brackets(path.filters)}{text}"
    if not text:
        return "."
    if not text.startswith("/"):
        return text
    return f".{text}" if text[1] == "/" else text[1:]


def render_predicate(predicate: Predicate) -> str:
    """The canonical text of ``predicate``, without the brackets around it."""
    match predicate:
        case Exists(paths):
            return _union(paths)
        case Comparison(paths, operator, value):
            return f"{_union(paths)}{operator}{_literal(value)}"
        case StringTest(function, paths, value):
            return f"{function}({_union(paths)}, {_literal(value)})"
        case Length(paths, operator, value):
            return f"string-length({_union(paths)}){operator}{_literal(value)}"
        case Count(paths, operator, value):
            return f"count({_union(paths)}){operator}{_literal(value)}"
        case Position(_, operator, value, among):
            compared = "" if operator == "=" else f"position(){operator}"
            return f"{_brackets(among)}[{compared}{number_text(value)}]"[1:-1]
        case And(operands):
            return " and ".join(
                [f"({render_predicate(o)})" if isinstance(o, Or) else render_predicate(o) for o in operands]
            )
        case Or(operands):
            return " or ".join([render_predicate(operand) for operand in operands])
        case Not(operand):
            return f"not({render_predicate(operand)})"
        case Test(expression):
            return f"{_brackets(counted_among(predicate))}[{_EXPRESSIONS.text(expression)}]"[1:-1]


def render_expression(expression: Expression) -> str:
    """The canonical text of a general expression."""
    return _EXPRESSIONS.text(expression)


def render_name(test: NameTest) -> str:
    """The canonical text of a name test: ``a``, ``*``, ``*:a``, ``Q{uri}a`` or ``Q{uri}*``."""
    namespace, local = test.namespace, test.local
    if namespace is None:
        return "*" if local is None else f"*:{local}"
    if namespace or local is None:
        return f"Q{{{namespace}}}{local or '*'}"
    return local


def render_tail(tail: Tail) -> str:
    """The canonical text of a tail, with the slash before it; empty if there is no tail."""
    if tail is None:
        return ""
    if isinstance(tail, Onward):
        return _EXPRESSIONS.steps(tail.steps, tail.start)
    return f"/@{render_name(tail.test)}" if isinstance(tail, AttributeTail) else "/text()"


def _step(step: Step) -> str:
    slashes = "/" if step.axis is Axis.CHILD else "//"
    if not step.predicates:
        return slashes + render_name(step.test)
    position = _position(step.predicates)
    test = step.test if position is None else counted_names(position)
    assert test is not None
    if position is None or test == step.test:
        return slashes + render_name(test) + _brackets(step.predicates)
    others = tuple(each for each in step.predicates if each is not position)
    narrowed = f"[self::{render_name(step.test)}]"
    return slashes + render_name(test) + _brackets((position,)) + narrowed + _brackets(others)


def _position(predicates: tuple[Predicate, ...]) -> Predicate | None:
    """The predicate that takes a position among the siblings that satisfy the most of the others."""
    found = [
        each for each in predicates if isinstance(each, Position | Test) and counted_names(each) is not None
    ]
    return max(found, key=lambda each: len(render_predicate(each)), default=None)


def _union(paths: tuple[Path, ...]) -> str:
    return render_path(paths[0]) if len(paths) == 1 else " | ".join([render_path(path) for path in paths])


def _brackets(predicates: tuple[Predicate, ...]) -> str:
    """The predicates in brackets; a position comes first, so that the others do not change what it counts."""
    if len(predicates) > 1:
        position = _position(predicates)
        if position is not None:
            among = counted_among(position) if isinstance(position, Test) else ()  # which ``conjuncts`` adds
            rest = [each for each in predicates if each is not position and each not in among]
            predicates = (position, *rest)
    return "".join([f"[{render_predicate(predicate)}]" for predicate in predicates])


def _literal(value: str | float) -> str:
    return number_text(value) if isinstance(value, float) else literal(value)


_EXPRESSIONS = ExpressionText(render_name)

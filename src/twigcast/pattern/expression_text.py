"""The canonical text of general expressions: abbreviated steps, names with their URIs, few parentheses."""

from __future__ import annotations

from collections.abc import Callable

from twigcast.pattern.expression import (
    ANY_BELOW,
    AxisStep,
    Call,
    ContextNode,
    Date,
    DocumentNode,
    Expression,
    Filtered,
    Negative,
    Number,
    Operation,
    Selection,
    SiblingCount,
    SiblingPosition,
    String,
    Union,
)
from twigcast.pattern.numbers import number_text
from twigcast.pattern.tree import NameTest

_LEVELS = {
    "or": 1,
    "and": 2,
    "=": 3,
    "!=": 3,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "+": 5,
    "-": 5,
    "*": 6,
    "div": 6,
    "mod": 6,
}
_UNARY, _UNION, _PATH = 7, 8, 9


class ExpressionText:
    """Renders expressions; ``render_name`` renders the name tests in them."""

    def __init__(self, render_name: Callable[[NameTest], str]) -> None:
        self._name = render_name

    def text(self, expression: Expression) -> str:
        """The canonical text of an expression."""
        return self._rendered(expression)[0]

    def steps(self, steps: tuple[AxisStep, ...], start: Expression | None = None) -> str:
        """The text of steps with a slash before each; after ``start``, if it is not the context node."""
        before = "" if start is None or isinstance(start, ContextNode) else self._start(start)
        pieces: list[str] = []
        last = len(steps) - 1
        for at, step in enumerate(steps):
            if step == ANY_BELOW and at < last and (at == 0 or steps[at - 1] != ANY_BELOW):
                pieces.append("/")
            else:
                pieces.append(f"/{self._step(step)}")
        return before + "".join(pieces)

    def _start(self, expression: Expression) -> str:
        if isinstance(expression, DocumentNode):
            return ""
        text, level = self._rendered(expression)
        return text if level == _PATH else f"({text})"

    def _rendered(self, expression: Expression) -> tuple[str, int]:
        """The text, and how tightly its operator binds."""
        match expression:
            case Number(value):
                return number_text(value), _UNARY if value < 0 else _PATH
            case String(text) | Date(text):
                return literal(text), _PATH
            case Call(function, arguments):
                return f"{function}({', '.join([self.text(each) for each in arguments])})", _PATH
            case Operation(operator, left, right):
                return self._operation(operator, left, right), _LEVELS[operator]
            case Negative(operand):
                return f"-{self._at_least(operand, _UNARY)}", _UNARY
            case Union(operands):
                return " | ".join([self._at_least(each, _PATH) for each in operands]), _UNION
            case ContextNode():
                return ".", _PATH
            case DocumentNode():
                return "/self::node()", _PATH
            case Filtered(operand, predicates):
                return f"({self.text(operand)}){self._brackets(predicates)}", _PATH
            case Selection(ContextNode(), steps):
                text = self.steps(steps)
                return f".{text}" if text.startswith("//") else text[1:], _PATH
            case Selection(start, steps):
                return self.steps(steps, start), _PATH
            case SiblingPosition():
                return "position()", _PATH
            case SiblingCount():
                return "last()", _PATH
        raise AssertionError(expression)

    def _operation(self, operator: str, left: Expression, right: Expression) -> str:
        level = _LEVELS[operator]
        spaced = operator if level in (3, 4) else f" {operator} "
        after = level if level <= 2 else level + 1
        return self._at_least(left, level) + spaced + self._at_least(right, after)

    def _at_least(self, expression: Expression, level: int) -> str:
        text, found = self._rendered(expression)
        return text if found >= level else f"({text})"

    def _step(self, step: AxisStep) -> str:
        test = step.test
        if test.kind == "name":
            assert test.name is not None
            text = self._name(test.name)
        else:
            text = f"{test.kind}({'' if test.target is None else literal(test.target)})"
        if step.axis == "parent" and text == "node()" and not step.predicates:
            return ".."
        axis = {"child": "", "attribute": "@"}.get(step.axis, f"{step.axis}::")
        return axis + text + self._brackets(step.predicates)

    def _brackets(self, predicates: tuple[Expression, ...]) -> str:
        return "".join([f"[{self.text(each)}]" for each in predicates])


def literal(value: str) -> str:
    """A string in quotes; raises ``ValueError`` if it contains both kinds of quotes."""
    if "'" not in value:
        return f"'{value}'"
    if '"' not in value:
        return f'"{value}"'
    raise ValueError(f"an XPath literal cannot contain both kinds of quotes: {value!r}")

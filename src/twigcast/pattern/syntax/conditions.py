"""Parses the conditions in the brackets of a step.

An operand of ``and``, ``or`` and ``not`` that is no plain condition is parsed as a general expression.  If
that can be written as a plain condition after all, its canonical text is parsed once more.
Invariant: a canonical text is never parsed a third time, so the cost grows with the square of the nesting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isinf, isnan
from typing import TypeAlias, cast

from twigcast.errors import PatternError
from twigcast.pattern.canonical import conjuncts
from twigcast.pattern.dates import is_date_literal
from twigcast.pattern.expression import (
    CONTEXT,
    Call,
    ContextNode,
    Expression,
    NodeTest,
    Operation,
    String,
)
from twigcast.pattern.functions import MIRRORED, to_boolean
from twigcast.pattern.numbers import compare, number
from twigcast.pattern.rendering import render_expression
from twigcast.pattern.syntax.cleaning import Route, first, some
from twigcast.pattern.syntax.cursor import COMPARISON
from twigcast.pattern.syntax.expressions import Positional, can_be_general
from twigcast.pattern.syntax.node_conditions import (
    Condition,
    Refusal,
    both,
    either,
    named,
    opposite,
)
from twigcast.pattern.syntax.paths import AFTER_STEP, Nodes
from twigcast.pattern.syntax.positions import PositionReader, is_plain
from twigcast.pattern.syntax.simplifying import constant, kind, narrowed, relative
from twigcast.pattern.syntax.tokens import END, tokenise
from twigcast.pattern.tree import (
    ANY,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    NameTest,
    Path,
    Position,
    Predicate,
    StringTest,
    Test,
)


@dataclass(frozen=True, slots=True)
class _Measured:
    """``count(nodes)`` or ``string-length(nodes)``, before it is compared with a number."""

    function: str
    nodes: Nodes


@dataclass(frozen=True, slots=True)
class _General:
    """A general expression."""

    expression: Expression


_Operand: TypeAlias = Nodes | _Measured | _General | Condition | str | float

_CONDITION = "a path, a comparison, or one of contains, starts-with, string-length, count, boolean and not"
_FUNCTIONS = frozenset(
    {"not", "boolean", "exists", "empty", "contains", "starts-with", "string-length", "count"}
)
_CONSTANTS = {"true": True, "false": False}
_AFTER_OPERAND = frozenset({"]", ")", ",", "and", "or", END})
_DIGITS = frozenset("0123456789")
_NOT_NAMES = frozenset("0123456789'\"$-./(")
_SOME_OR_NONE = {
    (">", 0.0): True,
    (">=", 1.0): True,
    ("!=", 0.0): True,
    ("=", 0.0): False,
    ("<", 1.0): False,
    ("<=", 0.0): False,
}


class ConditionReader(PositionReader):
    """Parses conditions by recursive descent: or, and, comparisons, unions, primaries."""

    __slots__ = ()

    def predicates(self, counted: NameTest | None) -> tuple[list[Condition], bool]:
        """Parse the brackets at the cursor; returns the conditions, and whether all are plain predicates."""
        tokens = self.tokens
        mark = self.at + 1
        conditions: list[Condition] = []
        plain = True
        outside, self.at_document = self.at_document, False
        while tokens[self.at] == "[":
            self.open()
            start = self.at
            position = self.plain_position() if counted and plain else None
            if counted and position:
                before = conjuncts(cast(list[Predicate], conditions)) if conditions else ()
                conditions = [Position(counted, *position, before)]
                continue
            opened = self.snapshot()
            operand: _Operand | None
            try:
                operand = self._disjunction()
            except Positional:
                operand = None
            if operand is None or type(operand) is float or _is_number(operand):
                self.restore(opened)
                counted, conditions = self.positional(counted, conditions)
                plain = all(map(is_plain, conditions))
            if tokens[self.at] != "]":
                self.expected_operator("']'")
            self.depth -= 1
            self.at += 1
            if operand is None or type(operand) is float or _is_number(operand):
                continue
            condition = self._truth(operand, start)
            conditions.append(condition)
            if not is_plain(condition):
                plain = False
            elif type(condition) is Test and (name := _named(condition)) is not None:
                conditions.append(name)
                plain = False
        self.at_document = outside
        self.mark = mark
        return conditions, plain

    def _disjunction(self) -> _Operand:
        start = self.at
        operand = self._conjunction()
        if self.tokens[self.at] != "or":
            return operand
        conditions = [self._truth(operand, start)]
        while self.tokens[self.at] == "or":
            self.at += 1
            start = self.at
            conditions.append(self._truth(self._conjunction(), start))
        self.mark = start
        return either(conditions, self.limits.alternatives)

    def _conjunction(self) -> _Operand:
        start = self.at
        operand = self._comparison()
        if self.tokens[self.at] != "and":
            return operand
        conditions = [self._truth(operand, start)]
        while self.tokens[self.at] == "and":
            self.at += 1
            start = self.at
            conditions.append(self._truth(self._comparison(), start))
        self.mark = start
        return both(conditions, self.limits.alternatives)

    def _comparison(self) -> _Operand:
        """An operand of ``and`` and ``or``: plain if possible, otherwise a general expression."""
        before = self.snapshot()
        error: Exception | None = None
        try:
            operand = self._plain_comparison()
            if self.tokens[self.at] in _AFTER_OPERAND and not isinstance(operand, _Measured):
                return operand
        except (PatternError, Refusal) as caught:
            if not can_be_general(caught):
                raise
            error = caught
        self.restore(before)
        start = self.at
        try:
            expression = self.general(self.equality)
        except PatternError as other:
            raise self.nearer(error, other) from None
        operand = _General(expression) if self.settled else self._reparsed(expression, start)
        if self.at_document and isinstance(operand, _General):
            return _General(relative(operand.expression))
        return operand

    def _reparsed(self, expression: Expression, start: int) -> _Operand:
        """A general expression as a plain operand, if its canonical text is one."""
        text = render_expression(expression)
        if tokenise(text)[:-1] == self.tokens[start : self.at]:
            return _General(expression)
        try:
            reader = type(self)(text, None, self.limits)
            reader.settled = True
            reader.at_document = self.at_document
            operand = reader._disjunction()
        except (PatternError, Refusal, Positional):
            return _General(expression)
        self.ups += reader.ups
        self.reason = self.reason or reader.reason
        return operand if reader.tokens[reader.at] == END else _General(expression)

    def _plain_comparison(self) -> _Operand:
        start = self.at
        left = self._union()
        operator = self.tokens[self.at]
        if operator not in MIRRORED:
            return left
        self.at += 1
        middle = self.at
        right = self._union()
        if self.tokens[self.at] in MIRRORED:
            self.refuse("unsupported", "comparisons cannot be chained", self.at, "'and', 'or' or ']'")
        if type(left) is str or type(left) is float:
            if type(right) is str or type(right) is float:
                self.refuse("unsupported", "this comparison does not look at the document", start, "a path")
            left, right, operator = right, left, MIRRORED[operator]
            start, middle = middle, start
        if type(right) is not str and type(right) is not float:
            self.refuse("unsupported", f"expected {COMPARISON}", middle, COMPARISON)
        if isinstance(left, _Measured):
            if type(right) is not float:
                self.refuse(
                    "unsupported", f"expected a number to compare {left.function}() with", middle, "a number"
                )
            return self._measured(left, operator, right)
        if type(left) is not Path and type(left) is not list:
            self.refuse("unsupported", "the outcome of a condition cannot be compared", start, "a path")
        self.mark = start
        return self._compared(left, operator, right, middle)

    def _compared(self, nodes: Nodes, operator: str, value: str | float, at: int) -> Condition:
        if operator not in ("=", "!=") and isinstance(value, str):
            if is_date_literal(value):
                self.refuse("unsupported", "dates are ordered by general expressions", at)
            if isnan(number(value)):
                self.reason = f"{value!r} is not a number: XPath 1.0 orders numbers only"
                return False
            value = number(value)
        if isinstance(value, float) and isinf(value):
            self.refuse("unsupported", "this number is too large", at, "a number below 1.8e308")
        if isinstance(nodes, Path):
            return Comparison((nodes,), operator, value)
        return some(nodes, lambda paths: Comparison(paths, operator, value), self.limits.alternatives)

    def _measured(self, measured: _Measured, operator: str, value: float) -> Condition:
        """``count`` or ``string-length`` compared with a number; some comparisons hold always or never."""
        decided = _decided(operator, value)
        if decided is not None:
            return decided
        nodes = measured.nodes
        if measured.function == "count" and (operator, value) in _SOME_OR_NONE:
            exists = self._truth(nodes, self.at)
            return exists if _SOME_OR_NONE[operator, value] else opposite(exists, self.limits.alternatives)
        make: Callable[[tuple[Path, ...]], Predicate]
        if measured.function == "count":
            make = lambda paths: Count(paths, operator, value)  # noqa: E731
        else:
            make = lambda paths: Length(paths, operator, value)  # noqa: E731
        if isinstance(nodes, Path):
            return make((nodes,))
        return first(nodes, make, compare(0.0, operator, value), self.limits.alternatives)

    def _union(self) -> _Operand:
        start = self.at
        operand = self._primary()
        if self.tokens[self.at] != "|":
            return operand
        routes: list[Route] = []
        while True:
            if isinstance(operand, Path):
                routes.append(Route(operand.steps, operand.tail))
            elif isinstance(operand, list):
                routes += operand
            else:
                self.refuse("unsupported", "only paths can stand in a union", start, "a path")
            if self.tokens[self.at] != "|":
                break
            self.at += 1
            start = self.at
            operand = self._primary()
        if len(routes) > self.limits.alternatives:
            self.too_many_alternatives(start)
        return routes

    def _primary(self) -> _Operand:
        """A literal, a function call, parentheses, or a path from the context node."""
        at = self.at
        token = self.tokens[at]
        sign = token[:1]
        axis = Axis.DESCENDANT if self.at_document else Axis.CHILD
        if sign not in _NOT_NAMES:
            if self.at_function():
                return self._function()
            return self.plain_path(axis, absolute=False)
        if sign == "'" or sign == '"':
            if len(token) == 1:
                self.refuse("syntax", "expected a closing quote", at, "a closing quote")
            self.at += 1
            return token[1:-1]
        if sign == "-" or sign in _DIGITS or (sign == "." and token[1:2] in _DIGITS):
            return self._number()
        if sign == "(":
            self.open()
            start = self.at
            operand = self._disjunction()
            self.close()
            if isinstance(operand, str | float) and not isinstance(operand, bool):
                return operand
            if self.tokens[self.at] in AFTER_STEP:
                self.refuse(
                    "unsupported",
                    "a step or predicate after parentheses is outside the language",
                    self.at,
                    "an operator",
                )
            if isinstance(operand, Path | list | _Measured | _General):
                return operand
            return self._truth(operand, start)
        if sign == "/":
            if not self.at_document:
                self.refuse("unsupported", "an absolute path is no plain condition", at, "a relative path")
            self.at += 1
            if token == "//":
                return self.plain_path(Axis.DESCENDANT, absolute=False)
            return self.plain_path(Axis.CHILD, absolute=False) if self.at_step() else Path(())
        if sign == "$":
            self.refuse("unsupported", "a subscription has no variables", at, _CONDITION)
        return self.plain_path(axis, absolute=False)

    def _number(self) -> float:
        sign = 1.0
        while self.tokens[self.at] == "-":
            sign = -sign
            self.at += 1
        token = self.tokens[self.at]
        if not token or not (token[0] in _DIGITS or (token[0] == "." and token[1:2] in _DIGITS)):
            if sign < 0 or self.tokens[self.at - 1] == "-":
                self.refuse("unsupported", "arithmetic is outside the language", self.at - 1, "a number")
            self.expected("a number")
        value = float(token)
        if isinf(value):
            self.refuse("unsupported", "this number is too large", self.at, "a number below 1.8e308")
        self.at += 1
        return sign * value or 0.0

    def _function(self) -> _Operand:
        at = self.at
        name = self.tokens[at]
        limit = self.limits.alternatives
        if name in _CONSTANTS and self.tokens[at + 2] == ")":
            self.at += 3
            return _CONSTANTS[name]
        if name not in _FUNCTIONS:
            self.refuse("unsupported", f"the function {name}() is outside the language", at, _CONDITION)
        self.at += 1
        self.open()
        start = self.at
        if name == "string-length" and self.tokens[start] == ")":
            self.close()
            return _Measured(name, Path(()))
        operand = self._disjunction()
        result: _Operand
        if name == "not" or name == "boolean":
            condition = self._truth(operand, start)
            self.mark = at
            result = opposite(condition, limit) if name == "not" else condition
        elif name in ("exists", "empty") and isinstance(operand, Path | list):
            condition = self._truth(operand, start)
            result = opposite(condition, limit) if name == "empty" else condition
        elif not isinstance(operand, Path | list):
            self.refuse("unsupported", f"expected a path as the argument of {name}()", start, "a path")
        elif name == "string-length" or name == "count":
            result = _Measured(name, operand)
        else:
            if self.tokens[self.at] != ",":
                self.expected_operator("','")
            self.at += 1
            middle = self.at
            value = self._union()
            if not isinstance(value, str):
                self.refuse(
                    "unsupported", f"expected a string as the argument of {name}()", middle, "a string"
                )
            self.mark = at
            result = self._string_test(name, operand, value)
        self.close()
        if self.tokens[self.at] in AFTER_STEP:
            self.refuse("unsupported", "a function cannot be followed by a step", self.at, "an operator")
        return result

    def _string_test(self, name: str, nodes: Nodes, value: str) -> Condition:
        if not value:
            return True
        if isinstance(nodes, Path):
            return StringTest(name, (nodes,), value)
        limit = self.limits.alternatives
        return first(nodes, lambda paths: StringTest(name, paths, value), empty=False, limit=limit)

    def _truth(self, operand: _Operand, at: int) -> Condition:
        """The condition that an operand means by XPath's ``boolean()``."""
        if type(operand) is Path:
            return True if not operand.steps and operand.tail is None else Exists((operand,))
        if type(operand) is list:
            return some(operand, Exists, self.limits.alternatives)
        if isinstance(operand, _General):
            expression = operand.expression
            known = constant(expression)
            if known is not None:
                return to_boolean(known)
            # A number in brackets would be a position.
            return Test(Call("boolean", (expression,)) if kind(expression) == "number" else expression)
        if type(operand) is float or type(operand) is str:
            return to_boolean(operand)
        assert not isinstance(operand, _Measured)
        return operand  # type: ignore[return-value]


def _is_number(operand: _Operand) -> bool:
    return type(operand) is _General and kind(operand.expression) == "number"


def _named(test: Test) -> Condition | None:
    """The condition on the local name that follows from ``name() = 'p:x'``."""
    match test.expression:
        case Operation("=", Call("name", (ContextNode(),)), String(text)) | Operation(
            "=", String(text), Call("name", (ContextNode(),))
        ):
            local = text.rpartition(":")[2]
            narrow = narrowed(NodeTest("name", ANY), Operation("=", _LOCAL_NAME, String(local)))
            return None if narrow is None or narrow.name is None else named(narrow.name)
        case _:
            return None


_LOCAL_NAME = Call("local-name", (CONTEXT,))


def _decided(operator: str, value: float) -> bool | None:
    """True if the comparison holds for every whole number from 0 on, False if for none, else None."""
    if value < 0 or (not value.is_integer() and operator in ("=", "!=")):
        return operator in ("!=", ">", ">=")
    if value == 0 and operator in ("<", ">="):
        return operator == ">="
    return None

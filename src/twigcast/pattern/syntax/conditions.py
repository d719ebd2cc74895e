"""Parses the conditions in the brackets of a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isinf, isnan
from typing import TypeAlias, cast

from twigcast.pattern.canonical import conjuncts
from twigcast.pattern.numbers import compare, number
from twigcast.pattern.syntax.cleaning import Route, first, some
from twigcast.pattern.syntax.cursor import COMPARISON
from twigcast.pattern.syntax.node_conditions import Condition, Mixed, both, either, opposite
from twigcast.pattern.syntax.paths import AFTER_STEP, Nodes, PathReader
from twigcast.pattern.tree import (
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
)


@dataclass(frozen=True, slots=True)
class _Measured:
    """``count(nodes)`` or ``string-length(nodes)``, before it is compared with a number."""

    function: str
    nodes: Nodes


_Operand: TypeAlias = Nodes | _Measured | Condition | str | float

MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CONDITION = "a path, a comparison, or one of contains, starts-with, string-length, count, boolean and not"
_POSITION = "a position can only stand alone, as [2] or [position() < 2], after a step to children"
_FUNCTIONS = frozenset({"not", "boolean", "contains", "starts-with", "string-length", "count"})
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


class ConditionReader(PathReader):
    """Parses conditions by recursive descent: or, and, comparisons, unions, primaries."""

    __slots__ = ()

    def predicates(self, counted: NameTest | None) -> tuple[list[Condition], bool]:
        """Parse the brackets at the cursor; returns the conditions, and whether all are plain predicates."""
        tokens = self.tokens
        mark = self.at + 1
        conditions: list[Condition] = []
        plain = True
        while tokens[self.at] == "[":
            self.open()
            start = self.at
            position = self._position() if counted else None
            if counted and position:
                if not plain:
                    message = "conditions before a position can only look down"
                    self.refuse("unsupported", message, start, "a path, a comparison or a function")
                before = conjuncts(cast(list[Predicate], conditions)) if conditions else ()
                conditions = [Position(counted, *position, before)]
                continue
            operand = self._disjunction()
            if tokens[self.at] != "]":
                self.expected_operator("']'")
            self.depth -= 1
            self.at += 1
            condition = self._truth(operand, start)
            if condition is True or condition is False or type(condition) is Mixed:
                plain = False
            conditions.append(condition)
        self.mark = mark
        return conditions, plain

    def _position(self) -> tuple[str, float] | None:
        """Parse a positional predicate, such as ``2`` or ``position() < 2``; none if there is another one."""
        at = self.at
        tokens = self.tokens
        operator = "="
        if tokens[at : at + 3] == ["position", "(", ")"] and tokens[at + 3] in MIRRORED:
            operator = tokens[at + 3]
            at += 4
        if not tokens[at][:1].isdigit() or tokens[at + 1] != "]":
            return None
        value = float(tokens[at])
        if operator == "=" and (value < 1 or not value.is_integer()):
            self.refuse("never-matches", "positions are whole numbers from 1", at, "a whole number from 1")
        self.depth -= 1
        self.at = at + 2
        return operator, value

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
        if operator not in ("=", "!="):
            value = number(value) if isinstance(value, str) else value
            if isnan(value):
                return False
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
        kind = token[:1]
        if kind not in _NOT_NAMES:
            if self.at_function():
                return self._function()
            return self.plain_path(Axis.CHILD, absolute=False)
        if kind == "'" or kind == '"':
            if len(token) == 1:
                self.refuse("syntax", "expected a closing quote", at, "a closing quote")
            self.at += 1
            return token[1:-1]
        if kind == "-" or kind in _DIGITS or (kind == "." and token[1:2] in _DIGITS):
            return self._number()
        if kind == "(":
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
            return operand if isinstance(operand, Path | list | _Measured) else self._truth(operand, start)
        if kind == "/":
            self.refuse(
                "unsupported", "absolute paths in predicates are outside the language", at, "a relative path"
            )
        if kind == "$":
            self.refuse("unsupported", "variables are outside the language", at, _CONDITION)
        return self.plain_path(Axis.CHILD, absolute=False)

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
        if name not in _FUNCTIONS:
            if name in ("position", "last"):
                self.refuse("unsupported", _POSITION, at, _CONDITION)
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
        """Convert an operand to a condition; a string, a number or an uncompared function is refused."""
        if type(operand) is Path:
            return True if not operand.steps and operand.tail is None else Exists((operand,))
        if type(operand) is list:
            return some(operand, Exists, self.limits.alternatives)
        if isinstance(operand, _Measured):
            self.refuse(
                "unsupported", f"expected {operand.function}() to be compared with a number", at, COMPARISON
            )
        if type(operand) is float:
            self.refuse("unsupported", _POSITION, at, _CONDITION)
        if type(operand) is str:
            self.refuse("unsupported", "a string is not a condition", at, _CONDITION)
        return operand  # type: ignore[return-value]


def _decided(operator: str, value: float) -> bool | None:
    """True if the comparison holds for every whole number from 0 on, False if for none, else None."""
    if value < 0 or (not value.is_integer() and operator in ("=", "!=")):
        return operator in ("!=", ">", ">=")
    if value == 0 and operator in ("<", ">="):
        return operator == ">="
    return None

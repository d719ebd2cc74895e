"""Whether one condition on a value implies another: ``@price < 5`` implies ``@price < 10``.

Both conditions are about the same string-value; the caller has to make sure that they are.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeAlias

from twigcast.pattern import Comparison, Count, Length, Position, StringTest, compare, number

ValueTest: TypeAlias = Comparison | StringTest | Length


def implies(fact: ValueTest, goal: ValueTest) -> bool:
    """Whether every value that satisfies ``fact`` satisfies ``goal``: sound, but not complete."""
    match fact:
        case Comparison(_, "=", str(text)):
            return value_has(text, goal)
        case Comparison(_, operator, float(value)):
            return _number_implies(operator, value, goal)
        case Comparison(_, operator, value):
            return isinstance(goal, Comparison) and (goal.operator, goal.value) == (operator, value)
        case StringTest():
            return _part_implies(fact, goal)
        case Length(_, operator, value):
            return _length_implies(operator, value, goal)


def value_has(text: str, goal: ValueTest) -> bool:
    """Whether the value ``text`` satisfies a condition."""
    match goal:
        case Comparison(_, "=" | "!=" as operator, str(value)):
            return (text == value) is (operator == "=")
        case Comparison(_, operator, value):
            return compare(number(text), operator, number(value) if isinstance(value, str) else value)
        case StringTest("contains", _, value):
            return value in text
        case StringTest(_, _, value):
            return text.startswith(value)
        case Length(_, operator, length):
            return compare(len(text), operator, length)


def denied(goal: Comparison) -> Comparison:
    """Return a comparison that no value satisfies together with ``goal``."""
    return replace(goal, operator=_OPPOSITE[goal.operator])


def whole_number_implies(fact: Count | Length | Position, goal: Count | Length | Position) -> bool:
    """Whether every whole number that satisfies ``fact`` satisfies ``goal``."""
    return _range_implies(_whole(fact.operator, fact.value), _whole(goal.operator, goal.value))


_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_NUMERIC = frozenset("0123456789.- \t\r\n")


def _number_implies(operator: str, value: float, goal: ValueTest) -> bool:
    if not isinstance(goal, Comparison):
        return False
    if isinstance(goal.value, float):
        return _range_implies((operator, value), (goal.operator, goal.value))
    if goal.operator != "!=":
        return False
    excluded = number(goal.value)
    return not compare(excluded, operator, value) and not (operator == "!=" and math.isnan(excluded))


def _part_implies(fact: StringTest, goal: ValueTest) -> bool:
    part = fact.value
    if isinstance(goal, StringTest):
        if goal.function == "contains":
            return goal.value in part
        return fact.function == "starts-with" and part.startswith(goal.value)
    if isinstance(goal, Length):
        return _range_implies((">=", float(len(part))), (goal.operator, goal.value))
    if isinstance(goal.value, str) and goal.operator == "=":
        return False
    if isinstance(goal.value, str) and goal.operator == "!=":
        return not value_has(goal.value, fact)
    return goal.operator == "!=" and not _NUMERIC.issuperset(part)


def _length_implies(operator: str, value: float, goal: ValueTest) -> bool:
    if isinstance(goal, Length):
        return _range_implies(_whole(operator, value), _whole(goal.operator, goal.value))
    if isinstance(goal, Comparison) and isinstance(goal.value, str) and goal.operator == "!=":
        return not compare(len(goal.value), operator, value)
    return False


def _whole(operator: str, value: float) -> tuple[str, float]:
    """Return an equivalent comparison for whole numbers, with ``<=`` or ``>=`` and a whole bound."""
    if operator in (">", ">="):
        return ">=", math.floor(value) + 1.0 if operator == ">" else float(math.ceil(value))
    if operator in ("<", "<="):
        return "<=", math.ceil(value) - 1.0 if operator == "<" else float(math.floor(value))
    return operator, value


def _range_implies(fact: tuple[str, float], goal: tuple[str, float]) -> bool:
    """Whether every number in the range ``fact`` is in the range ``goal``, each an operator and a bound."""
    operator, value = fact
    wanted, bound = goal
    if operator == "=":
        return compare(value, wanted, bound)
    if operator == "!=" or wanted == "=":
        return operator == wanted and value == bound
    if wanted == "!=":
        return not compare(bound, operator, value)
    if operator[0] != wanted[0]:
        return False
    if value == bound:
        return wanted == operator or wanted == operator[0] + "="
    return value < bound if operator[0] == "<" else value > bound

"""Numbers as XPath 1.0 reads and writes them: decimal digits, no exponent, no plus sign."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from decimal import Decimal

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBER = re.compile(r"[ \t\r\n]*(-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))[ \t\r\n]*")


def number(text: str) -> float:
    """XPath's ``number()``: the number that ``text`` spells, or not-a-number."""
    found = _NUMBER.fullmatch(text)
    return float(found[1]) if found else math.nan


def compare(left: float, comparison: str, right: float) -> bool:
    """Whether the comparison of two numbers holds; with not-a-number, only ``!=`` holds."""
    return _OPERATORS[comparison](left, right)


def number_text(value: float) -> str:
    """The shortest decimal text without exponent that parses to ``value``, which must be finite."""
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return format(Decimal(repr(value)), "f").removesuffix(".0")

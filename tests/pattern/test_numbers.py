"""Numbers as XPath 1.0 reads and writes them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.pattern.numbers import compare, number, number_text


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", 5), (" 5\n", 5), ("-5", -5), ("5.", 5), (".5", 0.5), ("-.5", -0.5), ("007", 7), ("12.50", 12.5)],
)
def test_digits_are_numbers(text: str, value: float) -> None:
    """Decimal digits with an optional point and minus sign, and white space around them."""
    assert number(text) == value


@pytest.mark.parametrize(
    "text", ["", " ", "x", "5x", "+5", "1e5", "- 5", "--5", ".", "1,5", "٥", "\xa05", "Infinity", "0x1"]
)
def test_anything_else_is_not_a_number(text: str) -> None:
    """No exponent, no plus sign, no other digits, no other white space."""
    assert math.isnan(number(text))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_survive_their_text(value: float) -> None:
    """Text without an exponent reads as the same number."""
    assert number(number_text(value)) == value
    assert "e" not in number_text(value)


def test_not_a_number_is_only_unequal() -> None:
    """Of all comparisons with not-a-number, ``!=`` alone holds."""
    assert [op for op in ("=", "!=", "<", "<=", ">", ">=") if compare(math.nan, op, 5.0)] == ["!="]

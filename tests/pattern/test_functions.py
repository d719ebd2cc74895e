"""The core library on strings, numbers and booleans, as the recommendation says."""

from __future__ import annotations

import math

import pytest

from twigcast.pattern.functions import Atom, apply, calculate, compare_atoms, rounded, to_boolean, to_string

NAN, INFINITY = math.nan, math.inf


@pytest.mark.parametrize(
    ("function", "arguments", "result"),
    [
        ("substring", ["12345", 2.0, 3.0], "234"),
        ("substring", ["12345", 1.5, 2.6], "234"),
        ("substring", ["12345", 0.0, 3.0], "12"),
        ("substring", ["12345", NAN, 3.0], ""),
        ("substring", ["12345", 1.0, NAN], ""),
        ("substring", ["12345", -42.0, INFINITY], "12345"),
        ("substring", ["12345", -INFINITY, INFINITY], ""),
        ("substring", ["12345", 2.0], "2345"),
        ("substring-before", ["1999/04/01", "/"], "1999"),
        ("substring-after", ["1999/04/01", "/"], "04/01"),
        ("substring-after", ["x", ""], "x"),
        ("substring-before", ["x", ""], ""),
        ("translate", ["bar", "abc", "AB"], "BAr"),
        ("translate", ["--aaa--", "abc-", "ABC"], "AAA"),
        ("translate", ["aa", "aa", "xy"], "xx"),
        ("normalize-space", [" a \t\r\n b\u00a0 "], "a b\u00a0"),
        ("string-length", ["𝄞é"], 2.0),
        ("concat", ["a", 1.0, True], "a1true"),
        ("ends-with", ["abc", "bc"], True),
        ("lower-case", ["ÀẞİΣ"], "àßİσ"),
        ("upper-case", ["àßς"], "ÀßΣ"),
        ("number", [" 12.50 "], 12.5),
        ("number", [True], 1.0),
        ("floor", [-1.5], -2.0),
        ("ceiling", [-1.5], -1.0),
        ("not", [""], True),
    ],
)
def test_functions(function: str, arguments: list[Atom], result: Atom) -> None:
    """The examples of the recommendation, and the limits of later functions."""
    assert apply(function, arguments) == result


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (NAN, "NaN"),
        (INFINITY, "Infinity"),
        (-INFINITY, "-Infinity"),
        (-0.0, "0"),
        (1e21, "1" + "0" * 21),
        (0.1, "0.1"),
        (-2.0, "-2"),
        (1e-7, "0.0000001"),
        (True, "true"),
    ],
)
def test_numbers_as_strings(value: Atom, text: str) -> None:
    """Without an exponent."""
    assert to_string(value) == text


@pytest.mark.parametrize(
    ("value", "result"),
    [(0.5, 1.0), (-0.5, -0.0), (-0.4, -0.0), (-1.5, -1.0), (2.5, 3.0), (0.49999999999999994, 0.0)],
)
def test_a_half_is_rounded_up(value: float, result: float) -> None:
    """And the sign of zero is kept."""
    assert math.copysign(1, rounded(value)) == math.copysign(1, result)
    assert rounded(value) == result
    assert math.isnan(rounded(NAN))
    assert rounded(-INFINITY) == -INFINITY


@pytest.mark.parametrize(
    ("operator", "left", "right", "result"),
    [
        ("div", 1.0, -0.0, -INFINITY),
        ("div", -1.0, 0.0, -INFINITY),
        ("mod", 5.0, -2.0, 1.0),
        ("mod", -5.0, 2.0, -1.0),
        ("mod", 1.5, 0.5, 0.0),
        ("mod", 5.0, INFINITY, 5.0),
        ("*", "2", True, 2.0),
        ("-", 1.0, "3", -2.0),
    ],
)
def test_arithmetic(operator: str, left: Atom, right: Atom, result: float) -> None:
    """By the rules of IEEE 754; ``mod`` has the sign of the dividend."""
    assert calculate(operator, left, right) == result


def test_what_is_no_number() -> None:
    """Nothing equals it, and it is false."""
    for operator, left, right in [
        ("div", 0.0, 0.0),
        ("mod", 1.0, 0.0),
        ("mod", INFINITY, 2.0),
        ("+", "x", 1.0),
    ]:
        assert math.isnan(calculate(operator, left, right))
    assert not compare_atoms(NAN, "=", NAN)
    assert compare_atoms(NAN, "!=", NAN)
    assert not to_boolean(NAN)
    assert to_boolean(-1.0)
    assert to_boolean("false")


def test_comparisons_convert_to_the_stronger_type() -> None:
    """Booleans before numbers before strings; orders are of numbers."""
    assert compare_atoms(True, "=", "x")
    assert compare_atoms("1.0", "=", 1.0)
    assert not compare_atoms("1.0", "=", "1")
    assert compare_atoms("2", "<", "10")
    assert not compare_atoms("a", "<", "b")

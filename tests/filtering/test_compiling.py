"""A program holds whenever its pattern does; an exact program holds only then."""

from __future__ import annotations

from array import array

import pytest

from twigcast.filtering.compiling import Compiler
from twigcast.pattern import parse

DESCENDANT = 0x80000000


def words(expression: str) -> list[int]:
    return list(array("I", Compiler().compile(parse(expression)).words))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("/a/b", [1, 2, 1, 0, 0]),
        ("//a", [1, 1, DESCENDANT, 0]),
        ("/", [1, 0, 0]),
        ("/a/a", [1, 2, 0, 0, 0]),
        # a{b}: one conjunction of one positive chain
        ("/a[b]", [1, 1, 1, 1, 1, 0, 0, 1, 0, 0]),
        # a{not @x}: one conjunction of one negative predicate
        ("/a[not(@x)]", [1, 1, 1, 1, 1, 1, 1, 0]),
    ],
)
def test_a_pattern_as_numbers(expression: str, expected: list[int]) -> None:
    """The words of a program follow the grammar in builder.hpp."""
    assert words(expression) == expected


@pytest.mark.parametrize(
    ("expression", "equal"),
    [
        ("/a[not(not(b))]", "/a[b]"),
        ("/a[count(b) > 0]", "/a[b]"),
        ("/a[count(b) = 0]", "/a[not(b)]"),
        ("/a[count(b) >= 0.5]", "/a[b]"),
        ("/a[.//b/..]", "/a[b or .//*[b]]"),
        ("/a[b][c]", "/a[c and b]"),
    ],
)
def test_equal_conditions_are_equal_programs(expression: str, equal: str) -> None:
    """A negation is moved to the literals, and a count compared with 0 or 1 becomes existence."""
    assert words(expression) == words(equal)


@pytest.mark.parametrize(
    ("expression", "exact"),
    [
        ("//a[contains(., 'x')]", True),
        ("//a[contains(@b, 'x')]", True),
        ("//a[contains(text(), 'x')]", True),
        ("//a[string-length(@b) < 3]", True),
        ("//a[contains(b, 'x')]", False),
        ("//a[contains(@*, 'x')]", False),
        ("//a[count(b) = 2]", False),
        ("//a[not(count(b) = 2)]", False),
        ("//a[string-length(b) = 2]", False),
        ("/self::node()[. = 'x']/a", False),
        ("//a[b or c][d or e][f or g][h or i][j or k][l or m]", True),
        ("//a[b or c][d or e][f or g][h or i][j or k][l or m][n or o]", False),
    ],
)
def test_exactness_is_said(expression: str, exact: bool) -> None:
    """A pattern that one pass cannot decide has an inexact program."""
    assert Compiler().compile(parse(expression)).exact is exact


def test_names_and_predicates_are_shared() -> None:
    """Two patterns with the same names and predicates use the same numbers for them."""
    compiler = Compiler()
    first = compiler.compile(parse("//a[@x='1']"))
    second = compiler.compile(parse("//a[@x='1'][b]"))
    assert len(set(array("I", first.words)) - set(array("I", second.words))) == 0

"""Positions among the siblings that a step admits."""

from __future__ import annotations

import pytest

from twigcast.document import read
from twigcast.errors import PatternError
from twigcast.pattern import NameTest, Onward, Position, Test, matches, parse, render


@pytest.mark.parametrize(
    "text", ["[2]", "[position() = 2]", "[2 = position()]", "[(2)]", "[1 + 1]", "[number('2')]"]
)
def test_a_comparison_with_a_number_is_a_position(text: str) -> None:
    """However it is written."""
    assert parse(f"/a/b{text}").alternatives[0].steps[1].predicates == (
        Position(NameTest("", "b"), "=", 2.0),
    )


def test_what_a_position_counts_is_narrowed_by_names() -> None:
    """A condition on the name before it is that of another step."""
    assert parse("/a/*[self::b][last()]") == parse("/a/b[last()]")
    assert parse("/a/*[local-name() = 'b'][x][2][last() = 1]") == parse("/a/*:b[x][2][last() = 1]")
    assert render(parse("/a/*[not(self::b)][2]")) == "/a/*[not(self::b)][2]"


@pytest.mark.parametrize(
    "text", ["/a/b[../x][last()]", "/a/descendant::b[last()]", "/a/*[2][self::b][2]", "/a/@x[1]"]
)
def test_other_positions_are_general_steps(text: str) -> None:
    """After conditions that look up, along other axes, and of other nodes."""
    assert isinstance(parse(text).alternatives[0].tail, Onward)


def test_conditions_before_a_position_stay_conditions_of_the_step() -> None:
    """An element that is not counted has no position, and ``!=`` would hold for it."""
    predicates = parse("/a/b[x][position() != last()]").alternatives[0].steps[1].predicates
    assert [type(each).__name__ for each in predicates] == ["Exists", "Test"]
    assert isinstance(predicates[1], Test)


@pytest.mark.parametrize("text", ["/a[0]", "/a[1.5]", "/a[position() = -1]", "/a[0 = position()]"])
def test_positions_are_whole_numbers_from_1(text: str) -> None:
    """Others never occur."""
    with pytest.raises(PatternError) as caught:
        parse(text)
    assert caught.value.code == "never-matches"


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("position() and 1", True),
        ("(0) and (position())", False),
        ("3 or position()", True),
        ("(position()) and (0)", False),
    ],
)
def test_a_position_is_true_beside_and_and_or(text: str, holds: bool) -> None:
    """A position that is not compared with a number is a number, which is true."""
    assert matches(parse(f"//a[{text}]"), read(b"<r><a/></r>")) is holds

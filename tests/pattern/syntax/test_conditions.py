"""Conditions: which are the same, and what is a name in them."""

from __future__ import annotations

import pytest

from twigcast.pattern import (
    And,
    Axis,
    Exists,
    NameTest,
    Not,
    Or,
    Path,
    Step,
    parse,
)


def child(name: str, *predicates: object) -> Step:
    return Step(Axis.CHILD, NameTest("", name), predicates)  # type: ignore[arg-type]


def path(*steps: Step) -> Path:
    return Path(steps)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("/a[b][c]", "/a[b and c]"),
        ("/a[c][b]", "/a[b][c]"),
        ("/a[b][b]", "/a[b]"),
        ("/a[(b or c) or d]", "/a[d or c or b]"),
        ("/a[not(not(b))]", "/a[b]"),
        ("/a[boolean(b)]", "/a[b]"),
        ("/a[5 < b]", "/a[b > 5]"),
        ("/a['x' = b]", "/a[b = 'x']"),
        ("/a[b < '7']", "/a[b < 7]"),
        ("/a[(b | c) = 1]", "/a[c | b = 1.0]"),
        ("/a[string-length() > 3]", "/a[string-length(.) > 3]"),
        ("/a[count(b) > 0]", "/a[b]"),
        ("/a[count(b) = 0]", "/a[not(b)]"),
        ("/a[0 < count(b)]", "/a[b]"),
        ("/a[count(b) >= 0][c]", "/a[c]"),
        ("/a[contains(b, '')]", "/a"),
        ("/a[b < 'x' or c]", "/a[c]"),
        ("/a[b = -0]", "/a[b = 0]"),
        ("/a[b = --5]", "/a[b = 5]"),
        ('/a[b = "x"]', "/a[b = 'x']"),
        ("/a[./b]", "/a[b]"),
        ("/a[child::b/descendant::c]", "/a[b//c]"),
        ("/a[.//@x]", "/a[@x | .//*/@x]"),
    ],
)
def test_equal_conditions_are_equal_values(text: str, same: str) -> None:
    """Order, repetition, quotes, sides and decided parts do not matter."""
    assert parse(text) == parse(same)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("/and/or[div and mod]", "/and/or[mod][div]"),
        ("/*[* and *]", "/*[*]"),
        ("/not/text/node/count", "/not/text/node/count"),
        ("/a-b.c/é/名", "/a-b.c/é/名"),
        ("/a[.5 < b]", "/a[b > 0.5]"),
        ("/or[or or and]", "/or[and or or]"),
        ("/self/parent/child", "/self/parent/child"),
    ],
)
def test_names_that_look_like_operators_are_names_where_names_stand(text: str, same: str) -> None:
    """The place decides, as XPath says."""
    assert parse(text) == parse(same)


def test_and_stands_only_below_or_and_not() -> None:
    """At the top, a conjunction is several predicates."""
    b, c, d = (Exists((path(child(name)),)) for name in "bcd")
    assert parse("/a[b and c]").alternatives[0].steps[0].predicates == (b, c)
    assert parse("/a[b and c or d]").alternatives[0].steps[0].predicates == (Or((And((b, c)), d)),)
    assert parse("/a[not(b and c)]").alternatives[0].steps[0].predicates == (Not(And((b, c))),)

"""Smaller inputs of the same finding."""

from __future__ import annotations

from tests.fuzz.checks import Case
from tests.fuzz.shrinking import shorter, shrunk


def test_only_what_is_needed_remains() -> None:
    """Pieces that do not matter are left out, wherever they are."""
    assert shorter("xxaxxxbxx", lambda text: "a" in text and "b" in text) == "ab"
    assert shorter([1, 2, 3, 4], lambda items: 3 in items) == [3]
    assert shorter(b"xyz", lambda _: True) == b""
    assert shorter(b"xyz", lambda _: False) == b"xyz"


def test_a_case_becomes_small() -> None:
    """Documents, subscriptions and their characters are left out."""
    case = Case(["/a", "//b[@k = 'x']", "/c"], [b"<c/>", b"<a><b k='x'>y</b></a>"], 1, 7)
    small = shrunk(
        case,
        lambda case: (
            any("@k" in text for text in case.subscriptions) and any(b"y" in body for body in case.bodies)
        ),
    )
    assert small == Case(["@k"], [b"y"], 1, 7)


def test_it_ends_when_the_time_is_over() -> None:
    """Without time, the case is as it was."""
    case = Case(["/a"], [b"<a/>"], 1, 7)
    assert shrunk(case, lambda _: True, seconds=0) == case

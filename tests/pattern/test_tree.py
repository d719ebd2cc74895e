"""The pattern tree: values."""

from __future__ import annotations

import pickle

import pytest

from twigcast.pattern import ANY, NameTest, demands_a_node, parse


@pytest.mark.parametrize(
    ("test", "admitted"),
    [
        (NameTest("", "a"), [("", "a")]),
        (NameTest("u", "a"), [("u", "a")]),
        (NameTest(None, "a"), [("", "a"), ("u", "a")]),
        (NameTest("u", None), [("u", "a"), ("u", "b")]),
        (ANY, [("", "a"), ("u", "a"), ("u", "b")]),
    ],
)
def test_a_name_test_admits_names(test: NameTest, admitted: list[tuple[str, str]]) -> None:
    """``None`` stands for any, ``""`` for no namespace."""
    assert [name for name in [("", "a"), ("u", "a"), ("u", "b")] if test.admits(*name)] == admitted


def test_patterns_are_values() -> None:
    """Equal patterns are equal, hash alike, and survive pickling."""
    first, second = parse("/a[b and c]//d | /e"), parse("/e | /a[c][b]//d")
    assert first == second
    assert hash(first) == hash(second)
    assert pickle.loads(pickle.dumps(first)) == first
    assert str(first) == "/a[b][c]//d | /e"


@pytest.mark.parametrize(
    ("condition", "demands"),
    [
        ("b", True),
        ("b != 'x'", True),
        ("contains(b, 'x')", True),
        ("count(b) > 1", True),
        ("count(b) < 2", False),
        ("string-length(b) >= 3", True),
        ("string-length(b) < 3", False),
        ("not(b)", False),
        ("b or c", False),
    ],
)
def test_a_predicate_demands_a_node_or_holds_without(condition: str, demands: bool) -> None:
    """A predicate demands a node if it cannot hold without one; a disjunction demands none for certain."""
    (predicate,) = parse(f"/a[{condition}]").alternatives[0].steps[0].predicates
    assert demands_a_node(predicate) is demands

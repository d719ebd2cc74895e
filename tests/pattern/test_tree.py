"""The pattern tree: values."""

from __future__ import annotations

import pickle

import pytest

from twigcast.pattern import ANY, NameTest, parse


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

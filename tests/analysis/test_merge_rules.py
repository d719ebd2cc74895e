"""The three rules of merging."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pattern.strategies import NAMESPACES, documents, patterns
from twigcast.analysis import merge_one_difference, merge_two_differences, merge_with_descendant
from twigcast.document import read
from twigcast.errors import PatternError
from twigcast.pattern import matches, parse, render

RULES = (merge_one_difference, merge_two_differences, merge_with_descendant)


def merged(rule: object, *texts: str) -> str | None:
    found = rule([parse(text) for text in texts])  # type: ignore[operator]
    return None if found is None else render(found)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["/a/*/c/d", "/a/*/c/e"], "/a/*/c/*"),
        (["/a/b/a", "/a/b/b", "/a/b/d"], "/a/b/*"),
        (["/b/d", "/b/e"], "/b/*"),
        (["//a[x]/b", "//c[x]/b"], "//*[x]/b"),
        (["/a/b[x]", "/a/c"], None),
        (["/a/b", "/a//b"], None),
        (["/a/b", "/c/d"], None),
        (["/a/b", "/a/b"], None),
        (["/a/b", "/a/b/c"], None),
        (["/a/b/@x", "/a/c"], None),
        (["/a/b/@x", "/a/c/@x"], "/a/*/@x"),
        (["/a/b | /c", "/a/d | /c"], None),
        (["/a/b[2]", "/a/c[2]"], None),
    ],
)
def test_one_difference(parts: Sequence[str], expected: str | None) -> None:
    """The examples of section 4.3 and Figure 5; nothing else may differ, predicates and tails included."""
    assert merged(merge_one_difference, *parts) == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["/a/c/*/*", "/a//c/*/c"], "/a//c/*/*"),
        (["/a/b/c", "/a//b/d"], "/a//b/*"),
        (["/a/b", "//a/b"], "//a/b"),
        (["/a/b/c", "//a//b/c"], None),
        (["/a/b", "//c/d"], None),
    ],
)
def test_two_differences(parts: Sequence[str], expected: str | None) -> None:
    """The example of section 4.3: one name and one axis."""
    assert merged(merge_two_differences, *parts) == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["/a/b/x/d/e", "/a/c/d/e"], "/a//d/e"),
        (["/a/b", "/a/c/b"], "/a//b"),
        (["/a/b/c", "/x/c"], "//c"),
        (["/a/a", "/a/b/a"], "/a//a"),
        (["/a/b", "/a/c"], None),
        (["/a/b/c[x]", "/a/d/c"], None),
    ],
)
def test_with_descendant(parts: Sequence[str], expected: str | None) -> None:
    """What lies between equal beginnings and equal ends becomes //."""
    assert merged(merge_with_descendant, *parts) == expected


@given(st.lists(patterns(), min_size=2, max_size=3), st.lists(documents(), max_size=4))
@settings(max_examples=100, deadline=None)
def test_a_merger_covers_its_parts(expressions: Sequence[object], bodies: Sequence[bytes]) -> None:
    """No document matches a part and not the merger; and its text says what it is."""
    try:
        parts = [parse(each.ours, NAMESPACES) for each in expressions]  # type: ignore[attr-defined]
    except PatternError:
        return
    trunks = [*parts, parse("/a/b/c"), parse("/a//b/c"), parse("//a/b/a")]
    for one in trunks:
        for other in trunks:
            for rule in RULES:
                found = rule([one, other])
                if found is not None:
                    assert parse(render(found)) == found
                    for document in map(read, bodies):
                        assert matches(found, document) or not matches(one, document)

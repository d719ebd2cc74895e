"""The three merge rules."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pattern.strategies import NAMESPACES, documents, patterns
from twigcast.analysis import MergeRules
from twigcast.document import read
from twigcast.errors import PatternError
from twigcast.pattern import Pattern, matches, parse, render


def mergers(parts: Sequence[Pattern]) -> set[str]:
    """Return the patterns that, for every part, are a merger of it or the part itself."""
    rules = MergeRules()
    keys = [rules.key(part) for part in parts]
    above = [{key, *rules.above(key)} for key in keys]
    return {render(rules.pattern(key)) for key in set.intersection(*above)} if len(set(keys)) > 1 else set()


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["/a/*/c/d", "/a/*/c/e"], "/a/*/c/*"),
        (["/a/b/a", "/a/b/b", "/a/b/d"], "/a/b/*"),
        (["/b/d", "/b/e"], "/b/*"),
        (["//a[x]/b", "//c[x]/b"], "//*[x]/b"),
        (["/a/b/@x", "/a/c/@x"], "/a/*/@x"),
        (["/a/c/*/*", "/a//c/*/c"], "/a//c/*/*"),
        (["/a/b/c", "/a//b/d"], "/a//b/*"),
        (["/a/b", "//a/b"], "//a/b"),
        (["/a/b/x/d/e", "/a/c/d/e"], "/a//d/e"),
        (["/a/b", "/a/c/b"], "/a//b"),
        (["/a/b/c", "/x/c"], "//c"),
        (["/a/a", "/a/b/a"], "/a//a"),
    ],
)
def test_patterns_that_differ_little_have_a_merger(parts: Sequence[str], expected: str) -> None:
    """The examples of section 4.3 and Figure 5: one name; one name and one axis; steps in the middle."""
    assert expected in mergers([parse(part) for part in parts])


@pytest.mark.parametrize(
    "parts",
    [
        ["/a/b[x]", "/a/c"],
        ["/a/b", "/c/d"],
        ["/a/b", "/a/b"],
        ["/a/b/@x", "/a/c"],
        ["/a/b | /c", "/a/d | /c"],
        ["/a/b[2]", "/a/c[2]"],
        ["/a/b/c[x]", "/a/d/c"],
        ["/a/b", "//c/d"],
    ],
)
def test_patterns_that_differ_more_have_none(parts: Sequence[str]) -> None:
    """Predicates, tails and alternatives must be equal; elements counted by a position keep their name."""
    assert mergers([parse(part) for part in parts]) == set()


@given(st.lists(patterns(), min_size=1, max_size=3), st.lists(documents(), max_size=4))
@settings(max_examples=100, deadline=None)
def test_a_merger_covers_its_parts(expressions: Sequence[object], bodies: Sequence[bytes]) -> None:
    """No document matches a part and not the merger; the text of a merger parses to it."""
    try:
        parts = [parse(each.ours, NAMESPACES) for each in expressions]  # type: ignore[attr-defined]
    except PatternError:
        return
    rules = MergeRules()
    for part in [*parts, parse("/a/b/c"), parse("/a//b/c"), parse("//a/b/a")]:
        for key in rules.above(rules.key(part)):
            merger = rules.pattern(key)
            assert rules.key(merger) == key
            assert parse(render(merger)) == merger
            for document in map(read, bodies):
                assert matches(merger, document) or not matches(part, document)

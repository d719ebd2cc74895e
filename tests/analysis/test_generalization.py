"""The common pattern of two patterns."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.subscriptions import NAMESPACES, small_document, twig_pattern
from twigcast.analysis.covering import covers
from twigcast.analysis.generalization import common_pattern, shorter_patterns
from twigcast.analysis.twig import step_count
from twigcast.pattern import matches, parse


@given(st.integers(0, 1 << 32))
@settings(max_examples=120, deadline=None)
def test_what_is_common_covers_both(seed: int) -> None:
    """Each document that matches one of them matches it, and ``covers`` can prove it."""
    random = Random(seed)
    p, q = twig_pattern(random), twig_pattern(random)
    common = common_pattern(p, q)
    assert parse(str(common), NAMESPACES) == common
    for document in [small_document(random) for _ in range(4)]:
        assert matches(common, document) or not (matches(p, document) or matches(q, document))
    assert covers(common, p)
    assert covers(common, q)


@given(st.integers(0, 1 << 32))
@settings(max_examples=100, deadline=None)
def test_a_shorter_pattern_covers_the_longer(seed: int) -> None:
    """Each result has fewer steps, and lacks one branch or one condition."""
    pattern = twig_pattern(Random(seed))
    for shorter in shorter_patterns(pattern):
        assert covers(shorter, pattern)
        if len(pattern.alternatives) == 1:
            assert step_count(shorter) < step_count(pattern)


@pytest.mark.parametrize(
    ("p", "q", "common"),
    [
        ("/a/b", "/a/b", "/a/b"),
        ("/a/b/c", "/a/x/c", "/a/*/c"),
        ("/a/b", "/a/b/c", "/a/b"),
        ("/a/b", "/a/x/b", "/a//b"),
        ("//a/b", "/c/a/b", "//a/b"),
        ("/a[b][c]/d", "/a[c]/b", "/a[b]/c"),
        ("/a/b/c[@k=1]/d", "/a/x/c[@k=2]", "/a/*/c[@k]"),
        ("//a[@price<5]", "//a[@price<10]", "//a[@price<10]"),
        ("//a[.='x']", "//a[.='y']", "//a"),
        ("//a[b='x']", "//a[b='y']/c", "//a[b]"),
        ("/a/b | /a/c", "/a/d", "/a/*"),
        ("/a", "/b", "/*"),
        ("/Q{urn:p}a", "/Q{urn:q}a", "/*:a"),
    ],
)
def test_common_patterns(p: str, q: str, common: str) -> None:
    """Common names, conditions and depths are kept; differences become ``*`` or ``//`` or are dropped."""
    assert common_pattern(parse(p), parse(q)) == parse(common)
    assert common_pattern(parse(q), parse(p)) == parse(common)


def test_shorter_patterns() -> None:
    """Any leaf except the last element can be dropped, and any condition with steps."""
    assert {str(each) for each in shorter_patterns(parse("/a[b]/c/d"))} == {"/a/c/d", "/a[b]/c"}
    assert {str(each) for each in shorter_patterns(parse("/a[not(b)][@k]"))} == {"/a[@k]"}
    assert list(shorter_patterns(parse("/a"))) == []
    assert list(shorter_patterns(parse("/a/b | /a/c"))) == [parse("/a/*")]

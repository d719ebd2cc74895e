"""Patterns as trees of elements."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.analysis.subscriptions import twig_patterns
from twigcast.analysis.covering import covers
from twigcast.analysis.twig import pattern_of, predicates_of, step_count, twig
from twigcast.pattern import Pattern, parse
from twigcast.pattern.canonical import union


@given(twig_patterns())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_tree_means_what_its_pattern_means(pattern: Pattern) -> None:
    """Trunk and branches may be exchanged; the set of matched documents is the same."""
    for path in pattern.alternatives:
        grown, whole = pattern_of(twig(path)), union([path])
        assert covers(grown, whole)
        assert covers(whole, grown)


def test_steps_and_predicates_are_branches_alike() -> None:
    """Which branch is the trunk makes no difference."""
    one, other = (twig(parse(text).alternatives[0]) for text in ("/a[b]/c", "/a[c]/b"))
    assert set(one.branches[0].branches) == set(other.branches[0].branches)


def test_the_highest_branch_is_the_trunk() -> None:
    """The pattern of a tree has a trunk as long as the tree is high."""
    assert str(pattern_of(twig(parse("/a[b/c/d]/e").alternatives[0]))) == "/a[e]/b/c/d"


@pytest.mark.parametrize(
    ("expression", "steps"),
    [("/", 0), ("/a//b", 2), ("/a[b/c]/d", 4), ("/a[not(b) or c=1]", 3), ("/a|/b/c", 3), ("/a[b][2]/@k", 2)],
)
def test_steps_are_counted_wherever_they_stand(expression: str, steps: int) -> None:
    """Steps count in the trunk, in predicates and in the alternatives of a union."""
    assert step_count(parse(expression)) == steps


def test_a_tree_has_a_size_and_a_height() -> None:
    """The document counts as an element."""
    tree = twig(parse("/a[b/c]/d").alternatives[0])
    assert (len(tree), tree.height, len(list(tree.below()))) == (5, 4, 4)
    assert len(predicates_of(tree.branches[0])) == 2

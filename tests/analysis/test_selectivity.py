"""Estimates of the share of documents that match."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.subscriptions import linear_pattern, small_document
from twigcast.analysis.covering import covers
from twigcast.analysis.selectivity import sample_selectivity, schema_selectivity
from twigcast.document import read
from twigcast.pattern import matches, parse
from twigcast.schema import Child, ContentKind, ElementDeclaration, Sequence, element_graph

GRAPH = element_graph(
    [
        ElementDeclaration("a", ContentKind.ELEMENTS, Sequence((Child("b"), Child("c", 0)))),
        ElementDeclaration("b", ContentKind.ELEMENTS, Child("d", 0, None)),
        ElementDeclaration("c"),
        ElementDeclaration("d", ContentKind.ELEMENTS, Child("d", 0)),
    ]
)


@given(st.integers(0, 1 << 32))
@settings(max_examples=60, deadline=None)
def test_linear_paths_are_counted_exactly(seed: int) -> None:
    """For a path without conditions, the estimate is the share of the sample that matches."""
    random = Random(seed)
    documents = [small_document(random, 3) for _ in range(8)]
    pattern = linear_pattern(random)
    expected = sum(matches(pattern, document) for document in documents) / 8
    assert sample_selectivity(documents)(pattern) == pytest.approx(expected)


def test_branches_meet_in_a_document() -> None:
    """A twig is estimated by the documents that contain all of its paths, perhaps in different elements."""
    bodies = [b"<a><b/><c/></a>", b"<a><x><b/></x><x><c/></x></a>", b"<a><b/></a>", b"<a/>"]
    selectivity = sample_selectivity([read(body) for body in bodies])
    assert selectivity(parse("/a[b]/c")) == 0.25
    assert selectivity(parse("//*[b]/c")) == 0.5
    assert selectivity(parse("/a")) == 1.0
    assert selectivity(parse("//z")) == 0.0


def test_a_union_is_more_likely_than_its_parts() -> None:
    """Alternatives are assumed to be independent, and conditions to hold sometimes."""
    selectivity = sample_selectivity([read(b"<a/>"), read(b"<b/>")])
    assert selectivity(parse("/a|/b")) == 0.75
    assert 0.0 < selectivity(parse("/a[@k=1]")) < selectivity(parse("/a[@k<1]")) < selectivity(parse("/a"))


@pytest.mark.parametrize(
    ("expression", "chance"),
    [("/a", 1), ("/a/b", 1), ("/a/c", 0.5), ("/a[b]/c", 0.5), ("/a/b/d/d", 0.25), ("//c", 0.5), ("/b", 0)],
)
def test_a_schema_says_what_must_be_and_what_may(expression: str, chance: float) -> None:
    """Required children are always present, optional ones in half of their parents."""
    assert schema_selectivity(GRAPH)(parse(expression)) == pytest.approx(chance)


def test_recursion_ends() -> None:
    """A schema is followed to a depth; anything deeper has probability 0."""
    assert schema_selectivity(GRAPH, 5)(parse("//d/d/d")) == pytest.approx(0.125)
    assert schema_selectivity(GRAPH, 4)(parse("//d/d/d")) == 0.0


@given(st.integers(0, 1 << 32))
@settings(max_examples=40, deadline=None)
def test_a_coverer_is_not_less_likely(seed: int) -> None:
    """In any sample, a linear path that covers another matches at least as often."""
    random = Random(seed)
    selectivity = sample_selectivity([small_document(random, 3) for _ in range(6)])
    p, q = linear_pattern(random), linear_pattern(random)
    if covers(p, q):
        assert selectivity(p) >= selectivity(q)


def test_no_sample_is_no_estimate() -> None:
    """A sample without documents is refused."""
    with pytest.raises(ValueError, match="sample"):
        sample_selectivity([])

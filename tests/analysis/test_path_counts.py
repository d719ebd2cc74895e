"""Counting the label paths that patterns select, and the degree of mergers."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.routing.label_paths import count_label_paths, label_paths
from tests.analysis.schemas import graph, simple_graph
from tests.analysis.test_overlap import found, linear
from twigcast.analysis import PathCounter
from twigcast.analysis.path_counts import CERTAIN, Measure
from twigcast.pattern import parse


@given(st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_counting_agrees_with_enumeration(random: Random) -> None:
    """The count of several patterns is the number of label paths on which one of them selects an element."""
    schema = graph(random)
    for depth in (1, 3, 5):
        counter = PathCounter(schema, depth)
        for _ in range(3):
            patterns = [linear(random, most=3) for _ in range(random.randint(1, 3))]
            paths = [[schema.expanded(name) for name in path] for path in label_paths(schema, depth)]
            expected = sum(any(found(p.alternatives[0].steps, path) for p in patterns) for path in paths)
            assert counter.count(patterns) == expected


@given(st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_walks_are_weighed_by_their_likelihood(random: Random) -> None:
    """The weight of a label path is the product of the probabilities of its steps."""
    schema = graph(random)
    depth = 4
    if len(schema.heights) < len(schema):
        return
    pattern = linear(random, most=3)
    expected = 0.0
    for path in label_paths(schema, depth):
        likelihood = 1.0
        for place, name in enumerate(path[: depth - 1], 1):
            turns = len(schema.children(name)) + (schema.heights[name] == 1)
            likelihood /= turns if place < len(path) or schema.heights[name] == 1 else 1
        labels = [schema.expanded(name) for name in path]
        expected += likelihood * found(pattern.alternatives[0].steps, labels)
    counted = PathCounter(schema, depth, Measure.WALKS).count([pattern]) / CERTAIN
    assert counted == pytest.approx(expected, abs=1e-9)


@given(st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_inclusion_is_certain(random: Random) -> None:
    """If the parts include the merger, they do at every depth; if not, some depth shows it."""
    schema = graph(random, ("a", "b", "c"))
    merger, *parts = [linear(random, most=2) for _ in range(3)]
    included = PathCounter(schema, 3).includes(parts, merger)
    counter = PathCounter(schema, 12)
    more = counter.count([merger, *parts]) > counter.count(parts)
    assert not (included and more)


def test_everything_is_selected_by_the_document() -> None:
    """A pattern without steps selects the document itself, and so all label paths."""
    schema = simple_graph({"a": "b c"})
    assert PathCounter(schema).count([parse("/")]) == count_label_paths(schema, 10) == 3


def test_a_counter_that_forgets_counts_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Emptying the caches changes the speed, not the counts."""
    monkeypatch.setattr("twigcast.analysis.path_counts.MEMORY", 0)
    counter = PathCounter(simple_graph({"a": "a b", "b": "c"}), 5)
    assert [counter.count([parse("//b")]) for _ in range(3)] == [7, 7, 7]


def test_example_of_section_4_3() -> None:
    """Five elements are allowed at the fourth step; two parts leave a degree of 60 %."""
    schema = simple_graph({"a": "x", "x": "c", "c": "a1 b1 c1 d e"})
    parts = [parse("/a/*/c/d"), parse("/a/*/c/e")]
    assert PathCounter(schema).degree(parse("/a/*/c/*"), parts) == pytest.approx(0.6)


def test_twigs_are_counted_by_their_trunks() -> None:
    """Predicates are assumed to hold, in the merger and in its parts."""
    schema = simple_graph({"a": "b c d"})
    parts = [parse("/a/b[@x]"), parse("/a/c[@x]")]
    assert PathCounter(schema).degree(parse("/a/*[@x]"), parts) == pytest.approx(1 / 3)


def test_what_selects_nothing_is_perfect() -> None:
    """A merger that selects nothing in the schema has no excess."""
    assert PathCounter(simple_graph({"a": "b"})).degree(parse("/z/*"), [parse("/z/a")]) == 0.0

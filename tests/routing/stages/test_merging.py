"""Merging a set of patterns that changes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.schemas import conforming, graph, simple_graph
from tests.pattern.strategies import NAMESPACES, general_pattern
from tests.pattern.strategies import pattern as plain_pattern
from twigcast.analysis import PathCounter
from twigcast.analysis.path_counts import Measure
from twigcast.document import read
from twigcast.errors import PatternError, SubscriptionError
from twigcast.pattern import Pattern, matches, parse, render
from twigcast.routing import Merging
from twigcast.schema import ElementGraph

SCHEMA = simple_graph({"a": "b c d", "b": "x y", "c": "x y z", "d": "x y"})


def output(merging: Merging) -> set[str]:
    return {render(pattern) for pattern in merging.patterns.values()}


def holding(*texts: str, budget: float = 0.0, schema: ElementGraph = SCHEMA) -> Merging:
    merging = Merging(schema, budget)
    merging.change([(text, parse(text)) for text in texts], [])
    return merging


def test_all_names_of_the_schema_are_any_name() -> None:
    """The merger is perfect, because the schema has only x and y below b."""
    assert output(holding("/a/b/x", "/a/b/y")) == {"/a/b/*"}


def test_some_names_of_the_schema_are_not_merged_perfectly() -> None:
    """The schema has z below c as well."""
    assert output(holding("/a/c/x", "/a/c/y")) == {"/a/c/x", "/a/c/y"}


def test_a_budget_admits_what_is_nearly_perfect() -> None:
    """A merger with an excess of one third needs a budget of one third."""
    assert output(holding("/a/c/x", "/a/c/y", budget=0.3)) == {"/a/c/x", "/a/c/y"}
    assert output(holding("/a/c/x", "/a/c/y", budget=0.34)) == {"/a/c/*"}


def test_a_larger_budget_never_forwards_more_than_none() -> None:
    """The output of perfect merging is merged again, so that it can only become smaller."""
    random = Random(3)
    for _ in range(20):
        schema = graph(random, ("a", "b", "c", "d"))
        held = [(str(number), trunk(random)) for number in range(30)]
        sizes = []
        for budget in (0.0, 0.1, 0.3):
            merging = Merging(schema, budget, depth=5)
            merging.change(held, [])
            sizes.append(len(merging.patterns))
        assert max(sizes) == sizes[0]


def test_short_paths_count_as_documents_have_them() -> None:
    """A merger that adds few label paths, which most documents have, is over the budget."""
    schema = simple_graph({"a": "b c d", "b": " ".join(f"e{number}" for number in range(60))})
    parts = [parse("/a/b"), parse("/a/d")]
    assert PathCounter(schema).degree(parse("/a/*"), parts) < 0.02
    assert output(holding("/a/b", "/a/d", budget=0.2, schema=schema)) == {"/a/b", "/a/d"}
    assert output(holding("/a/b", "/a/d", budget=0.34, schema=schema)) == {"/a/*"}


def test_mergers_are_merged() -> None:
    """The mergers below b and below c are merged into one."""
    schema = simple_graph({"a": "b c", "b": "x y", "c": "x y"})
    assert output(holding("/a/b/x", "/a/b/y", "/a/c/x", "/a/c/y", schema=schema)) == {"/a/*/*"}


def test_a_merger_hides_what_it_covers() -> None:
    """A pattern that a merger covers is not forwarded, even if it is not a part of the merger."""
    assert output(holding("/a/b/x", "/a/b/y", "//b/*[x]")) == {"/a/b/*", "//b/*[x]"}
    assert output(holding("/a/b/x", "/a/b/y", "/a/b/*/z")) == {"/a/b/*"}


def test_a_merger_has_its_text_for_an_id() -> None:
    """The id of a merger is the same at every router that makes it."""
    assert list(holding("/a/b/x", "/a/b/y").patterns) == ["merge:/a/b/*"]


def test_changes_are_told() -> None:
    """A part that completes a merger is never forwarded; the other parts are withdrawn for the merger."""
    merging = Merging(SCHEMA)
    first = merging.add("1", parse("/a/b/x"))
    assert (first.forward, first.withdraw) == ((("1", parse("/a/b/x")),), ())
    second = merging.add("2", parse("/a/b/y"))
    assert second.forward == (("merge:/a/b/*", parse("/a/b/*")),)
    assert second.withdraw == ("1",)


def test_a_part_that_leaves_undoes_the_merger() -> None:
    """The remaining parts are forwarded again."""
    merging = holding("/a/b/x", "/a/b/y")
    change = merging.remove("/a/b/y")
    assert change.forward == (("/a/b/x", parse("/a/b/x")),)
    assert change.withdraw == ("merge:/a/b/*",)


def test_equal_patterns_are_forwarded_once() -> None:
    """A pattern with two ids is withdrawn when both are removed."""
    merging = Merging(SCHEMA)
    merging.change([("1", parse("/a/b")), ("2", parse("/a/b"))], [])
    assert len(merging.patterns) == 1
    merging.remove("1")
    assert output(merging) == {"/a/b"}
    merging.remove("2")
    assert output(merging) == set()


def test_predicates_must_be_equal() -> None:
    """Twigs are merged only if their predicates are equal."""
    assert output(holding("/a/b[@k]/x", "/a/b[@k]/y")) == {"/a/b[@k]/*"}
    assert output(holding("/a/b[@k]/x", "/a/b[@l]/y")) == {"/a/b[@k]/x", "/a/b[@l]/y"}


def test_unions_are_left_alone() -> None:
    """A pattern with alternatives is forwarded as it is."""
    assert output(holding("/a/b/x | /a/c", "/a/b/y")) == {"/a/b/x | /a/c", "/a/b/y"}


def test_example_of_figure_5() -> None:
    """/a/b/a, /a/b/b and /a/b/d become /a/b/*; /b/d and /b/e become /b/*."""
    one = simple_graph({"a": "b", "b": "a b d"})
    assert output(holding("/a/b/a", "/a/b/b", "/a/b/d", schema=one)) == {"/a/b/*"}
    other = simple_graph({"b": "d e"}, root="b")
    assert output(holding("/b/d", "/b/e", schema=other)) == {"/b/*"}


def test_example_of_two_differences() -> None:
    """Section 4.3 merges /a/c/*/* and /a//c/*/c; in this schema c occurs only directly below a."""
    schema = simple_graph({"a": "c", "c": "d", "d": "c e"})
    assert output(holding("/a/c/*/*", "/a//c/*/c", schema=schema)) == {"/a//c/*/*"}


def test_unknown_and_duplicate_ids_change_nothing() -> None:
    """A duplicate or unknown id is refused before anything is changed."""
    merging = holding("/a/b/x")
    for added, removed in (
        ([("1", parse("/a")), ("/a/b/x", parse("/a"))], []),
        ([("1", parse("/a"))], ["2"]),
        ([("1", parse("/a")), ("1", parse("/a"))], []),
        ([], ["/a/b/x", "/a/b/x"]),
    ):
        with pytest.raises(SubscriptionError):
            merging.change(added, removed)
    assert output(merging) == {"/a/b/x"}
    assert len(merging) == 1


@given(st.randoms(use_true_random=False), st.sampled_from([0.0, 0.1, 0.4]))
@settings(max_examples=120, deadline=None)
def test_the_output_depends_on_what_is_held_only(random: Random, budget: float) -> None:
    """The same patterns give the same output, whether added and removed one by one or in batches.

    A copy of the output that applies only the returned changes is correct at any time.
    """
    schema = graph(random, ("a", "b", "c", "d"))
    merging = Merging(schema, budget, depth=5)
    held: dict[str, Pattern] = {}
    copy: dict[str, Pattern] = {}
    for number in range(12):
        removed = [id for id in held if random.random() < 0.15]
        added = [(f"{number}.{n}", trunk(random)) for n in range(random.randint(0, 3))]
        change = merging.change(added, removed)
        for id in removed:
            del held[id]
        held.update(added)
        for id in change.withdraw:
            del copy[id]
        assert not set(copy) & {id for id, _ in change.forward}
        copy.update(change.forward)
        assert copy == dict(merging.patterns)
    fresh = Merging(schema, budget, depth=5)
    ids = list(held)
    random.shuffle(ids)
    fresh.change([(id, held[id]) for id in ids], [])
    assert output(merging) == output(fresh)


@given(st.randoms(use_true_random=False), st.sampled_from([0.0, 0.2]))
@settings(max_examples=120, deadline=None)
def test_nothing_is_lost_and_perfect_mergers_let_nothing_in(random: Random, budget: float) -> None:
    """A document that matches an input matches an output; with budget 0 the converse holds, too."""
    schema = graph(random, ("a", "b", "c", "d"))
    held = [twig(random) if random.random() < 0.2 else trunk(random) for _ in range(random.randint(2, 12))]
    merging = Merging(schema, budget, depth=5)
    merging.change([(str(number), pattern) for number, pattern in enumerate(held)], [])
    for _ in range(6):
        document = read(conforming(random, schema, depth=4, width=2))
        wanted = any(matches(pattern, document) for pattern in held)
        forwarded = any(matches(pattern, document) for pattern in merging.patterns.values())
        assert forwarded or not wanted
        assert budget > 0.0 or wanted or not forwarded


@given(st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_the_budget_is_kept(random: Random) -> None:
    """The degree of each merger, with respect to all inputs, is within the budget by both measures."""
    schema = graph(random, ("a", "b", "c", "d"))
    held = [trunk(random) for _ in range(random.randint(2, 12))]
    merging = Merging(schema, 0.25, depth=5)
    merging.change([(str(number), pattern) for number, pattern in enumerate(held)], [])
    counters = [PathCounter(schema, 5, measure) for measure in Measure]
    for id, pattern in merging.patterns.items():
        if id.startswith("merge:"):
            for counter in counters:
                whole = counter.count([pattern])
                assert counter.count([pattern, *held]) - counter.count(held) <= 0.25 * whole


def trunk(random: Random) -> Pattern:
    """Draw a short path without predicates, mostly of names."""
    steps = [
        random.choice(["/", "/", "/", "//"]) + random.choice("abcdabcd*") for _ in range(random.randint(1, 4))
    ]
    steps[0] = random.choice(["/a", "/a", "//a", "/*"])
    return parse("".join(steps))


def twig(random: Random) -> Pattern:
    """Draw a pattern of any kind."""
    while True:
        try:
            return parse(random.choice([plain_pattern, general_pattern])(random).ours, NAMESPACES)
        except PatternError:
            continue

"""Overlap of advertisements and subscriptions, against enumeration and against documents."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.routing.expression_automaton import expression_automaton
from experiments.engines.routing.path_expression import parse_path_expression
from tests.analysis.schemas import conforming, graph, simple_graph
from tests.pattern.strategies import NAMESPACES, Expression, general_pattern, pattern
from twigcast.analysis import overlaps, schema_automaton
from twigcast.document import elements, read
from twigcast.errors import PatternError
from twigcast.pattern import Axis, NameTest, Path, Pattern, Step, matches, parse, select
from twigcast.schema import ElementGraph


def any_pattern(random: Random) -> Expression:
    return random.choice([pattern, general_pattern])(random)


def meets(expression: str, subscription: str) -> bool:
    return overlaps(expression_automaton([parse_path_expression(expression)]), parse(subscription))


@pytest.mark.parametrize(
    ("expression", "subscription", "expected"),
    [
        ("/b/*/*/c/c/d", "/*/c/*/b/c", False),
        ("/a/*/e/*/d/*/c/b", "*/a//d/*/c//b", True),
    ],
)
def test_examples_of_section_3_2(expression: str, subscription: str, expected: bool) -> None:
    """The paper's non-recursive advertisements: absolute, and relative with descendants."""
    assert meets(expression, subscription) is expected


def test_example_of_section_3_3() -> None:
    """The paper's simple-recursive advertisement overlaps only because its part can be repeated twice."""
    assert meets("/a/*/c(/e/d)+/*/c/e", "/*/a/c/*/d/e/d/*")
    assert not meets("/a/*/c/e/d/*/c/e", "/*/a/c/*/d/e/d/*")


@pytest.mark.parametrize(
    ("mine", "other", "expected"),
    [("a", "a", True), ("*", "a", True), ("a", "*", True), ("*", "*", True), ("c", "b", False)],
)
def test_rules_of_figure_2(mine: str, other: str, expected: bool) -> None:
    """The paper's rules for matching one element with another."""
    assert meets(f"/{mine}", f"/{other}") is expected


@pytest.mark.parametrize(
    ("subscription", "expected"),
    [
        ("/a/b(/c)", True),
        ("/a/b/c/d/c/d/e", True),
        ("/a/b/c/d/c/e", False),
        ("//e/*", False),
        ("//d/e", True),
        ("/a//a", False),
        ("/a/b/c/d/e/c", False),
    ],
)
def test_repeated_parts(subscription: str, expected: bool) -> None:
    """A repeated part is followed by itself, or by the part after it."""
    assert meets("/a/b(/c/d)+/e", subscription.replace("(/c)", "/c")) is expected


@pytest.mark.parametrize(
    ("subscription", "expected"),
    [
        ("/a[b][c]", True),
        ("/a[b and d]", False),
        ("/a[b or d]", True),
        ("/a[not(b)]", True),
        ("/a[not(d)]/c", True),
        ("/a[d = 1]", False),
        ("/a[contains(d, 'x')]", False),
        ("/a[count(d) = 0]", True),
        ("/a[count(d) > 1]", False),
        ("/a[string-length(d) < 1]", True),
        ("/a[string-length(d) > 1]", False),
        ("/a/c[2]", True),
        ("/a/d[2]", False),
        ("/a/*[d][2]", False),
        ("/a[@x = 1]/text()", True),
        ("/d | /a/c", True),
        ("/d | /a/d", False),
    ],
)
def test_predicates(subscription: str, expected: bool) -> None:
    """The elements that a predicate needs must be possible; values, numbers and absence always are."""
    assert overlaps(schema_automaton(simple_graph({"a": "b c"})), parse(subscription)) is expected


@given(st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_linear_paths_agree_with_enumeration(random: Random) -> None:
    """A path overlaps a schema if and only if it selects an element on one of its label paths."""
    schema = graph(random, ("a", "b", "p:a"))
    path = linear(random, most=2)
    longest = 2 * len(schema) + 2
    walks = [walk for depth in range(1, longest + 1) for walk in walks_of(schema, depth)]
    expected = any(found(path.alternatives[0].steps, [schema.expanded(n) for n in walk]) for walk in walks)
    assert overlaps(schema_automaton(schema), path) is expected


@given(st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_never_no_where_a_document_matches(random: Random) -> None:
    """For any subscription: if a document of the schema matches it, they overlap."""
    schema = graph(random)
    document = read(conforming(random, schema, depth=5, width=2))
    for _ in range(5):
        try:
            pattern = parse(any_pattern(random).ours, NAMESPACES)
        except PatternError:
            continue
        assert overlaps(schema_automaton(schema), pattern) or not matches(pattern, document)


def linear(random: Random, most: int) -> Pattern:
    tests = [NameTest("", "a"), NameTest("", "b"), NameTest("urn:p", "a"), NameTest(None, None)]
    tests += [NameTest(None, "a"), NameTest("urn:p", None), NameTest("", "z")]
    steps = [Step(random.choice(list(Axis)), random.choice(tests)) for _ in range(random.randint(1, most))]
    return Pattern((Path(tuple(steps)),))


def walks_of(schema: ElementGraph, depth: int) -> list[tuple[str, ...]]:
    """Return all walks of a number of names down the schema."""
    walks: list[tuple[str, ...]] = [(schema.root,)]
    for _ in range(depth - 1):
        walks = [(*walk, child.name) for walk in walks for child in schema.children(walk[-1])]
    return walks


def found(steps: tuple[Step, ...], labels: list[tuple[str | None, str]]) -> bool:
    """Whether steps select an element on a label path: the naive definition."""
    return any(ends(labels[:length], steps) for length in range(1, len(labels) + 1))


def ends(labels: list[tuple[str | None, str]], steps: tuple[Step, ...]) -> bool:
    """Whether steps select the last element of a label path."""
    reached = {0}
    for step in steps:
        reached = {
            after
            for before in reached
            for after in range(before + 1, len(labels) + 1)
            if (step.axis is Axis.DESCENDANT or after == before + 1)
            and step.test.admits(str(labels[after - 1][0]), labels[after - 1][1])
        }
    return len(labels) in reached


def test_the_oracle_agrees_with_the_evaluator() -> None:
    """The naive definition agrees with the evaluator on chains of elements."""
    random = Random(5)
    for _ in range(200):
        labels = [random.choice(["a", "b"]) for _ in range(random.randint(1, 4))]
        body = "".join(f"<{name}>" for name in labels) + "".join(f"</{name}>" for name in labels[::-1])
        pattern = linear(random, most=3)
        document = read(body.encode())
        last = document.root
        while below := list(elements(last)):
            last = below[0]
        chosen = last in select(pattern, document)
        assert ends([("", name) for name in labels], pattern.alternatives[0].steps) is chosen

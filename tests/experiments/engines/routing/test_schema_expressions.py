"""The path expressions of schemas."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.routing.expression_automaton import expression_automaton
from experiments.engines.routing.label_paths import label_paths
from experiments.engines.routing.path_expression import (
    Either,
    Kind,
    Label,
    PathExpression,
    Repeat,
    Series,
    kind,
    parse_path_expression,
    render_expression,
)
from experiments.engines.routing.schema_expressions import path_expressions
from tests.analysis.schemas import graph, graphs, simple_graph
from tests.pattern.strategies import NAMESPACES
from tests.pattern.strategies import pattern as any_pattern
from twigcast.analysis import overlaps, schema_automaton
from twigcast.errors import PatternError
from twigcast.pattern import parse
from twigcast.schema import ElementGraph, read_dtd


def test_a_schema_without_recursion_has_one_expression_a_path() -> None:
    """Each expression is the path itself, as in the paper."""
    found = path_expressions(simple_graph({"a": "b c", "b": "d"}))
    assert sorted(map(str, found)) == ["/a", "/a/b", "/a/b/d", "/a/c"]


def test_recursion_is_a_repeated_part() -> None:
    """An element inside itself is written with the paper's plus."""
    found = path_expressions(simple_graph({"a": "b c", "b": "b"}))
    assert sorted(map(str, found)) == ["/a", "/a/b(|(/b)+)", "/a/c"]


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_the_expressions_write_exactly_the_label_paths(graph: ElementGraph) -> None:
    """Together they describe exactly the root-to-leaf paths of the schema, up to the depths tried here."""
    depth = 5
    written = {word for each in path_expressions(graph) for word in words(each, depth)}
    paths = {path for path in label_paths(graph, depth + 1) if len(path) <= depth}
    assert written == {tuple(graph.expanded(name) for name in path) for path in paths}


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_a_schema_and_its_expressions_overlap_alike(random: Random) -> None:
    """If all elements have valid trees, a schema and its expressions overlap the same subscriptions."""
    schema = graph(random)
    if len(schema.heights) < len(schema):
        return
    for _ in range(5):
        try:
            pattern = parse(any_pattern(random).ours, NAMESPACES)
        except PatternError:
            continue
        by_graph = overlaps(schema_automaton(schema), pattern)
        assert overlaps(expression_automaton(path_expressions(schema)), pattern) is by_graph


def test_expressions_are_read_back_from_their_text() -> None:
    """The text of an expression of a recursive schema parses to the same expression."""
    for each in path_expressions(simple_graph({"a": "b c", "b": "c a d", "c": "b"})):
        assert parse_path_expression(render_expression(each)) == each


def test_the_schemas_of_the_paper(data: Path) -> None:
    """NITF has about fifty times the expressions of PSD (reconstructed); the paper found 35 times as many."""
    psd = Counter(map(kind, path_expressions(read_dtd(data / "psd" / "psd7003-reconstructed.dtd"))))
    nitf = Counter(map(kind, path_expressions(read_dtd(data / "nitf" / "nitf-2-5.dtd"))))
    assert psd == {Kind.NON_RECURSIVE: 64}
    assert nitf == {Kind.NON_RECURSIVE: 83, Kind.SIMPLE: 177, Kind.EMBEDDED: 3114}


def words(expression: PathExpression, depth: int) -> set[tuple[tuple[str | None, str | None], ...]]:
    """The label paths that an expression describes, up to a depth: the naive definition."""
    match expression:
        case Label(test):
            return {(tuple(test),)} if depth else set()
        case Series(parts):
            found = {()}
            for part in parts:
                found = {
                    (*head, *tail)
                    for head in found
                    for tail in words(part, depth - min(map(len, found), default=0))
                    if len(head) + len(tail) <= depth
                }
            return found
        case Either(options):
            return {word for option in options for word in words(option, depth)}
        case Repeat(body):
            once = words(body, depth)
            found = set(once)
            while True:
                more = {(*a, *b) for a in found for b in once if len(a) + len(b) <= depth} - found
                if not more:
                    return found
                found |= more

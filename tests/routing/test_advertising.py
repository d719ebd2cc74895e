"""Advertisements made from schemas and from path expressions."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given, settings

from experiments.engines.routing.expression_automaton import advertisement_of
from experiments.engines.routing.path_expression import parse_path_expression
from tests.analysis.schemas import graphs, simple_graph
from twigcast.analysis import overlaps
from twigcast.errors import SchemaError
from twigcast.pattern import ANY, NameTest, parse
from twigcast.routing import advertisement
from twigcast.routing.advertising import Advertisement
from twigcast.schema import ElementDeclaration, ElementGraph, element_graph


def test_a_graph_has_a_position_for_each_element_below_its_root() -> None:
    """Elements that cannot be reached have no position; the first position is the document."""
    found = advertisement("x", simple_graph({"a": "b", "c": "a"}))
    assert found.automaton.tests == (ANY, NameTest("", "a"), NameTest("", "b"))
    assert found.automaton.follow == (0b10, 0b100, 0)


def test_roots_are_the_names_documents_start_with() -> None:
    """Different expressions may begin with different names."""
    found = advertisement_of("x", [parse_path_expression("/a/b"), parse_path_expression("(/c)+")])
    assert found.roots == (NameTest("", "a"), NameTest("", "c"))


def test_a_prefix_that_is_not_bound_admits_any_namespace() -> None:
    """If a schema does not say which namespace a prefix has, the overlap is assumed."""
    found = advertisement("x", element_graph([ElementDeclaration("p:a")]))
    assert found.roots == (NameTest(None, "a"),)
    assert overlaps(found.automaton, parse("/Q{urn:u}a"))
    assert not overlaps(found.automaton, parse("/b"))


def test_an_advertisement_of_nothing_is_refused() -> None:
    """An advertisement needs at least one expression that is not empty."""
    for expressions in ([], [parse_path_expression("")]):
        with pytest.raises(SchemaError, match="at least one path expression"):
            advertisement_of("x", expressions)


def test_branches_may_lie_on_different_expressions() -> None:
    """A twig overlaps if its branches, below one element, overlap different expressions."""
    paths = [parse_path_expression("/a/b/c"), parse_path_expression("/a/b/d")]
    assert overlaps(advertisement_of("x", paths).automaton, parse("/a/b[c]/d"))
    assert not any(overlaps(advertisement_of("x", [path]).automaton, parse("/a/b[c]/d")) for path in paths)


def test_expressions_keep_their_elements_apart() -> None:
    """Elements of the same name in different contexts have their own children."""
    found = advertisement_of("x", [parse_path_expression("/a/c/b"), parse_path_expression("/a/d/c/e")])
    assert overlaps(found.automaton, parse("/a/c/b"))
    assert not overlaps(found.automaton, parse("//c[b]/e"))
    assert not overlaps(found.automaton, parse("/a/c/e"))


@given(graphs())
@settings(max_examples=40, deadline=None)
def test_json_and_pickle_keep_an_advertisement(graph: ElementGraph) -> None:
    """An advertisement that is sent to another router arrives unchanged."""
    found = advertisement("x", graph)
    assert Advertisement.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert pickle.loads(pickle.dumps(found)) == found

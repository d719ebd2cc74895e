"""Advertisements, from schemas and from path expressions."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given, settings

from tests.analysis.schemas import graphs, simple_graph
from twigcast.analysis import overlaps, parse_path_expression
from twigcast.errors import SchemaError
from twigcast.pattern import ANY, NameTest, parse
from twigcast.routing import advertisement
from twigcast.routing.advertising import Advertisement
from twigcast.schema import Element, ElementGraph, element_graph


def test_a_graph_has_a_position_for_each_element_below_its_root() -> None:
    """Elements that cannot be reached are left out; the first position is the document."""
    found = advertisement("x", simple_graph({"a": "b", "c": "a"}))
    assert found.automaton.tests == (ANY, NameTest("", "a"), NameTest("", "b"))
    assert found.automaton.follow == (0b10, 0b100, 0)


def test_roots_are_the_names_documents_start_with() -> None:
    """Several expressions may start differently."""
    found = advertisement("x", [parse_path_expression("/a/b"), parse_path_expression("(/c)+")])
    assert found.roots == (NameTest("", "a"), NameTest("", "c"))


def test_a_prefix_that_is_not_bound_admits_any_namespace() -> None:
    """What a schema does not say is not held against a subscription."""
    found = advertisement("x", element_graph([Element("p:a")]))
    assert found.roots == (NameTest(None, "a"),)
    assert overlaps(found.automaton, parse("/Q{urn:u}a"))
    assert not overlaps(found.automaton, parse("/b"))


def test_an_advertisement_of_nothing_is_refused() -> None:
    """There must be an expression, and it must not be empty."""
    for expressions in ([], [parse_path_expression("")]):
        with pytest.raises(SchemaError, match="at least one path expression"):
            advertisement("x", expressions)


def test_branches_may_lie_on_different_expressions() -> None:
    """A twig overlaps if each of its branches does, below one element: that is why they are one value."""
    paths = [parse_path_expression("/a/b/c"), parse_path_expression("/a/b/d")]
    assert overlaps(advertisement("x", paths).automaton, parse("/a/b[c]/d"))
    assert not any(overlaps(advertisement("x", [path]).automaton, parse("/a/b[c]/d")) for path in paths)


def test_expressions_keep_their_elements_apart() -> None:
    """Elements of one name at different places have children of their own."""
    found = advertisement("x", [parse_path_expression("/a/c/b"), parse_path_expression("/a/d/c/e")])
    assert overlaps(found.automaton, parse("/a/c/b"))
    assert not overlaps(found.automaton, parse("//c[b]/e"))
    assert not overlaps(found.automaton, parse("/a/c/e"))


@given(graphs())
@settings(max_examples=40, deadline=None)
def test_json_and_pickle_keep_an_advertisement(graph: ElementGraph) -> None:
    """What is sent to another router is the same there."""
    found = advertisement("x", graph)
    assert Advertisement.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert pickle.loads(pickle.dumps(found)) == found

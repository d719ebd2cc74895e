"""Whether a document conforms to an advertised schema."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.routing.conformance import describes
from experiments.engines.routing.expression_automaton import expression_automaton
from experiments.engines.routing.path_expression import parse_path_expression
from tests.routing.overlay import any_document, graph, valid_document
from twigcast.analysis import schema_automaton
from twigcast.document import Document, Element, elements, read
from twigcast.schema import ElementGraph


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<a><b/></a>", True),
        (b"<a><b><c><d/><d><c/></d></c></b></a>", True),
        (b"<b/>", False),
        (b"<a><c/></a>", False),
        (b"<a><b><e/></b></a>", False),
    ],
)
def test_each_path_must_be_the_beginning_of_an_advertised_one(body: bytes, expected: bool) -> None:
    """A branch may end anywhere, but may continue only as advertised."""
    announced = expression_automaton([parse_path_expression("/a/b(/c/d)+/e")])
    assert describes(announced, body) is expected


def test_names_are_those_of_their_namespaces_and_entities_are_followed() -> None:
    """Prefixes make no difference; the elements of an entity are where its reference is."""
    announced = expression_automaton([parse_path_expression("/a/b")])
    assert not describes(announced, b"<a xmlns='urn:p'/>")
    assert not describes(announced, b"<!DOCTYPE a [<!ENTITY e '<c/>'>]><a>&e;</a>")
    assert describes(announced, b"<!DOCTYPE a [<!ENTITY e '<b/>'>]><a>&e;</a>")


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_schema_describes_what_it_admits(random: Random) -> None:
    """Each child is one that the declaration of its parent names."""
    schema = graph(random)
    announced = schema_automaton(schema)
    assert describes(announced, valid_document(random, schema))
    body = any_document(random)
    assert describes(announced, body) == admitted(schema, read(body))


def admitted(schema: ElementGraph, document: Document) -> bool:
    """The naive definition: check each element against the declaration of its parent."""

    def below(element: Element) -> bool:
        names = {child.name for child in schema.children(element.local)}
        return all(child.local in names and below(child) for child in elements(element))

    return document.root.local == schema.root and below(document.root)

"""The automaton of named places, against the schema tree."""

from __future__ import annotations

from random import Random

import pytest

from tests.rewriting.images import name, tree_of
from tests.rewriting.strategies import random_case
from twigcast.document import Element, elements, read
from twigcast.rewriting.labels import QName
from twigcast.rewriting.places import NamedPlace, named_places
from twigcast.rewriting.schema_tree import SchemaNode


def test_unnamed_places_are_told_apart_by_their_label_only() -> None:
    """The picture of the module: u leads back to x, and needs one state."""
    tree = tree_of("r(x(y, u(x)), z)")
    assert named_places(tree, ["r/x/y"]) == [
        NamedPlace(name("r"), "r", {name("x"): 1}),
        NamedPlace(name("x"), "r/x", {name("y"): 2, name("u"): 3}),
        NamedPlace(name("y"), "r/x/y"),
        NamedPlace(name("u"), None, {name("x"): 1}),
    ]


def test_attributes_have_their_keys() -> None:
    """Only those that are named."""
    places = named_places(tree_of("r(@a, @b)"), ["r/@b", "r/+made"])
    assert places == [NamedPlace(name("r"), "r", attributes={name("b"): "r/@b"})]


def test_a_tree_without_a_graph_has_places_too() -> None:
    """Its loops say what its elements contain."""
    tree = tree_of("r(x(y, u(x)))")
    tree.nodes()
    copy = tree.copy()
    copy.graph = None
    assert named_places(copy, ["r/x/y"]) == named_places(tree, ["r/x/y"])


@pytest.mark.parametrize("seed", range(80))
def test_the_automaton_finds_what_the_tree_finds(seed: int) -> None:
    """Each element of a document has the named place that its label path leads to in the schema tree."""
    case = random_case(Random(seed), 6, recursive=seed % 2 == 0)
    tree, places = case.mapping.source, case.mapping.places
    named = {place.key for place in places}
    waiting: list[tuple[Element, NamedPlace | None, SchemaNode | None]] = [
        (read(case.body).root, places[0], tree.root)
    ]
    while waiting:
        element, place, node = waiting.pop()
        key = node.key if node is not None and node.key in named else None
        assert (place.key if place else None) == key
        for child in elements(element):
            label = QName(child.namespace, child.local)
            state = place.children.get(label) if place else None
            below = places[state] if state is not None else None
            waiting.append((child, below, tree.child(node, label) if node else None))

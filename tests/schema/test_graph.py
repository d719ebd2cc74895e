"""The element graph: cardinalities, roots, recursion, heights."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings

from tests.analysis.schemas import graphs
from twigcast.errors import SchemaError
from twigcast.schema import (
    AttributeDeclaration,
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    Presence,
    Sequence,
    element_graph,
)
from twigcast.schema.graph import Cardinality


def element(name: str, *parts: Child | Sequence | Choice) -> ElementDeclaration:
    return (
        ElementDeclaration(name, ContentKind.ELEMENTS, Sequence(parts)) if parts else ElementDeclaration(name)
    )


def test_children_of_a_sequence_add_up() -> None:
    """A child that stands twice in a sequence is there twice, and without bound if one of them is."""
    graph = element_graph(
        [element("a", Child("b"), Child("c", 0, 1), Child("b", 1, None)), element("b"), element("c")]
    )
    assert graph.children("a") == (Cardinality("b", 2, None), Cardinality("c", 0, 1))


def test_children_of_a_choice_are_alternatives() -> None:
    """In a choice a child is there at least as often as in every alternative, at most as in one."""
    choice = Choice((Child("b"), Sequence((Child("b", 2, 2), Child("c")))))
    graph = element_graph([element("a", choice), element("b"), element("c")])
    assert graph.children("a") == (Cardinality("b", 1, 2), Cardinality("c", 0, 1))


def test_repeated_groups_multiply() -> None:
    """What stands in a repeated group is repeated with it."""
    graph = element_graph([element("a", Sequence((Child("b", 1, 2),), 2, 3)), element("b")])
    assert graph.children("a") == (Cardinality("b", 2, 6),)


def test_undeclared_children_are_left_out() -> None:
    """A name that is only mentioned is nobody's child."""
    assert element_graph([element("a", Child("b", 0, 1))]).children("a") == ()


def test_any_admits_every_element() -> None:
    """An element of any content has all declared elements as children."""
    graph = element_graph([ElementDeclaration("a", ContentKind.ANY), element("b")])
    assert [child.name for child in graph.children("a")] == ["a", "b"]


def test_roots_are_nobodys_children() -> None:
    """Roots stand in no other element; standing in themselves does not count."""
    graph = element_graph([element("b"), element("a", Child("a", 0, 1), Child("b")), element("c")])
    assert graph.roots == ("a", "c")


def test_the_root_is_the_one_with_most_below() -> None:
    """Of several roots the one that reaches most elements is chosen."""
    assert element_graph([element("c"), element("a", Child("b")), element("b")]).root == "a"


def test_an_any_element_is_not_chosen_as_root() -> None:
    """That an element admits everything does not make it the root."""
    assert (
        element_graph([ElementDeclaration("x", ContentKind.ANY), element("a", Child("b")), element("b")]).root
        == "a"
    )


def test_without_roots_the_first_element_is_chosen() -> None:
    """Where every element stands in another one, the first declared is the root."""
    assert element_graph([element("a", Child("b", 0, 1)), element("b", Child("a", 0, 1))]).root == "a"


def test_a_root_must_be_declared() -> None:
    """An unknown root is refused."""
    with pytest.raises(SchemaError, match="'b' is not a declared element"):
        element_graph([element("a")], "b")


def test_names_are_distinct() -> None:
    """Two elements of one name are refused."""
    with pytest.raises(SchemaError, match="twice"):
        ElementGraph((element("a"), element("a")), "a")


def test_recursion_goes_through_other_elements() -> None:
    """An element that can stand in itself, however far down, is recursive; one above the circle is not."""
    graph = element_graph(
        [element("r", Child("a")), element("a", Child("b", 0, 1)), element("b", Child("a", 0, 1))]
    )
    assert graph.recursive == {"a", "b"}
    assert graph.descendants["r"] == {"a", "b"}


def test_heights_are_the_shallowest() -> None:
    """Optional children cost nothing, of alternatives the shallowest counts, of a sequence the deepest."""
    graph = element_graph(
        [
            element("a", Child("b"), Child("c", 0, 1)),
            element("b", Choice((Child("c"), Child("d")))),
            element("c", Child("b")),
            element("d"),
        ]
    )
    assert graph.heights == {"a": 3, "b": 2, "c": 3, "d": 1}


def test_elements_that_need_themselves_have_no_height() -> None:
    """An element that cannot be finished is not in the heights, nor is one that needs it."""
    graph = element_graph(
        [element("a", Child("b")), element("b", Child("b")), element("c", Child("missing"))]
    )
    assert graph.heights == {}


def test_graphs_are_values() -> None:
    """Equal elements and root make equal graphs, also after pickling."""
    graph = element_graph([element("a", Child("b")), element("b")])
    assert graph.recursive == frozenset()
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert graph.rooted("b") != graph


@pytest.mark.parametrize(
    ("name", "namespaces", "declared", "expanded"),
    [
        ("a", (), (), ("", "a")),
        ("a", (("", "urn:u"),), (), ("urn:u", "a")),
        ("p:a", (("p", "urn:p"),), (), ("urn:p", "a")),
        ("p:a", (), (), (None, "a")),
        ("a", (), (AttributeDeclaration("xmlns", presence=Presence.FIXED, default="urn:u"),), ("urn:u", "a")),
        (
            "p:a",
            (),
            (AttributeDeclaration("xmlns:p", presence=Presence.FIXED, default="urn:p"),),
            ("urn:p", "a"),
        ),
        ("p:a", (), (AttributeDeclaration("xmlns:p"),), (None, "a")),
    ],
)
def test_names_are_expanded(
    name: str,
    namespaces: tuple[tuple[str, str], ...],
    declared: tuple[AttributeDeclaration, ...],
    expanded: tuple[str | None, str],
) -> None:
    """A prefix is bound by the graph or by an attribute with a fixed value; else its namespace is unknown."""
    graph = element_graph([ElementDeclaration(name, attributes=declared)], namespaces=namespaces)
    assert graph.expanded(name) == expanded


@settings(max_examples=200, deadline=None)
@given(graphs(tuple("abcdefg")))
def test_what_is_below_is_what_can_be_reached(graph: ElementGraph) -> None:
    """The numbers of descendants, and recursion, are those of a search from each element."""
    assert graph.reach == {name: len(below) for name, below in graph.descendants.items()}
    assert graph.recursive == {name for name, below in graph.descendants.items() if name in below}

"""Schema trees: places, loops, and keys that stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rewriting.images import name, tree_of
from twigcast.errors import MappingError, SchemaError
from twigcast.rewriting import Rename, SchemaTree, Upgrade, apply
from twigcast.rewriting.labels import QName
from twigcast.schema import ElementDeclaration, element_graph, read_dtd


def test_each_place_has_a_node() -> None:
    """An element that occurs at two places has two nodes, in preorder, attributes first."""
    tree = tree_of("r(a(@x, n), b*(n))")
    assert [node.key for node in tree.nodes()] == ["r", "r/a", "r/a/@x", "r/a/n", "r/b", "r/b/n"]


def test_cardinalities_are_shown() -> None:
    """Once is not shown; a choice makes its alternatives optional."""
    graph = read_dtd(b"<!ELEMENT r (a, b?, c*, d+, d, (e | f))>" + _leaves("abcdef"))
    tree = SchemaTree.of(graph)
    tree.nodes()
    assert [node.cardinality for node in tree.root.children] == ["", "?", "*", "{2,}", "?", "?"]


def test_an_inner_element_has_the_node_of_the_outer_one() -> None:
    """A child whose name is on the path to it is that ancestor's node."""
    tree = tree_of("r(block(p, media(block, caption)))")
    media = tree["r/block/media"]
    assert tree.child(media, name("block")) is tree["r/block"]
    assert tree.at(map(name, ["r", "block", "media", "block", "p"])) is tree["r/block/p"]
    assert tree.at(map(name, ["r", "media"])) is None
    assert len(tree.nodes()) == 5


def test_recursion_is_known_before_nodes_are_created() -> None:
    """A node says that it is recursive though nothing below it was asked for yet."""
    tree = tree_of("r(block(p, media(block, caption)))")
    assert tree["r/block"].is_recursive
    assert tree["r/block/media"].is_recursive
    assert not tree["r/block/media/caption"].is_recursive
    assert not tree.root.is_recursive


def test_a_node_is_found_after_nodes_above_it_were_renamed() -> None:
    """The key of a node that is created later is still its path in the source."""
    tree = tree_of("r(a(@x, b(c)))")
    apply(tree, Rename("r/a", name("z")))
    assert tree["r/a/b/c"].path_text == "r/z/b/c"
    assert tree["r/a/@x"].path_text == "r/z/@x"


def test_a_node_is_found_after_nodes_above_it_were_moved() -> None:
    """Moved nodes are expanded as in the source."""
    tree = tree_of("r(a(b(c(d))))")
    apply(tree, Upgrade("r/a", ("r/a/b",)))
    assert tree["r/a/b/c/d"].path_text == "r/b/c/d"


def test_a_path_through_a_loop_leads_to_the_outer_node() -> None:
    """There is one node, with one key."""
    tree = tree_of("r(block(media(block)))")
    assert tree["r/block/media/block"].key == "r/block"


def test_an_unknown_place_is_reported_with_what_is_there() -> None:
    """The error names the children that the nearest place has."""
    tree = tree_of("cmu(Course(@nr, Code))")
    with pytest.raises(MappingError, match="there is no 'cmu/Course/Titel'; 'cmu/Course' contains @nr, Code"):
        tree["cmu/Course/Titel"]
    with pytest.raises(MappingError, match="there is no 'mit'; the root is cmu"):
        tree["mit"]
    assert "cmu/Course/no name" not in tree


def test_a_copy_is_independent() -> None:
    """A change of the copy leaves the tree as it was, also in nodes that are created later."""
    tree = tree_of("r(a(b))")
    copy = tree.copy()
    apply(copy, Rename("r/a", name("z")))
    assert tree["r/a"].label == name("a")
    assert copy["r/a/b"] is not tree["r/a/b"]


def test_names_have_namespaces() -> None:
    """A prefix stands for its namespace; ``xml:lang`` has that of XML, and ``xmlns`` is no attribute."""
    tree = tree_of("p:r(@p:x, @xml:lang, @xmlns:p, q:a)")
    assert [node.key for node in tree.nodes()] == [
        "Q{urn:p}r",
        "Q{urn:p}r/@Q{urn:p}x",
        "Q{urn:p}r/@Q{http://www.w3.org/XML/1998/namespace}lang",
        "Q{urn:p}r/Q{urn:q}a",
    ]
    assert tree["Q{urn:p}r/Q{urn:q}a"].label == QName("urn:q", "a")


def test_a_prefix_without_a_namespace_is_refused() -> None:
    """The error names the element."""
    with pytest.raises(SchemaError, match="'z:a'"):
        SchemaTree.of(element_graph([ElementDeclaration("z:a")]))


def test_two_prefixes_of_one_namespace_are_one_place() -> None:
    """Elements with the same label at the same place have one node."""
    graph = read_dtd(b"<!ELEMENT r (i:a, j:a)><!ELEMENT i:a EMPTY><!ELEMENT j:a EMPTY>", "r")
    bound = element_graph(graph.elements, "r", [("i", "urn:u"), ("j", "urn:u")])
    assert [node.key for node in SchemaTree.of(bound).nodes()] == ["r", "r/Q{urn:u}a"]


@pytest.mark.data
def test_a_schema_with_more_places_than_memory_is_used_place_by_place(data: Path) -> None:
    """Only the nodes on the way are created."""
    tree = SchemaTree.of(read_dtd(data / "nitf" / "nitf-2-5.dtd"))
    assert tree["nitf/body/body.content/block/p"].is_recursive is False
    assert tree["nitf/body/body.content/block"].is_recursive
    assert len(tree.known) < 200


def _leaves(names: str) -> bytes:
    return "".join(f"<!ELEMENT {each} EMPTY>" for each in names).encode()


@pytest.mark.parametrize(("schema", "places"), [("r", 1), ("r(a(n), b(n))", 5), ("r(a(b(a)), b(a))", 5)])
def test_places_are_counted_without_creating_them(schema: str, places: int) -> None:
    """The inner one of two elements that contain each other is not another place."""
    tree = tree_of(schema)
    assert tree.has_more_places_than(places - 1)
    assert not tree.has_more_places_than(places)
    assert len(tree.known) == 1
    assert len(tree.nodes()) == places

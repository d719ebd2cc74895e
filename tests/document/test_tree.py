"""The small tree: string-values, descendants, and paths for people."""

from __future__ import annotations

import pytest

from twigcast.document import Element, Node, descendants, elements, node_path, read, string_value

DOCUMENT = read(b"<a x='1'>t<b>u<c/></b><!-- --><b>v</b>w</a>")


def test_the_string_value_of_an_element_is_all_its_text() -> None:
    """Text at any depth, in document order; comments are none of it."""
    assert string_value(DOCUMENT.root) == "tuvw"
    assert string_value(DOCUMENT) == "tuvw"
    assert string_value(DOCUMENT.root.attributes[0]) == "1"
    assert string_value(DOCUMENT.root.children[0]) == "t"


def test_elements_and_descendants_are_in_document_order() -> None:
    """Children, and everything below."""
    assert [each.local for each in elements(DOCUMENT.root)] == ["b", "b"]
    assert [each.local for each in descendants(DOCUMENT)] == ["a", "b", "c", "b"]


def test_a_path_tells_people_where_a_node_is() -> None:
    """Numbers stand where a name is not the only one."""
    root = DOCUMENT.root
    t, first, comment, second, w = root.children
    assert isinstance(first, Element)
    nodes: list[Node] = [DOCUMENT, root, root.attributes[0], t, first, first.children[1], comment, second, w]
    assert [node_path(node) for node in nodes] == [
        "/",
        "/a",
        "/a/@x",
        "/a/text()[1]",
        "/a/b[1]",
        "/a/b[1]/c",
        "/a/comment()",
        "/a/b[2]",
        "/a/text()[2]",
    ]


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (DOCUMENT, "Document(43 bytes)"),
        (DOCUMENT.root, "Element(/a)"),
        (DOCUMENT.root.attributes[0], "Attribute(/a/@x='1')"),
        (DOCUMENT.root.children[0], "Text('t')"),
    ],
)
def test_nodes_show_what_they_are(node: Node, text: str) -> None:
    """A node is short to look at, whatever is below it."""
    assert repr(node) == text

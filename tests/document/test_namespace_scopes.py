"""What a prefix is bound to at an element is what its ancestors declare."""

from __future__ import annotations

import pytest

from twigcast.document import Document, Element, descendants, read

NESTED = (
    b"<a xmlns:p='u'><b xmlns:p='v'><c/></b><d xmlns:p='w'/><e xmlns='x'><f xmlns=''><g/></f></e><h/></a>"
)


def element(document: Document, name: str) -> Element:
    return next(each for each in descendants(document) if each.local == name)


@pytest.mark.parametrize(
    ("name", "prefix", "inherited", "bound"),
    [
        ("a", "p", None, "u"),
        ("b", "p", None, "v"),
        ("c", "p", "v", "v"),
        ("d", "p", None, "w"),
        ("e", "p", "u", "u"),
        ("e", "", None, "x"),
        ("f", "", None, None),
        ("g", "", None, None),
        ("h", "", None, None),
        ("h", "p", "u", "u"),
        ("h", "q", None, None),
    ],
)
def test_a_binding_lasts_from_its_declaration_to_the_end_of_the_element(
    name: str, prefix: str, inherited: str | None, bound: str | None
) -> None:
    """An inner declaration hides an outer one, which is back after it; an empty one takes it away."""
    document = read(NESTED)
    order = element(document, name).order
    assert document.namespaces.inherited(prefix, order) == inherited
    assert document.namespaces.bound(prefix, order) == bound


def test_documents_without_declarations_have_no_scopes() -> None:
    """The prefix ``xml`` is bound everywhere and is not listed."""
    assert not read(b"<a xml:lang='en' xmlns:xml='http://www.w3.org/XML/1998/namespace'/>").namespaces
    assert read(NESTED).namespaces.prefixes == {"p"}

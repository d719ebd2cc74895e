"""The compiled rewriter with schemas that have more places than a plan can have."""

from __future__ import annotations

import pytest

from twigcast.document import read
from twigcast.filtering import Index
from twigcast.pattern import matches, parse
from twigcast.rewriting import Mapping, Rename, SchemaTree, ToElement
from twigcast.rewriting.labels import QName
from twigcast.rewriting.operators import InsertAll
from twigcast.schema import (
    AttributeDeclaration,
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    element_graph,
)

NAMES = [f"e{number}" for number in range(10)]


def entangled() -> SchemaTree:
    """Ten elements, each of which can contain all others: ten million places."""
    model = Choice(tuple(map(Child, NAMES)), 0, None)
    elements = [
        ElementDeclaration(each, ContentKind.MIXED, model, (AttributeDeclaration("k"),)) for each in NAMES
    ]
    return SchemaTree.of(element_graph(elements, "e0"))


OPERATORS = (
    Rename("e0/e1", QName("", "one")),
    Rename("e0/e1/e2", QName("", "two")),
    ToElement("e0/e1/e2/@k", QName("", "key")),
    InsertAll("e0/e1", (QName("", "all"),)),
)
BODY = (
    b"<e0><e1><e3><e4><e5><e6><e1><e2 k='7'><e9><e8><e2 k='8'>x</e2></e8></e9></e2></e1></e6></e5></e4></e3>"
    b"</e1><e2 k='9'><e1/></e2></e0>"
)
PATTERNS = [
    *("//one", "//two", "//key", "//all", "//e1", "//e2", "//two[key=7]", "//two[key=8]", "//key[.=9]"),
    *(
        "//e6/one/all/two",
        "//e4/e5",
        "//e8/two[text()='x']",
        "/e0/e2[@k=9]/e1",
        "//e3/e4/e5/e6",
        "//e9/*/two",
    ),
    *("/e0/one/all/e3//e6/one", "/e0/e2/one", "//e8[two/key]"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_elements_between_named_places_keep_their_names(pattern: str) -> None:
    """Answers are those of the tree, with the source schema and with the canonical text alone."""
    mapping = Mapping("m", entangled(), OPERATORS)
    expected = matches(parse(pattern), mapping.apply(read(BODY)))
    index = Index()
    index.add("it", pattern)
    for each in (mapping, Mapping.parse("m", mapping.canonical)):
        assert index.match(BODY, rewriting=each).ids == (["it"] if expected else [])

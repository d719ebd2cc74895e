"""Element graphs observed in documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from twigcast.document import DocumentLimits
from twigcast.errors import DocumentError, SchemaError
from twigcast.pattern import parse
from twigcast.schema import AttributeDeclaration, AttributeKind, ContentKind, Presence
from twigcast.schema.graph import Cardinality
from twigcast.workload import (
    SchemaInference,
    generate_documents,
    generate_subscriptions,
    infer,
    presets,
)


def test_children_with_the_numbers_seen() -> None:
    """A child missing somewhere is optional, one seen twice may be repeated, in the order seen."""
    graph = infer([b"<a><b/><c/><c/></a>", b"<a><b/><d/></a>"])
    assert graph.root == "a"
    assert graph.children("a") == (Cardinality("b", 1, 1), Cardinality("c", 0, None), Cardinality("d", 0, 1))


def test_content_is_what_was_seen() -> None:
    """Text, elements, both and neither are told apart; white space is not text."""
    graph = infer([b"<a>\n<b>x</b> <c>y<d/></c></a>"])
    contents = {element.name: element.content for element in graph}
    assert contents == {
        "a": ContentKind.ELEMENTS,
        "b": ContentKind.MIXED,
        "c": ContentKind.MIXED,
        "d": ContentKind.EMPTY,
    }


def test_attributes_with_their_values() -> None:
    """Attributes are required if always there; few values are an enumeration, most frequent first."""
    graph = infer([b"<a><b x='1' y='q'/><b x='2'/><b x='2'/></a>"])
    assert graph["b"].attributes == (
        AttributeDeclaration("x", AttributeKind.ENUMERATION, Presence.REQUIRED, ("2", "1")),
        AttributeDeclaration("y", AttributeKind.ENUMERATION, Presence.IMPLIED, ("q",)),
    )


def test_many_values_are_examples() -> None:
    """An attribute of many values admits others, and keeps examples."""
    graph = infer([f"<a x='{number}'/>".encode() for number in range(50)])
    assert graph["a"].attributes[0].kind is AttributeKind.CDATA
    assert "49" in graph["a"].attributes[0].values


def test_short_texts_are_examples() -> None:
    """Short texts are kept as values, of long ones the words."""
    graph = infer(
        [
            b"<a><b>Ada &amp; Co</b><b>x</b><b>x</b><c>"
            + b"several words in a long sentence " * 3
            + b"</c></a>"
        ]
    )
    assert graph["b"].values == ("x", "Ada & Co")
    assert set(graph["c"].values) == {"several", "words", "long", "sentence"}


def test_the_root_is_the_most_frequent_one() -> None:
    """Of several document elements the most frequent is the root."""
    assert infer([b"<a/>", b"<b/>", b"<b/>"]).root == "b"


@pytest.mark.parametrize(
    ("body", "root", "namespaces"),
    [
        (b"<p:a xmlns:p='urn:p'/>", "p:a", (("p", "urn:p"),)),
        (b"<a xmlns='urn:d'/>", "a", (("", "urn:d"),)),
        (b"<a><b xmlns='urn:d'/></a>", "a", (("ns", "urn:d"),)),
        (b"<p:a xmlns:p='urn:1'><p:b xmlns:p='urn:2'/></p:a>", "p:a", (("p", "urn:1"), ("p2", "urn:2"))),
        (b"<a xmlns:q='urn:q' q:x='1' xml:lang='en'/>", "a", (("q", "urn:q"),)),
        (b"<a xmlns='urn:d' xmlns:q='urn:d' q:x='1'/>", "q:a", (("q", "urn:d"),)),
    ],
)
def test_namespaces_have_prefixes(body: bytes, root: str, namespaces: tuple[tuple[str, str], ...]) -> None:
    """Each namespace has one prefix, that of the documents where it can be."""
    graph = infer([body])
    assert graph.root == root
    assert graph.namespaces == namespaces
    assert etree.fromstring(next(generate_documents(graph, 1))).tag == etree.fromstring(body).tag


@pytest.mark.parametrize(
    ("body", "code", "line"),
    [
        (b"<a>\n<b></a>", "malformed", 2),
        (b"<a>\n", "truncated", 2),
        (b"", "empty", 1),
        (b" ", "empty", 1),
        (b"<a>\n\xff</a>", "encoding", 2),
        (b"<a>\n&nobody;</a>", "undeclared-entity", 2),
        (b"<a><p:b/></a>", "namespace", 1),
    ],
)
def test_bad_documents_are_refused_with_their_code_and_place(body: bytes, code: str, line: int) -> None:
    """A document that cannot be read is the error that it is anywhere."""
    with pytest.raises(DocumentError) as caught:
        infer([b"<a/>", body])
    assert (caught.value.code, caught.value.line) == (code, line)


def test_no_documents_are_refused() -> None:
    """Nothing can be inferred from nothing."""
    with pytest.raises(SchemaError, match="no document"):
        infer([])


@pytest.mark.data
def test_medline(data: Path) -> None:
    """Subscriptions inferred from MEDLINE are in the language and often match its records."""
    bodies = [path.read_bytes() for path in sorted((data / "medline").glob("*.xml"))[:60]]
    texts = list(generate_subscriptions(infer(bodies), 1000, presets.VALUES))
    nodes = [etree.fromstring(body) for body in bodies[:10]]
    matching = sum(etree.XPath(f"boolean({text})")(node) for text in texts for node in nodes)
    assert all(parse(text) for text in texts)
    assert 0.05 < matching / len(texts) / len(nodes) < 0.5


def test_a_document_that_is_too_large_is_refused() -> None:
    """Before it is parsed."""
    with pytest.raises(DocumentError, match=r"limit bytes: 8") as error:
        infer([b"<a/>", b"<a>\x00 </a>"], DocumentLimits(bytes=8))
    assert error.value.code == "too-large"


def test_what_cannot_be_read_leaves_no_trace() -> None:
    """The graph is that of the other documents."""
    inference = SchemaInference()
    inference.add(b"<a><b/></a>")
    with pytest.raises(DocumentError):
        inference.add(b"<a><c/></b>")
    assert [element.name for element in inference.graph()] == ["a", "b"]

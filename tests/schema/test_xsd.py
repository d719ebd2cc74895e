"""XML Schemas read as element graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast.errors import SchemaError
from twigcast.schema import (
    AttributeDeclaration,
    AttributeKind,
    Child,
    Choice,
    ContentKind,
    ElementGraph,
    Presence,
    Sequence,
)
from twigcast.schema.xsd import read_xsd

pytest.importorskip("xmlschema")


def schema(body: str, attributes: str = "") -> bytes:
    return f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" {attributes}>{body}</xs:schema>'.encode()


def typed(content: str, name: str = "a", attributes: str = "") -> str:
    return f'<xs:element name="{name}"><xs:complexType {attributes}>{content}</xs:complexType></xs:element>'


def graph_of(body: str, attributes: str = "") -> ElementGraph:
    return read_xsd(schema(body, attributes))


@pytest.mark.parametrize(
    ("content", "model"),
    [
        ('<xs:sequence><xs:element name="b"/></xs:sequence>', Sequence((Child("b"),))),
        (
            '<xs:sequence><xs:element name="b" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>',
            Sequence((Child("b", 0, None),)),
        ),
        (
            '<xs:choice maxOccurs="3"><xs:element name="b"/><xs:element name="c"/></xs:choice>',
            Choice((Child("b"), Child("c")), 1, 3),
        ),
        (
            '<xs:all><xs:element name="b"/><xs:element name="c" minOccurs="0"/></xs:all>',
            Sequence((Child("b"), Child("c", 0, 1))),
        ),
        ('<xs:sequence><xs:element name="b" minOccurs="0" maxOccurs="0"/></xs:sequence>', None),
    ],
)
def test_content_models(content: str, model: object) -> None:
    """Sequences, choices and occurrences are kept; what may not occur is left out."""
    assert graph_of(typed(content))["a"].model == model


@pytest.mark.parametrize(
    ("declared", "content"),
    [
        (typed(""), ContentKind.EMPTY),
        (typed('<xs:sequence><xs:element name="b"/></xs:sequence>'), ContentKind.ELEMENTS),
        (
            typed('<xs:sequence><xs:element name="b"/></xs:sequence>', attributes='mixed="true"'),
            ContentKind.MIXED,
        ),
        (typed('<xs:sequence><xs:any processContents="lax"/></xs:sequence>'), ContentKind.ANY),
        ('<xs:element name="a" type="xs:string"/>', ContentKind.MIXED),
        ('<xs:element name="a"/>', ContentKind.ANY),
    ],
)
def test_content(declared: str, content: ContentKind) -> None:
    """Text alone is mixed content without elements; a wildcard, or no type at all, is any content."""
    assert graph_of(declared)["a"].content is content


@pytest.mark.parametrize(
    ("declared", "attribute"),
    [
        ('name="x"', AttributeDeclaration("x")),
        ('name="x" type="xs:string" use="required"', AttributeDeclaration("x", presence=Presence.REQUIRED)),
        ('name="x" type="xs:ID"', AttributeDeclaration("x", AttributeKind.ID)),
        ('name="x" type="xs:NMTOKENS"', AttributeDeclaration("x", AttributeKind.NMTOKENS)),
        (
            'name="x" type="xs:string" default="1"',
            AttributeDeclaration("x", presence=Presence.DEFAULT, default="1"),
        ),
        (
            'name="x" type="xs:string" fixed="1"',
            AttributeDeclaration("x", presence=Presence.FIXED, default="1"),
        ),
    ],
)
def test_attributes(declared: str, attribute: AttributeDeclaration) -> None:
    """Kind, presence and default of attributes are kept."""
    assert graph_of(typed(f"<xs:attribute {declared}/>"))["a"].attributes == (attribute,)


def test_enumerations_are_values() -> None:
    """The values that a simple type lists are those of the attribute or of the element's text."""
    values = '<xs:enumeration value="u"/><xs:enumeration value="v"/>'
    simple = f'<xs:simpleType><xs:restriction base="xs:string">{values}</xs:restriction></xs:simpleType>'
    graph = graph_of(
        typed(
            f'<xs:sequence><xs:element name="b">{simple}</xs:element></xs:sequence>'
            f'<xs:attribute name="x">{simple}</xs:attribute>'
        )
    )
    assert graph["b"].values == ("u", "v")
    assert graph["a"].attributes == (AttributeDeclaration("x", AttributeKind.ENUMERATION, values=("u", "v")),)


def test_one_name_with_two_types_admits_both() -> None:
    """Local elements of one name become one element, whose contents are alternatives."""
    one = typed('<xs:sequence><xs:element name="c"/></xs:sequence>', "b")
    other = typed('<xs:sequence><xs:element name="d"/></xs:sequence>', "b")
    graph = graph_of(
        typed(
            f"<xs:sequence>{typed(f'<xs:sequence>{one}</xs:sequence>', 'p')}"
            f"{typed(f'<xs:sequence>{other}</xs:sequence>', 'q')}</xs:sequence>"
        )
    )
    assert graph["b"].model == Choice((Sequence((Child("c"),)), Sequence((Child("d"),))))


def test_recursive_types_are_read_once() -> None:
    """A type that contains itself makes a recursive element."""
    inside = '<xs:sequence><xs:element name="a" type="T" minOccurs="0"/></xs:sequence>'
    graph = graph_of(f'<xs:element name="a" type="T"/><xs:complexType name="T">{inside}</xs:complexType>')
    assert graph.recursive == {"a"}


def test_substitution_groups_are_choices() -> None:
    """Where an abstract element is asked for, those that can stand for it are admitted."""
    graph = graph_of(
        typed('<xs:sequence><xs:element ref="b" maxOccurs="unbounded"/></xs:sequence>')
        + '<xs:element name="b" abstract="true" type="xs:string"/>'
        + '<xs:element name="c" substitutionGroup="b"/><xs:element name="d" substitutionGroup="b"/>'
    )
    assert graph["a"].model == Sequence((Choice((Child("c"), Child("d")), 1, None),))
    assert "b" not in graph


def test_one_namespace_needs_no_prefix() -> None:
    """Elements that are all of one namespace are written without a prefix, which is bound to it."""
    body = typed('<xs:sequence><xs:element name="b"/></xs:sequence>')
    graph = graph_of(body, 'targetNamespace="urn:t" elementFormDefault="qualified"')
    assert graph.namespaces == (("", "urn:t"),)
    assert graph.expanded("b") == ("urn:t", "b")


def test_several_namespaces_have_prefixes() -> None:
    """Unqualified local elements have none, global ones the schema's own prefix."""
    body = typed('<xs:sequence><xs:element name="b"/></xs:sequence>')
    graph = graph_of(body, 'targetNamespace="urn:t" xmlns:t="urn:t"')
    assert [element.name for element in graph] == ["t:a", "b"]
    assert graph.expanded("t:a") == ("urn:t", "a")
    assert graph.expanded("b") == ("", "b")


def test_the_root_is_a_global_element() -> None:
    """Without a root it is the global element that stands in no other; any other one can be asked for."""
    body = typed('<xs:sequence><xs:element ref="b"/></xs:sequence>') + typed("", "b")
    assert graph_of(body).root == "a"
    assert read_xsd(schema(body), "b").root == "b"


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"<a", "is not XML"),
        (b"<a/>", "is not an XML Schema"),
        (schema(""), "declares no element"),
        (schema('<xs:elment name="a"/>'), "is not an XML Schema"),
        (schema('<xs:element name="a" type="T"/>'), "unknown type"),
        (schema('<xs:include schemaLocation="other.xsd"/>'), "refers to other.xsd"),
        (schema('<xs:import namespace="u" schemaLocation="http://example.org/x"/>'), "example.org"),
    ],
)
def test_refusals(body: bytes, complaint: str) -> None:
    """What is no schema, or needs another file, is refused with the reason."""
    with pytest.raises(SchemaError, match=complaint):
        read_xsd(body)


def test_a_missing_file_is_named() -> None:
    """A file that cannot be read is named."""
    with pytest.raises(SchemaError, match=r"nowhere\.xsd"):
        read_xsd("nowhere.xsd")


def test_the_schemas_of_the_course_catalogues(data: Path) -> None:
    """THALIA's schemas are read."""
    graphs = [read_xsd(path) for path in sorted((data / "thalia").glob("*.xsd"))]
    assert [graph.root for graph in graphs] == ["asu", "brown", "cmu", "gatech", "toronto", "ucsd", "umd"]


def doubling(count: int) -> bytes:
    """Groups of which each refers twice to the one before."""
    groups = '<xs:group name="g0"><xs:sequence><xs:element name="b" minOccurs="0"/></xs:sequence></xs:group>'
    for n in range(1, count):
        twice = f'<xs:group ref="g{n - 1}"/>' * 2
        groups += f'<xs:group name="g{n}"><xs:sequence>{twice}</xs:sequence></xs:group>'
    root = (
        f'<xs:element name="a"><xs:complexType><xs:group ref="g{count - 1}"/></xs:complexType></xs:element>'
    )
    return f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{groups}{root}</xs:schema>'.encode()


def content(model: str) -> bytes:
    return (
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="h"/>'
        + "".join(f'<xs:element name="s{n}" substitutionGroup="h"/>' for n in range(400))
        + f'<xs:element name="a"><xs:complexType>{model}</xs:complexType></xs:element></xs:schema>'
    ).encode()


def with_groups(count: int) -> bytes:
    """So many types, each with a group of so many attributes."""
    group = "".join(f'<xs:attribute name="k{n}"/>' for n in range(count))
    text = f'<xs:attributeGroup name="g">{group}</xs:attributeGroup><xs:element name="a" type="t0"/>'
    for n in range(count):
        text += f'<xs:complexType name="t{n}"><xs:attributeGroup ref="g"/></xs:complexType>'
    return f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{text}</xs:schema>'.encode()


def extended(count: int) -> bytes:
    """So many types, each of which adds an attribute to those of the one before."""
    text = '<xs:complexType name="t0"/><xs:element name="a" type="t0"/>'
    for n in range(1, count):
        extension = f'<xs:extension base="t{n - 1}"><xs:attribute name="k{n}"/></xs:extension>'
        text += (
            f'<xs:complexType name="t{n}"><xs:complexContent>{extension}</xs:complexContent></xs:complexType>'
        )
    return f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{text}</xs:schema>'.encode()


@pytest.mark.parametrize(
    "body",
    [
        doubling(31),
        content("<xs:choice>" + "".join(f'<xs:element name="b{n}"/>' for n in range(3000)) + "</xs:choice>"),
        content("<xs:sequence>" + '<xs:element ref="h"/>' * 400 + "</xs:sequence>"),
        with_groups(350),
        extended(500),
        b" " * (17 << 20),
    ],
    ids=["groups", "choice", "substitutes", "attributes", "extensions", "bytes"],
)
def test_a_schema_that_would_grow_too_large_is_refused(body: bytes) -> None:
    """Its size is computed without expanding it; the message names the limit."""
    with pytest.raises(SchemaError, match=r"SchemaLimits\.\w+") as error:
        read_xsd(body)
    assert error.value.code == "too-complex"


@pytest.mark.parametrize(
    "model",
    [
        "<xs:sequence>" * 20 + '<xs:element name="b"/>' + "</xs:sequence>" * 20,
        "<xs:sequence>" * 100 + '<xs:element name="b"/>' + "</xs:sequence>" * 100,
        '<xs:sequence><xs:element name="b"><xs:simpleType><xs:restriction base="xs:string">'
        '<xs:pattern value="a{99999999999999}"/></xs:restriction></xs:simpleType></xs:element></xs:sequence>',
    ],
    ids=["deep", "deeper", "pattern"],
)
def test_every_error_of_the_library_is_a_schema_error(model: str) -> None:
    """Also those that are no XMLSchemaException of its parser."""
    with pytest.raises(SchemaError):
        read_xsd(content(model))


def test_occurrences_are_numbers_only() -> None:
    """A billion of them cost nothing."""
    model = '<xs:sequence><xs:element name="b" minOccurs="1000000000" maxOccurs="1000000000"/></xs:sequence>'
    assert read_xsd(content(model), "a").children("a")[0].least == 10**9

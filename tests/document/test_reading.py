"""From bytes to the small tree: nodes, byte ranges, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from twigcast.document import (
    Attribute,
    DocumentLimits,
    Element,
    Node,
    Text,
    descendants,
    elements,
    read,
    string_value,
)
from twigcast.errors import DocumentError


def written(body: bytes, node: Node) -> bytes:
    return body[node.start : node.end]


def refusal(body: bytes, limits: DocumentLimits | None = None) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        read(body, limits or DocumentLimits())
    return caught.value


def test_elements_have_names_attributes_and_children_in_order() -> None:
    """The tree is what the tags say."""
    root = read(b"<a x='1'>t<b/>u<c y='2' z='3'/></a>").root
    assert (root.namespace, root.local) == ("", "a")
    assert [(each.local, each.value) for each in root.attributes] == [("x", "1")]
    text, b, more, c = root.children
    assert isinstance(text, Text)
    assert isinstance(more, Text)
    assert isinstance(b, Element)
    assert isinstance(c, Element)
    assert (text.value, b.local, more.value, c.local) == ("t", "b", "u", "c")
    assert [each.local for each in c.attributes] == ["y", "z"]
    assert b.parent is root


def test_names_carry_namespaces() -> None:
    """Prefixes become URIs; attributes without prefix have none; declarations are no attributes."""
    root = read(b"<a xmlns='u' xmlns:p='v' p:x='1' y='2' xml:lang='en'><p:b xmlns=''><c/></p:b></a>").root
    assert [(each.namespace, each.local) for each in (root, *descendants(root))] == [
        ("u", "a"),
        ("v", "b"),
        ("", "c"),
    ]
    assert [(each.namespace, each.local) for each in root.attributes] == [
        ("v", "x"),
        ("", "y"),
        ("http://www.w3.org/XML/1998/namespace", "lang"),
    ]


@pytest.mark.parametrize(
    ("inside", "texts"),
    [
        (b"x&amp;y", ["x&y"]),
        (b"x<![CDATA[<y>]]>z", ["x<y>z"]),
        (b"x&#65;&e;y", ["xA5y"]),
        (b"x<!-- c -->y", ["x", "y"]),
        (b"x<?pi?>y", ["x", "y"]),
        (b"<b/>x<b/>", ["x"]),
        (b"&m;", ["x", "y"]),
        (b"0&m;1", ["0x", "y1"]),
        (b"<![CDATA[]]>", []),
        (b"\r\n", ["\n"]),
        (b"x" * 100_000, ["x" * 100_000]),
    ],
)
def test_character_data_that_touches_is_one_text(inside: bytes, texts: list[str]) -> None:
    """Whether plain, CDATA or from an entity; comments and instructions part it."""
    body = b"<!DOCTYPE a [<!ENTITY e '5'><!ENTITY m 'x<b/>y'>]><a>" + inside + b"</a>"
    assert [child.value for child in read(body).root.children if isinstance(child, Text)] == texts


@pytest.mark.parametrize(
    ("body", "ranges"),
    [
        (b"<a><b>x</b></a>", [b"<a><b>x</b></a>", b"<b>x</b>", b"x"]),
        (b"<a><b/></a>\n", [b"<a><b/></a>", b"<b/>"]),
        (b"<a><b></b ></a >", [b"<a><b></b ></a >", b"<b></b >"]),
        (b"<a><b/>&amp;</a>", [b"<a><b/>&amp;</a>", b"<b/>", b"&amp;"]),
        (b"<a><b/><b/></a>", [b"<a><b/><b/></a>", b"<b/>", b"<b/>"]),
        (b"<a>x<![CDATA[y]]>z<!---->w</a>", [b"<a>x<![CDATA[y]]>z<!---->w</a>", b"x<![CDATA[y]]>z", b"w"]),
        (b"<a><![CDATA[y]]></a>", [b"<a><![CDATA[y]]></a>", b"<![CDATA[y]]>"]),
        (b"<a x = '1'  y=\"/>\" ><b z='&lt;'/></a>", None),
        (b"<a xmlns:p='u' p:x='1' xmlns='v' y='2'/>", None),
    ],
)
def test_ranges_are_what_was_written(body: bytes, ranges: list[bytes] | None) -> None:
    """An element goes from its first to its last angle bracket, text from its first to its last byte."""
    document = read(body)
    nodes: list[Node] = []
    for element in descendants(document):
        nodes += [element, *[child for child in element.children if isinstance(child, Text)]]
    if ranges is not None:
        assert [written(body, node) for node in sorted(nodes, key=lambda node: node.order)] == ranges
    for element in descendants(document):
        for attribute in element.attributes:
            name, _, value = written(body, attribute).partition(b"=")
            assert name.strip().endswith(attribute.local.encode())
            assert value.strip()[1:-1].replace(b"&lt;", b"<") == attribute.value.encode()


def test_what_an_entity_brings_in_is_where_it_is_referred_to() -> None:
    """Elements, attributes and text from an entity have the range of the reference."""
    body = b"<!DOCTYPE a [<!ENTITY m 'x<b c=\"1\">y</b>z'>]><a>0&m;1<d/>&m;</a>"
    root = read(body).root
    first, b, last, d, *_ = root.children
    assert isinstance(b, Element)
    assert [written(body, node) for node in (first, b, b.attributes[0], b.children[0], last, d)] == [
        b"0&m;",
        b"&m;",
        b"&m;",
        b"&m;",
        b"&m;1",
        b"<d/>",
    ]


def test_a_default_attribute_is_where_the_tag_is() -> None:
    """What the internal subset adds is not written anywhere in the element."""
    body = b"<!DOCTYPE a [<!ATTLIST a d CDATA 'v'>]><a x='1'>y</a>"
    x, d = read(body).root.attributes
    assert (d.local, d.value) == ("d", "v")
    assert (written(body, x), written(body, d)) == (b"x='1'", b"<a x='1'>")


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "iso-8859-1", "windows-1252"]
)
def test_ranges_hold_in_every_encoding(encoding: str) -> None:
    """Whatever the width of characters, the bytes of a range decode to what was written."""
    declared = {"utf-8-sig": "utf-8", "utf-16-le": "utf-16", "utf-16-be": "utf-16"}.get(encoding, encoding)
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    text = f"<?xml version='1.0' encoding='{declared}'?><é ü='>é' y = '2'>é<b/>é<c>x</c></é>"
    body = (mark + text).encode(encoding)
    root = read(body).root
    decoder = encoding.removesuffix("-sig") if "16" not in encoding else encoding
    if encoding == "utf-16":
        decoder = f"utf-16-{'le' if sys.byteorder == 'little' else 'be'}"
    nodes = [root, *root.attributes, *root.children]
    assert [written(body, node).decode(decoder) for node in nodes] == [
        text[text.index("<é") :],
        "ü='>é'",
        "y = '2'",
        "é",
        "<b/>",
        "é",
        "<c>x</c>",
    ]


def test_order_is_document_order() -> None:
    """An element comes before its attributes, and those before its children."""
    document = read(b"<a x='1' y='2'>t<b z='3'/>u</a>")
    root = document.root
    t, b, u = root.children
    assert isinstance(b, Element)
    nodes: list[Node] = [document, root, *root.attributes, t, b, *b.attributes, u]
    assert [node.order for node in nodes] == list(range(len(nodes)))


@pytest.mark.parametrize(
    ("body", "code", "line", "column"),
    [
        (b"", "empty", 1, 1),
        (b" \n ", "empty", 2, 2),
        (b"\xef\xbb\xbf", "empty", 1, 2),
        (b"<a>", "truncated", 1, 4),
        (b"<a>\n<b>", "truncated", 2, 4),
        (b"<a><b", "truncated", 1, 4),
        (b"<a><!-- x", "truncated", 1, 4),
        (b"<a><![CDATA[x", "truncated", 1, 14),
        (b"<a>\xc3", "truncated", 1, 4),
        (b"<!DOCTYPE a [", "truncated", 1, 14),
        (b"<a></b>", "malformed", 1, 6),
        (b"<a/><b/>", "malformed", 1, 5),
        (b"<a x='1' x='2'/>", "malformed", 1, 10),
        (b"<a x=1/>", "malformed", 1, 6),
        (b"<a>&#0;</a>", "malformed", 1, 4),
        (b"<a>\x01</a>", "malformed", 1, 4),
        (b"text", "malformed", 1, 1),
        (b"{}", "malformed", 1, 1),
        (b"\x00\x01\x02", "malformed", 1, 1),
        (b"<a>\xff</a>", "encoding", 1, 4),
        (b"<a>caf\xe9</a>", "encoding", 1, 7),
        (b"<?xml version='1.0' encoding='nowhere'?><a/>", "encoding", 1, 31),
        (b"<?xml version='1.0' encoding='iso2022_jp'?><a/>", "encoding", 1, 31),
        (b"<?xml version='1.0' encoding='utf-16'?><a/>", "encoding", 1, 31),
        (b"<p:a/>", "namespace", 1, 1),
        (b"<a p:x='1'/>", "namespace", 1, 1),
        (b"<a xmlns:p=''/>", "namespace", 1, 1),
        (b"<a xmlns:xml='urn:x'/>", "namespace", 1, 1),
        (b"<a>&e;</a>", "undeclared-entity", 1, 4),
        (b"<!DOCTYPE a SYSTEM 'x.dtd'><a>&e;</a>", "undeclared-entity", 1, 31),
        (b"<!DOCTYPE a SYSTEM 'x.dtd'><a x='&e;'/>", "undeclared-entity", 1, 28),
        (b"<!DOCTYPE a [<!ENTITY e SYSTEM 'f'>]><a>&e;</a>", "external-entity", 1, 41),
        (b"<!DOCTYPE a [<!ENTITY e SYSTEM 'f'>]><a x='&e;'/>", "external-entity", 1, 44),
        (b"<!DOCTYPE a [<!ENTITY e '&e;'>]><a>&e;</a>", "entity-expansion", 1, 25),
    ],
)
def test_what_is_no_document_is_refused_where_it_goes_wrong(
    body: bytes, code: str, line: int, column: int
) -> None:
    """An error has a stable code, and line and column from 1."""
    error = refusal(body)
    assert (error.code, error.line, error.column) == (code, line, column)
    assert 0 <= error.offset <= len(body)


def test_nothing_external_is_read(tmp_path: Path) -> None:
    """A DTD or entity elsewhere is never opened, and a document that does not need it is read."""
    secret = tmp_path / "secret"
    secret.write_text("<!ENTITY e 'secret'>")
    body = f"<!DOCTYPE a SYSTEM '{secret.as_uri()}'><a>x</a>".encode()
    assert string_value(read(body)) == "x"
    body = f"<!DOCTYPE a [<!ENTITY % p SYSTEM '{secret.as_uri()}'> %p;]><a>&e;</a>".encode()
    assert refusal(body).code == "undeclared-entity"
    body = f"<!DOCTYPE a [<!ENTITY e SYSTEM '{secret.as_uri()}'>]><a>&e;</a>".encode()
    assert refusal(body).code == "external-entity"


def test_entities_that_explode_are_refused() -> None:
    """A billion laughs are refused long before they are expanded."""
    laughs = "".join([f"<!ENTITY e{i} '{f'&e{i - 1};' * 10}'>" for i in range(1, 10)])
    body = f"<!DOCTYPE a [<!ENTITY e0 '{'ha' * 20}'>{laughs}]><a>&e9;</a>".encode()
    assert refusal(body).code == "entity-expansion"


def test_entities_that_grow_beyond_the_limit_are_refused() -> None:
    """The bound on growth can be set."""
    body = b"<!DOCTYPE a [<!ENTITY e '" + b"x" * 100 + b"'>]><a>" + b"&e;" * 100 + b"</a>"
    assert len(string_value(read(body))) == 10_000
    assert (
        refusal(body, DocumentLimits(amplification=2.0, amplification_threshold=1000)).code
        == "entity-expansion"
    )


@pytest.mark.parametrize(
    ("body", "limits", "code", "offset"),
    [
        (b"<a>xxxxxxxxxx</a>", DocumentLimits(bytes=10), "too-large", 10),
        (b"<a><a><a/></a></a>", DocumentLimits(depth=2), "too-deep", 6),
        (b"<a><b x='1' y='2'/></a>", DocumentLimits(attributes=1), "too-many-attributes", 3),
    ],
)
def test_a_document_beyond_a_limit_is_refused(
    body: bytes, limits: DocumentLimits, code: str, offset: int
) -> None:
    """Bytes, depth and attributes of one element are bounded."""
    error = refusal(body, limits)
    assert (error.code, error.offset) == (code, offset)
    assert read(body)


def test_a_document_at_the_limit_is_read() -> None:
    """A thousand levels are not too deep."""
    assert len(list(descendants(read(b"<a>" * 1000 + b"</a>" * 1000)))) == 1000
    assert refusal(b"<a>" * 1001 + b"</a>" * 1001).code == "too-deep"


@pytest.mark.data
def test_published_documents_are_read(data: Path) -> None:
    """Real documents are read, and every range lies within that of its parent."""
    files = [*sorted(data.glob("nitf/documents/*"))[:20], *sorted(data.glob("newsml-g2/*.xml"))]
    files += sorted(data.glob("medline/*.xml"))[:20]
    assert files
    for file in files:
        body = file.read_bytes()
        document = read(body)
        for element in descendants(document):
            assert body[element.start : element.start + 1] == b"<"
            assert body[element.end - 1 : element.end] == b">"
            inside: list[Attribute | Element | Text] = [*element.attributes, *element.children]
            assert all(element.start < node.start < node.end < element.end for node in inside)


def test_comments_and_instructions_are_nodes_with_their_bytes() -> None:
    """Also outside the root, but not inside the DTD; one from an entity has the range of the reference."""
    doctype = b"<!DOCTYPE a [<!--no--><?no?><!ENTITY e '<!--in--><?p in?>'>]>"
    body = b"<!--x-->" + doctype + b"<a>s<!---->&e;<?p  q ?></a><?z?>"
    document = read(body)
    before, root, after = document.children
    assert isinstance(root, Element)
    found = [before, *[child for child in root.children if not isinstance(child, Text)], after]
    assert [(type(each).__name__, string_value(each)) for each in found] == [
        ("Comment", "x"),
        ("Comment", ""),
        ("Comment", "in"),
        ("Instruction", "in"),
        ("Instruction", "q "),
        ("Instruction", ""),
    ]
    ranges = [body[each.start : each.end] for each in found]
    assert ranges == [b"<!--x-->", b"<!---->", b"&e;", b"&e;", b"<?p  q ?>", b"<?z?>"]
    assert [each.order for each in found] == sorted(each.order for each in found)


def test_elements_and_attributes_know_their_prefixes() -> None:
    """As the document writes them; a default namespace has none."""
    root = read(b"<p:a xmlns:p='u' xmlns='v' p:x='' y='' xml:lang=''><b/></p:a>").root
    assert (root.prefix, [each.prefix for each in root.attributes]) == ("p", ["p", "", "xml"])
    (child,) = elements(root)
    assert (child.namespace, child.prefix) == ("v", "")

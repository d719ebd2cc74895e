"""DTDs read as element graphs."""

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
    Presence,
    Sequence,
    read_dtd,
)


@pytest.mark.parametrize(
    ("model", "particle"),
    [
        ("(b)", Child("b")),
        ("(b?)", Child("b", 0, 1)),
        ("(b*)", Child("b", 0, None)),
        ("(b)+", Child("b", 1, None)),
        ("(b, c, d)", Sequence((Child("b"), Child("c"), Child("d")))),
        ("(b | c | d)?", Choice((Child("b"), Child("c"), Child("d")), 0, 1)),
        (
            "(b, (c | d)*, b?)",
            Sequence((Child("b"), Choice((Child("c"), Child("d")), 0, None), Child("b", 0, 1))),
        ),
        ("(b, (c, d)?)", Sequence((Child("b"), Sequence((Child("c"), Child("d")), 0, 1)))),
        ("((b, c) | d)", Choice((Sequence((Child("b"), Child("c"))), Child("d")))),
        ("(b, (c, d))", Sequence((Child("b"), Sequence((Child("c"), Child("d")))))),
        ("((b | c)+)?", Choice((Child("b"), Child("c")), 0, None)),
        ("(EMPTY | ANY)", Choice((Child("EMPTY"), Child("ANY")))),
    ],
)
def test_content_models(model: str, particle: object) -> None:
    """Sequences, choices and occurrences are kept; a group of one part is that part."""
    graph = read_dtd(f"<!ELEMENT a {model}><!ELEMENT b EMPTY><!ELEMENT c EMPTY><!ELEMENT d EMPTY>".encode())
    assert graph["a"].content is ContentKind.ELEMENTS
    assert graph["a"].model == particle


def test_long_choices_do_not_recurse() -> None:
    """A choice of thousands of names, a list leaning right, is read."""
    names = [f"e{number}" for number in range(3000)]
    declarations = "".join(f"<!ELEMENT {name} EMPTY>" for name in names)
    graph = read_dtd(f"<!ELEMENT a ({'|'.join(names)})*>{declarations}".encode())
    assert len(graph.children("a")) == 3000


@pytest.mark.parametrize(
    ("declared", "content", "children"),
    [
        ("EMPTY", ContentKind.EMPTY, []),
        ("ANY", ContentKind.ANY, ["a", "b"]),
        ("(#PCDATA)", ContentKind.MIXED, []),
        ("(#PCDATA | b | a)*", ContentKind.MIXED, ["b", "a"]),
    ],
)
def test_other_content(declared: str, content: ContentKind, children: list[str]) -> None:
    """Empty, any and mixed content are told apart."""
    graph = read_dtd(f"<!ELEMENT a {declared}><!ELEMENT b EMPTY>".encode(), "a")
    assert graph["a"].content is content
    assert [child.name for child in graph.children("a")] == children


@pytest.mark.parametrize(
    ("declared", "attribute"),
    [
        ("x CDATA #IMPLIED", AttributeDeclaration("x")),
        ("x ID #REQUIRED", AttributeDeclaration("x", AttributeKind.ID, Presence.REQUIRED)),
        ("x IDREFS #IMPLIED", AttributeDeclaration("x", AttributeKind.IDREFS)),
        ("x NMTOKEN 'n'", AttributeDeclaration("x", AttributeKind.NMTOKEN, Presence.DEFAULT, (), "n")),
        ("x CDATA #FIXED '1'", AttributeDeclaration("x", AttributeKind.CDATA, Presence.FIXED, (), "1")),
        (
            "x (b | a) 'a'",
            AttributeDeclaration("x", AttributeKind.ENUMERATION, Presence.DEFAULT, ("b", "a"), "a"),
        ),
        ("xml:lang CDATA #IMPLIED", AttributeDeclaration("xml:lang")),
        (
            "x CDATA '&#60;&#38;&amp;'",
            AttributeDeclaration("x", AttributeKind.CDATA, Presence.DEFAULT, (), "<&&"),
        ),
        ("x ENTITIES #IMPLIED", AttributeDeclaration("x", AttributeKind.ENTITY)),
    ],
)
def test_attributes(declared: str, attribute: AttributeDeclaration) -> None:
    """Kind, presence, values and default of attributes are kept, prefixes too."""
    assert read_dtd(f"<!ATTLIST a {declared}><!ELEMENT a EMPTY>".encode())["a"].attributes == (attribute,)


def test_attributes_are_sorted() -> None:
    """Attributes stand in the order of their names."""
    graph = read_dtd(b"<!ELEMENT a EMPTY><!ATTLIST a c CDATA #IMPLIED b CDATA #IMPLIED d CDATA #IMPLIED>")
    assert [attribute.name for attribute in graph["a"].attributes] == ["b", "c", "d"]


def test_parameter_entities_are_expanded() -> None:
    """Declarations written with parameter entities are read like others."""
    graph = read_dtd(
        b'<!ENTITY % inline "b | c"><!ELEMENT a (%inline;)*><!ELEMENT b EMPTY><!ELEMENT c EMPTY>'
    )
    assert [child.name for child in graph.children("a")] == ["b", "c"]


@pytest.mark.parametrize(
    ("model", "children"),
    [
        ("(a:x, b:x)", ["a:x", "b:x"]),
        ("(x, b:x)", ["x", "b:x"]),
        ("(b:x | a:x)*", ["b:x", "a:x"]),
        ("(#PCDATA | b:x | x)*", ["b:x", "x"]),
        ("(b:y, (q:x | a:x)?)", ["b:y", "q:x", "a:x"]),
    ],
)
def test_prefixes_are_part_of_names(model: str, children: list[str]) -> None:
    """Names of a content model are those of the text, whatever else has the same local name."""
    declared = "".join(f"<!ELEMENT {name} EMPTY>" for name in ("a:x", "b:x", "x", "b:y", "q:x"))
    graph = read_dtd(f"<!ELEMENT q:r {model}>{declared}".encode(), "q:r")
    assert [child.name for child in graph.children("q:r")] == children


def test_a_file_is_read(tmp_path: Path) -> None:
    """A DTD can be given as the path of its file, with a root."""
    path = tmp_path / "a.dtd"
    path.write_text("<!ELEMENT a (b)><!ELEMENT b EMPTY>")
    assert read_dtd(path).root == "a"
    assert read_dtd(str(path), "b").root == "b"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<!ELEMENT a (b,c>\n", "',' or '\\)' expected at line 1, column 17$"),
        (b"<!ELEMENT b EMPTY>\n<!ELEMENT a (b,>", "a name or '\\(' expected at line 2, column 16$"),
        (b"<!ELEMENT a (#PCDATA|(b))>", "a name expected at line 1, column 22$"),
        (b"<!ELEMENT a>", "EMPTY, ANY or '\\(' expected at line 1, column 12$"),
        (b"<!ELEMENT a EMPTY b>", "'>' expected at line 1, column 19$"),
        (b"<!ELEMENT a (b", "',', '|' or '\\)' expected at line 1, column 15$"),
        (b"<a/>", "a declaration expected at line 1, column 1$"),
        (b"<!ATTLIST a b>", "syntax error at line 1, column 14$"),
        (b"<!ELEMENT a EMPTY>\n\xff", "invalid token.* at line 2, column 1$"),
        (b"", "declares no element"),
        (b"\xff\xfe\x00", "is not a DTD"),
    ],
)
def test_what_is_not_a_dtd_is_refused_with_its_place(body: bytes, message: str) -> None:
    """A DTD that does not parse is refused with line and column."""
    with pytest.raises(SchemaError, match=message):
        read_dtd(body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<!ELEMENT a (b %u;)><!ELEMENT b EMPTY>", id="in a model"),
        pytest.param(b"<!ELEMENT a EMPTY>%u;", id="between declarations"),
        pytest.param(b"<!ENTITY % m 'b %u; , c'><!ELEMENT a (%m;)>", id="in an entity"),
        pytest.param(b"<!ENTITY % m '%u;'><!ELEMENT a EMPTY><!ENTITY % u 'x'>", id="before its declaration"),
        pytest.param(b"<!ELEMENT a EMPTY><!ATTLIST a k CDATA 'x&u;'>", id="in a default"),
        pytest.param(
            b"<!ENTITY % d \"<!ENTITY g '&#38;u;'><!ATTLIST a k CDATA '&#38;g;'>\"><!ELEMENT a EMPTY>%d;",
            id="in an entity of a default in an entity",
        ),
    ],
)
def test_a_reference_without_a_declaration_is_refused(body: bytes) -> None:
    """What it stands for is not known; to leave it out would change what documents may contain."""
    with pytest.raises(SchemaError, match=r"refers to [%&]u; at line 1, column \d+: no entity of this name"):
        read_dtd(body)


def test_an_element_that_is_declared_twice_is_refused() -> None:
    """With the place of the second declaration."""
    with pytest.raises(SchemaError, match=r"declares element a again at line 2, column 11$"):
        read_dtd(b"<!ELEMENT a EMPTY>\n<!ELEMENT a (b)>")


def test_of_two_declarations_of_an_attribute_the_first_counts() -> None:
    """As in XML."""
    body = b"<!ELEMENT a EMPTY><!ATTLIST a k CDATA 'x'><!ATTLIST a k ID #REQUIRED m (y) #IMPLIED>"
    assert [(each.name, each.default) for each in read_dtd(body)["a"].attributes] == [("k", "x"), ("m", None)]


@pytest.mark.parametrize(
    ("switch", "children"), [("INCLUDE", ["b", "c"]), ("IGNORE", ["c"]), ("%on;", ["b", "c"])]
)
def test_conditional_sections(switch: str, children: list[str]) -> None:
    """What is included counts, what is ignored does not, also if an entity says so."""
    body = f"""<!ENTITY % on "INCLUDE"><!ENTITY % extra "">
        <![{switch}[<!ENTITY % extras "b, "><![IGNORE[ <!ELEMENT b ( ]]>]]>
        <!ENTITY % extras ""><!ELEMENT a (%extras; c)><!ELEMENT b EMPTY><!ELEMENT c EMPTY>"""
    assert [child.name for child in read_dtd(body.encode(), "a").children("a")] == children


@pytest.mark.parametrize(
    "text",
    [
        "<![INCLUDE[%d;]]>",
        "<![ INCLUDE\n[<!-- ']]>' --><?pi ]]>?><!ENTITY % x ']]>'>%d;]]>",
        "<!ENTITY % on ' INCLUDE '><![%on;[<![%on;[%d;]]><![IGNORE[<![%on;[]]> ' ]]>]]>",
        "<!ENTITY % s '<!ENTITY &#37; on &#34;INCLUDE&#34;>'>%s;<!ENTITY % on 'IGNORE'><![%on;[ %d; ]]>",
        "<!ENTITY % on 'INCLUDE'><![%on;[%d;<!ENTITY % in 'INCLUDE'>]]><![%in;[<![%on;[%d;]]>]]>",
        "<!ENTITY % off 'IGNORE'><![%off;[%d; <!ELEMENT b (]]>%d;",
    ],
)
def test_entities_with_declarations_in_conditional_sections(text: str) -> None:
    """Expat alone refuses them where the section is included."""
    declarations = "<!ENTITY % d '<!ATTLIST a k CDATA #IMPLIED>'>"
    graph = read_dtd(f"{declarations}<!ELEMENT a EMPTY>{text}".encode())
    assert [each.name for each in graph["a"].attributes] == ["k"]


def test_places_in_conditional_sections() -> None:
    """Those of the text, although the sections are taken away for expat."""
    with pytest.raises(SchemaError, match=r"'\)' expected at line 3, column 15$"):
        read_dtd(b"<!ENTITY % h ''><![INCLUDE\n[%h;\n<!ELEMENT a (b>]]>")


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-8-sig", ""),
        ("utf-16", ""),
        ("utf-16-le", ""),
        ("utf-16", "utf-16"),
        ("iso-8859-1", "iso-8859-1"),
        ("cp1252", "windows-1252"),
        ("gb18030", "gb18030"),
    ],
)
def test_encodings(encoding: str, declared: str) -> None:
    """A DTD is read in the encodings of documents; long names in them are one name."""
    name = "é" * 3000
    text = f"<?xml encoding='{declared}'?>" if declared else ""
    graph = read_dtd(f"{text}<!ELEMENT a (p:{name}, b)><!ELEMENT p:{name} EMPTY>".encode(encoding), "a")
    assert [child.name for child in graph.children("a")] == [f"p:{name}"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<?xml encoding='unicode_escape'?><!ELEMENT a EMPTY>", "its encoding 'unicode_escape' is unknown"),
        (b"<?xml encoding='gb2312'?>\n<!-- \xff -->", r"not gb2312 at line 2, column 6$"),
    ],
)
def test_bytes_that_cannot_be_read_as_text_are_refused(body: bytes, message: str) -> None:
    """The encoding is named, and the place."""
    with pytest.raises(SchemaError, match=message):
        read_dtd(body)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """A file that is not there is a schema error that names it."""
    with pytest.raises(SchemaError, match=r"missing\.dtd cannot be read"):
        read_dtd(tmp_path / "missing.dtd")


def test_external_entities_are_not_read(tmp_path: Path) -> None:
    """A DTD that refers to another file is refused, and the file not opened."""
    other = tmp_path / "other.ent"
    other.write_text("<!ELEMENT b EMPTY>")
    body = f'<!ENTITY % other SYSTEM "{other}">%other;<!ELEMENT a (b)>'
    with pytest.raises(SchemaError, match=r"other\.ent: external entities are not read"):
        read_dtd(body.encode())

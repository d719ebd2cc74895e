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
    SchemaLimits,
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
    ],
)
def test_content_models(model: str, particle: object) -> None:
    """Sequences, choices and occurrences are kept; chains of one connector are flat."""
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


def test_prefixes_are_part_of_names() -> None:
    """A DTD knows prefixes only as parts of names; in a model the parent's own prefix goes first."""
    graph = read_dtd(b"<!ELEMENT p:a (p:b, q:c)><!ELEMENT q:b EMPTY><!ELEMENT p:b EMPTY><!ELEMENT q:c EMPTY>")
    assert [child.name for child in graph.children("p:a")] == ["p:b", "q:c"]


def test_a_file_is_read(tmp_path: Path) -> None:
    """A DTD can be given as the path of its file, with a root."""
    path = tmp_path / "a.dtd"
    path.write_text("<!ELEMENT a (b)><!ELEMENT b EMPTY>")
    assert read_dtd(path).root == "a"
    assert read_dtd(str(path), "b").root == "b"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<!ELEMENT a (b,c>\n", "expected at line 1, column 17"),
        (b"<!ELEMENT b EMPTY>\n<!ELEMENT a (b,>", "expected at line 2, column 16"),
        (b"<a/>", "line 1, column 1"),
        (b"", "declares no element"),
        (b"\xff\xfe\x00", "is not a DTD"),
    ],
)
def test_what_is_not_a_dtd_is_refused_with_its_place(body: bytes, message: str) -> None:
    """A DTD that does not parse is refused with line and column."""
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


def doubling(first: str) -> str:
    """Parameter entities of which each refers twice to the one before."""
    return f"<!ENTITY % p0 '{first}'>" + "".join(
        f"<!ENTITY % p{n} '%p{n - 1};%p{n - 1};'>" for n in range(1, 31)
    )


@pytest.mark.parametrize(
    "text",
    [
        doubling("b,") + "<!ELEMENT a (%p30; b)>",
        doubling(" ") + "%p30;<!ELEMENT a EMPTY>",
        f"<!ELEMENT a {'(' * 100_000}b{')' * 100_000}>",
    ],
    ids=["model", "declarations", "depth"],
)
def test_a_bomb_is_refused(text: str) -> None:
    """libxml2 bounds expansion and depth."""
    with pytest.raises(SchemaError):
        read_dtd(text.encode())


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (f"<!ELEMENT a ({','.join(['b'] * 60_000)})>", "particles"),
        (f"<!ELEMENT a (#PCDATA|{'|'.join(f'b{n}' for n in range(60_000))})*>", "particles"),
        ("".join(f"<!ELEMENT a{n} EMPTY>" for n in range(10_001)), "elements"),
        (" " * (17 << 20), "bytes"),
    ],
    ids=["sequence", "mixed", "elements", "bytes"],
)
def test_a_dtd_that_is_too_large_is_refused(text: str, limit: str) -> None:
    """The message names the limit."""
    with pytest.raises(SchemaError, match=rf"SchemaLimits\.{limit}") as error:
        read_dtd(text.encode())
    assert error.value.code == "too-complex"


def test_a_limit_can_be_raised() -> None:
    """Also lowered."""
    text = b"<!ELEMENT a (b, c)><!ELEMENT b EMPTY>"
    assert len(read_dtd(text, limits=SchemaLimits(elements=2))) == 2
    with pytest.raises(SchemaError):
        read_dtd(text, limits=SchemaLimits(elements=1))

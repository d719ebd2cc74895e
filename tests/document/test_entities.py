"""Entities nest to a bounded depth, and a reference that leads nowhere is found."""

from __future__ import annotations

import pytest

from twigcast.document import RecordSplitter, read
from twigcast.document.entities import EntityTable
from twigcast.errors import DocumentError
from twigcast.filtering import Index


def chain(length: int, *, backwards: bool = False) -> bytes:
    """The declarations of entities e1 … each of which refers to the one before."""
    numbers = range(length, 0, -1) if backwards else range(1, length + 1)
    return b"<!ENTITY e0 'x'>" + b"".join(b"<!ENTITY e%d '&e%d;'>" % (n, n - 1) for n in numbers)


def verdicts(body: bytes) -> tuple[str | None, str | None]:
    """The error codes of both readers for a document."""
    try:
        read(body)
        code = None
    except DocumentError as error:
        code = error.code
    error_of_kernel = Index([("id", "//a")]).match(body).error
    return code, error_of_kernel.code if error_of_kernel else None


def test_the_height_does_not_depend_on_the_order_of_declarations() -> None:
    """An entity is one higher than those that it refers to, even if they are declared later."""
    for order in ([1, 2, 3], [3, 2, 1], [2, 3, 1], [2, 1, 3]):
        table = EntityTable(3)
        assert all(table.declare(f"e{n}", f"&e{n - 1};") for n in order)
        assert not table.declare("e4", "x &e3; y")


def test_a_chain_that_grows_above_the_limit_is_refused_wherever_it_grows() -> None:
    """The last declaration may be at the bottom, in the middle or at the top of the chain."""
    for last in (1, 2, 3, 4):
        table = EntityTable(3)
        others = [n for n in (1, 2, 3, 4) if n != last]
        assert all(table.declare(f"e{n}", f"&e{n - 1};") for n in others)
        assert not table.declare(f"e{last}", f"&e{last - 1};")


def test_the_first_declaration_counts() -> None:
    """As in XML, an entity that is declared again keeps its first value."""
    table = EntityTable(2)
    table.declare("a", "x")
    table.declare("a", "&missing;")
    assert table.undeclared("&a; &amp; &#38; & ;") is None


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    "use", [b"]><a>&e%d;</a>", b"]><a x='&e%d;'/>", b"<!ATTLIST a x CDATA '&e%d;'>]><a/>", b"]><a>%d</a>"]
)
def test_a_long_chain_of_entities_is_refused_by_both_readers(use: bytes, backwards: bool) -> None:
    """Expat would overflow the stack on it."""
    body = b"<!DOCTYPE a [" + chain(30_000, backwards=backwards) + use % 30_000
    assert verdicts(body) == ("entity-expansion", "entity-expansion")


@pytest.mark.parametrize("root", [b"<r>&e%d;<a/></r>", b"<r x='&e%d;'><a/></r>"])
def test_a_long_chain_of_entities_around_records_is_refused(root: bytes) -> None:
    """The splitter of records expands entities too."""
    splitter = RecordSplitter("a")
    records = list(splitter.feed(b"<!DOCTYPE r [" + chain(30_000) + b"]>" + root % 30_000))
    records += splitter.finish()
    codes = [record.error.code for record in records if record.error is not None]
    assert codes == ["entity-expansion"]


def test_a_chain_within_the_limit_is_read() -> None:
    """Up to 64 entities may refer to each other."""
    body = b"<!DOCTYPE a [" + chain(63) + b"]><a>&e63;</a>"
    assert verdicts(body) == (None, None)


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE a SYSTEM 'd'><a b='&x;'/>",
        b"<!DOCTYPE a [<!ENTITY % p SYSTEM 'd'>%p;]><a b='&x;'/>",
        b"<!DOCTYPE a [<!ENTITY % p 'q'>%p;]><a b='1' c='&lt;&x;'/>",
        b"<!DOCTYPE a SYSTEM 'd' [<!ENTITY e '&x;'>]><a b='&e;'/>",
        b"<!DOCTYPE a SYSTEM 'd' [<!ENTITY e '<b c=\"&x;\"/>'>]><a>&e;</a>",
        b"<!DOCTYPE a SYSTEM 'd' [<!ATTLIST a b CDATA '&x;'>]><a/>",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_an_undeclared_entity_in_an_attribute_is_an_error(body: bytes, encoding: str) -> None:
    """Expat drops it without a word if it has not read the whole DTD, and [@b=''] would match."""
    assert verdicts(body.decode().encode(encoding)) == ("undeclared-entity", "undeclared-entity")


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-8", ""),
        ("utf-16", ""),
        ("utf-16-le", " encoding='UTF-16'"),
        ("utf-16-be", " encoding='UTF-16'"),
        ("latin-1", " encoding='ISO-8859-1'"),
        ("cp1252", " encoding='windows-1252'"),
    ],
)
@pytest.mark.parametrize("doctype", ["<!DOCTYPE a [{}]>", "<!DOCTYPE a SYSTEM 'd' [{}]>"])
@pytest.mark.parametrize("name", ["e", "é", "éà"])
def test_a_declared_entity_in_an_attribute_is_read_in_every_encoding(
    encoding: str, declared: str, doctype: str, name: str
) -> None:
    """The name of an entity is compared by its characters, not by its bytes."""
    doctype = doctype.format(f"<!ENTITY {name} 'v'><!ATTLIST a d CDATA '&{name};'>")
    body = f"<?xml version='1.0'{declared}?>{doctype}<a b='&{name};&lt;'/>".encode(encoding)
    assert [attribute.value for attribute in read(body).root.attributes] == ["v<", "v"]
    assert Index([("id", "//a[@b='v<'][@d='v']")]).match(body).ids == ["id"]


def test_a_name_beyond_the_first_plane_is_compared_by_its_characters() -> None:
    """A character of UTF-16 may take two units."""
    body = "<!DOCTYPE a SYSTEM 'd' [<!ENTITY 𐀀 'v'>]><a b='&𐀀;'/>".encode("utf-16")
    assert verdicts(body) == verdicts(body.decode("utf-16").encode())

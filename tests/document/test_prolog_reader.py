"""What stands before the root element, and the namespaces that start tags declare."""

from __future__ import annotations

import sys

import pytest

from twigcast.document import PrologReader, TagReader
from twigcast.errors import DocumentError

DOCTYPE = b'<!DOCTYPE a [<!ENTITY u "v"><!-- ]> --><!ATTLIST a xmlns:d CDATA "dd">]>'


def read(body: bytes, size: int) -> PrologReader:
    reader = PrologReader()
    blocks = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
    for block in blocks[:-1]:
        if reader.feed(block):
            return reader
    assert reader.feed(blocks[-1], final=True)
    return reader


@pytest.mark.parametrize("size", [1, 5, 10_000])
@pytest.mark.parametrize(
    ("prolog", "text", "codec"),
    [
        (b"", b"", "utf_8"),
        (b'\xef\xbb\xbf<?xml version="1.0"?>\n', b"", "utf_8"),
        (b"<!-- <a> --> <?p <a> ?>", b"", "utf_8"),
        (b'<?xml version="1.0" encoding="iso-8859-1"?>', None, "latin_1"),
        (b"<!-- x -->" + DOCTYPE + b" <!-- y -->", DOCTYPE, "utf_8"),
        (b'<!DOCTYPE a SYSTEM "x>.dtd" >', None, "utf_8"),
        (b'<!DOCTYPE a PUBLIC "x" "y">\n<?p?>', b'<!DOCTYPE a PUBLIC "x" "y">', "utf_8"),
    ],
)
def test_the_prolog_ends_where_the_root_begins(
    prolog: bytes, text: bytes | None, codec: str, size: int
) -> None:
    """However the bytes come; a part needs the document type and the encoding of it, if they matter."""
    reader = read(prolog + b"<a><b/></a>", size)
    assert reader.root == len(prolog)
    assert reader.text == (prolog if text is None else text)
    assert reader.codec == codec


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"<!-- -->", "truncated"),
        (b"<a", "truncated"),
        (b"x<a/>", "malformed"),
        (b"<!DOCTYPE a [<!X>]><a/>", "malformed"),
        (b'<?xml version="1.0" encoding="nowhere"?><a/>', "encoding"),
        (b'<?xml version="1.0" encoding="utf-16"?><a/>', "encoding"),
    ],
)
def test_a_prolog_that_cannot_be_read(body: bytes, code: str) -> None:
    """The error is expat's."""
    with pytest.raises(DocumentError) as failed:
        read(body, 3)
    assert failed.value.code == code


def test_what_follows_the_root_tag_is_not_judged() -> None:
    """That is for the scanner."""
    assert read(b"<a><b></a>", 100).root == 0


@pytest.mark.parametrize("size", [100_000, 1 << 30])
def test_a_long_start_tag_is_parsed_again_only_when_it_has_doubled(size: int) -> None:
    """expat begins again with an incomplete tag each time, so blocks of one size would be quadratic."""

    def parses(length: int) -> int:
        count = 0

        def note(frame: object, event: str, called: object) -> None:
            nonlocal count
            count += event == "c_call" and getattr(called, "__name__", "") == "Parse"

        sys.setprofile(note)
        try:
            assert read(b"<a b='" + b"x" * length + b"'><c/></a>", size).root == 0
        finally:
            sys.setprofile(None)
        return count

    one, two, four = (parses(length) for length in (1 << 20, 1 << 21, 1 << 22))
    assert two <= one + 2
    assert four <= two + 2


def test_declarations_are_resolved() -> None:
    """With entities and defaults of the document type; values are normalised."""
    tags = TagReader(DOCTYPE, "utf_8")
    assert tags.read(b"a", b' xmlns="&u;" xmlns:p="x\ty&#65;"') == (
        "a",
        (("", "v"), ("p", "x yA"), ("d", "dd")),
    )
    assert tags.read(b"p:b", b"") == ("p:b", ())
    plain = TagReader(b"", "latin_1")
    assert plain.read(b"\xe9", b"") == ("é", ())
    with pytest.raises(DocumentError):
        TagReader(b"", "utf_8").read(b"\xe9", b"")
    with pytest.raises(DocumentError):
        plain.read(b"a", b' xmlns="&missing;"')

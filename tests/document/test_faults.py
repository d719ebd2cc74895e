"""Expat's errors: our codes, expat's sentences."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from xml.parsers import expat
from xml.parsers.expat import errors

import pytest

from tests.oracles.path_decisions import PathDecisions
from twigcast import Index
from twigcast.document import Keep, Projector, document_codec, document_error, faults, line_and_column, read
from twigcast.errors import DocumentError


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (errors.XML_ERROR_NO_ELEMENTS, "truncated"),
        (errors.XML_ERROR_UNCLOSED_TOKEN, "truncated"),
        (errors.XML_ERROR_UNCLOSED_CDATA_SECTION, "truncated"),
        (errors.XML_ERROR_INVALID_TOKEN, "malformed"),
        (errors.XML_ERROR_TAG_MISMATCH, "malformed"),
        (errors.XML_ERROR_UNKNOWN_ENCODING, "encoding"),
        (errors.XML_ERROR_INCORRECT_ENCODING, "encoding"),
        (errors.XML_ERROR_UNBOUND_PREFIX, "namespace"),
        (errors.XML_ERROR_UNDEFINED_ENTITY, "undeclared-entity"),
        (errors.XML_ERROR_RECURSIVE_ENTITY_REF, "entity-expansion"),
        (errors.XML_ERROR_EXTERNAL_ENTITY_HANDLING, "external-entity"),
        (errors.XML_ERROR_ATTRIBUTE_EXTERNAL_ENTITY_REF, "external-entity"),
    ],
)
def test_a_code_of_expat_has_one_of_ours(name: str, code: str) -> None:
    """The names of expat's own table lead to the codes of the documented errors."""
    assert document_error(errors.codes[name], 1, 0, 0).code == code


@pytest.mark.parametrize("number", errors.messages)
def test_the_message_begins_with_the_sentence_of_expat(number: int) -> None:
    """People find out what is wrong by searching for it."""
    assert document_error(number, 1, 0, 0).message.startswith(errors.messages[number])


@pytest.mark.parametrize(
    "body",
    [
        b"<a><b></a>",
        b"<a>\x01</a>",
        b"<a>\xff</a>",
        b"<a",
        b" ",
        b"",
        b"<a x='1' x='2'/>",
        b"<a/><b/>",
        b"<a>&e;</a>",
        b"<p:a/>",
        b"<?xml version='1.0' encoding='none'?><a/>",
        b"<!DOCTYPE a [<!ENTITY e SYSTEM 'f'>]><a>&e;</a>",
        b"<!DOCTYPE a [<!ENTITY e '&e;'>]><a>&e;</a>",
    ],
)
def test_the_kernel_and_the_reader_give_the_same_error(body: bytes) -> None:
    """Both go through one table, so code, sentence and position agree."""
    with pytest.raises(DocumentError) as refused:
        read(body)
    assert Index([("a", "//a")]).match(body).error == refused.value


def test_the_kernels_and_the_reader_number_errors_alike() -> None:
    """Each number of codes.hpp has a code and a sentence, and the names of both sides agree."""
    header = Path(faults.__file__).with_name("kernel") / "codes.hpp"
    found = re.findall(r"^    ([A-Z_]+) = (\d+)", header.read_text(encoding="utf-8"), re.MULTILINE)
    numbers = {name: int(number) for name, number in found}
    assert numbers.pop("NO_FAULT") == 0
    assert numbers.pop("ORACLE_FAILED") not in faults._OWN
    assert sorted(numbers.values()) == sorted(faults._OWN)
    names = {"EMPTY_DOCUMENT": "EMPTY"}
    shared = {names.get(name, name): number for name, number in numbers.items()}
    assert {name: vars(faults).get(name, number) for name, number in shared.items()} == shared


def test_columns_are_counted_from_one() -> None:
    """Expat counts columns from 0, people from 1."""
    error = document_error(7, 3, 4, 50)
    assert (error.line, error.column, error.offset) == (3, 5, 50)
    assert str(error) == "mismatched tag at line 3, column 5"


def test_an_unknown_code_is_still_an_error() -> None:
    """A later expat may have more codes."""
    assert document_error(999, 1, 0, 0).code == "malformed"
    assert "999" in document_error(999, 1, 0, 0).message


def test_the_body_tells_more() -> None:
    """Nothing at all from something cut short; bytes that are no UTF-8 from characters that are no XML."""
    assert document_error(3, 1, 1, 1, b" ").code == "empty"
    assert document_error(3, 1, 3, 3, b"<a>").code == "truncated"
    assert document_error(4, 1, 3, 3, b"<a>\xff</a>").code == "encoding"
    assert document_error(4, 1, 3, 3, b"<a>\xff</a>").message == (
        "not well-formed (invalid token): these bytes are not UTF-8"
    )
    assert document_error(4, 1, 3, 3, b"<a>\x01</a>").code == "malformed"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "UTF-16", "ISO-8859-1"])
def test_positions_are_those_of_the_parser(encoding: str) -> None:
    """For any blocks, with line ends of every kind and characters of several bytes."""
    random = Random(1)
    for _ in range(20):
        inside = "".join(random.choice(["<b/>", "\n", "\r\n", "\r", "é", "x"]) for _ in range(40))
        declared = "" if encoding.startswith("utf-8") else f'<?xml version="1.0" encoding="{encoding}"?>'
        body = f"{declared}<a>{inside}</a>".encode(encoding)
        expected: list[tuple[int, int, int]] = []
        parser = expat.ParserCreate()

        def start(
            _name: str,
            _attributes: object,
            parser: expat.XMLParserType = parser,
            expected: list[tuple[int, int, int]] = expected,
        ) -> None:
            at = parser.CurrentByteIndex
            expected.append((at, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1))

        parser.StartElementHandler = start
        parser.Parse(body, True)
        step = random.choice([1, 2, 3, 100, 1000])
        codec = document_codec(body)
        for at, line, column in expected:
            blocks = (body[begin : begin + step] for begin in range(0, len(body), step))
            assert line_and_column(blocks, codec, at) == (line, column)


NAMED = [
    (b"<a><b p:x='1'/></a>", "unbound prefix 'p': it needs a declaration xmlns:p"),
    (b"<p:a/>", "unbound prefix 'p': it needs a declaration xmlns:p"),
    (
        b"<a xmlns:q='u'><q:b><q:c xmlns:r='v' r:x=\"p:>\" p:y=''/></q:b></a>",
        "unbound prefix: one of 'p', 'q'",
    ),
    (b"<a xmlns:q='u' q:x='' p:y='' xml:lang='en'/>", "unbound prefix 'p': it needs a declaration xmlns:p"),
    (b"<!DOCTYPE a [<!ENTITY e '<p:b/>'>]><a>&e;</a>", "unbound prefix in the text of &e;"),
    ("<é><ü:b/></é>".encode(), "unbound prefix 'ü': it needs a declaration xmlns:ü"),
    ("<é><ü:b/></é>".encode("utf-16"), "unbound prefix 'ü': it needs a declaration xmlns:ü"),
    ("<?xml version='1.0' encoding='gbk'?><a>中<中:b/></a>".encode("gbk"), None),
    (b"<a>" + b"x" * 100_000 + b"<p:b/></a>", "unbound prefix 'p': it needs a declaration xmlns:p"),
    (b"<a x='" + b"x" * 100_000 + b"' p:b=''/>", "unbound prefix"),
    (b"<a>x&nbsp;</a>", "undefined entity at &nbsp;: XML does not define it, write &#160;"),
    (b"<a>x<b y='12&gamma2;'/></a>", "undefined entity at &gamma2;"),
    (b"<!DOCTYPE a SYSTEM 'none'><a>&e;</a>", "undefined entity at &e;"),
    (b"<!DOCTYPE a SYSTEM 'none'><a><b x='&lt;&e;' y='&e;&#32;'/></a>", "undefined entity at &e;"),
    (b"<!DOCTYPE a SYSTEM 'none'><a><b x='&d;&e;'/></a>", "undefined entity at one of &d;, &e;"),
    (b"<!DOCTYPE a [<!ENTITY e '&nbsp;'>]><a>&e;</a>", "undefined entity at &e;"),
    (b"PK\x03\x04\x14\x00", "this is a zip archive: extract it first"),
    (b"\x1f\x8b\x08\x00", "this is compressed with gzip: decompress it first"),
    (b"BZh91AY&SY", "this is compressed with bzip2: decompress it first"),
    (b"\xfd7zXZ\x00\x00\x04", "this is compressed with xz: decompress it first"),
    (b"\x28\xb5\x2f\xfd\x04", "this is compressed with zstd: decompress it first"),
    (b"a.xml".ljust(257, b"\x00") + b"ustar\x0000", "this is a tar archive: extract it first"),
    (b"%PDF-1.7\n", "this is a PDF file"),
    (b"<a>".ljust(257) + b"ustar<", None),
]


@pytest.mark.parametrize(("body", "message"), NAMED)
def test_the_thing_at_fault_is_named_alike_by_every_reader(body: bytes, message: str | None) -> None:
    """The prefix, the entity, or the format of a file; by the tree, the kernel and a projector."""
    with pytest.raises(DocumentError) as refused:
        read(body)
    error = refused.value
    assert message is None or error.message.endswith(message)
    assert Index([("a", "//a")]).match(body).error == error
    if error.code != "undeclared-entity" or b"DOCTYPE" not in body:  # which a projector may leave out
        assert projected(body, len(body)) == projected(body, 300) == (error.code, error.message, error.offset)


def projected(body: bytes, step: int) -> tuple[str, str, int]:
    """The error of a projector that is fed with blocks of a size."""
    projector = Projector(PathDecisions(lambda path: [Keep.TREE]), [False])
    for at in range(0, len(body), step):
        projector.feed(body[at : at + step])
    found = projector.finish().error
    assert found is not None
    return found.code, found.message, found.offset

"""Turns expat's error numbers into ``DocumentError``: expat's own sentence, with a stable code of twigcast.

The sentence is the one that people find when they search for it ("mismatched tag"); the code says what to do
about it.  The compiled kernel reports by the same numbers, so both readers give the same error.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable
from xml.parsers.expat import ErrorString

from twigcast.document.encodings import codec_name, declared_encoding, wide_codec
from twigcast.document.limits import DocumentLimits
from twigcast.errors import DocumentError

# By the numbers of XML_Error in expat.h, which never change; every other number is "malformed".
_CODES = {
    3: "truncated",  # no element found
    5: "truncated",  # unclosed token
    6: "truncated",  # partial character
    11: "undeclared-entity",
    12: "entity-expansion",  # recursive entity reference
    16: "external-entity",  # reference to external entity in attribute
    18: "encoding",  # unknown encoding
    19: "encoding",  # encoding specified in XML declaration is incorrect
    20: "truncated",  # unclosed CDATA section
    21: "external-entity",  # error in processing external entity reference
    24: "external-entity",  # entity declared in parameter entity
    27: "namespace",  # unbound prefix
    28: "namespace",  # must not undeclare prefix
    38: "namespace",  # reserved prefix (xml) …
    39: "namespace",  # reserved prefix (xmlns) …
    40: "namespace",  # prefix must not be bound to one of the reserved namespace names
}
# The numbers that the kernel adds for what twigcast refuses: code, message, and the limit if there is one.
_OWN = {
    1001: ("too-large", "the document is too large", "bytes"),
    1002: ("too-deep", "elements are nested too deep", "depth"),
    1003: ("too-many-attributes", "an element has too many attributes", "attributes"),
    1004: ("undeclared-entity", "undefined entity", None),
    1005: ("empty", "no element found: the document is empty", None),
    1006: ("entity-expansion", "entities refer to entities too deep, or to themselves", "entity_depth"),
    1007: ("entity-expansion", "entities and namespaces expand the document too much", "amplification"),
    1008: ("too-costly", "matching the document takes too many steps per byte", "matching_work"),
    1009: ("rewriting-expansion", "the mapping copies too much of the document", "amplification"),
    1010: ("no-mapping", "there is no mapping for the root element", None),
    1011: ("cut-in-markup", "the document was cut inside markup", None),
    1012: ("inconsistent-parts", "two parts of the document give one number to different elements", None),
    1013: ("cut-in-record", "the document was cut into pieces inside a record", None),
}
_NO_ELEMENTS = 3
_INVALID_TOKEN = 4
UNKNOWN_ENCODING = 18
EXTERNAL_ENTITY = 21
_AMPLIFICATION = 43
TOO_LARGE = 1001
"""The number of the fault ``too-large``, beside expat's own numbers of errors."""

TOO_DEEP = 1002
TOO_MANY_ATTRIBUTES = 1003
EMPTY = 1005
ENTITY_DEPTH = 1006
EXPANSION = 1007
_LONGEST_CHARACTER = 4
_DEFAULT_LIMITS = DocumentLimits()
_UTF_32 = (b"\x00\x00\xfe\xff", b"\x00\x00\x00<", b"\xff\xfe\x00\x00", b"<\x00\x00\x00")
_KNOWN_ENCODINGS = (
    "documents are read in UTF-8, UTF-16, and the encodings without shift states that Python has"
)


def document_error(
    number: int,
    line: int,
    column: int,
    offset: int,
    body: bytes = b"",
    limits: DocumentLimits = _DEFAULT_LIMITS,
) -> DocumentError:
    """The error for expat's ``number`` at this position, with the column counted from 0 as expat counts it.

    With the ``body``, a document of only white space gets the code ``empty`` and not ``truncated``, bytes
    that are no characters in its encoding get ``encoding`` and not ``malformed``, and an unknown encoding is
    named.  An error about one of the ``limits`` names the limit and its value.
    """
    if number == _NO_ELEMENTS and body and not body.removeprefix(b"\xef\xbb\xbf").strip():
        number = EMPTY
    if number in _OWN:
        code, message, limit = _OWN[number]
        if limit is not None:
            message += f" (limit {limit}: {getattr(limits, limit):,})"
    else:
        code = _CODES.get(number, "malformed")
        message = ErrorString(number) or f"expat error {number}"
    if number == _AMPLIFICATION:
        code, message = "entity-expansion", f"{message} (limit amplification: {limits.amplification:,})"
    if number == EXTERNAL_ENTITY:
        message += ": nothing external is read"
    if number == UNKNOWN_ENCODING and (name := declared_encoding(body)):
        message += f" {name!r}: {_KNOWN_ENCODINGS}"
    if number == _INVALID_TOKEN and (name := _violated_encoding(body, offset)):
        code, message = "encoding", f"{message}: these bytes are not {name}"
    elif body.startswith(_UTF_32):
        code, message = "encoding", f"{message}: the document is in UTF-32; {_KNOWN_ENCODINGS}"
    return DocumentError(message, code=code, line=line, column=column + 1, offset=offset)


def line_and_column(blocks: Iterable[bytes], codec: str, offset: int) -> tuple[int, int]:
    """The line and column of an offset in a document, as errors have them; nothing is parsed."""
    reader = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(codec)("replace"), translate=True)
    line, column, left = 1, 1, offset
    for block in blocks:
        text = reader.decode(block[:left], final=len(block) >= left)
        line += text.count("\n")
        column = len(text) - text.rfind("\n") if "\n" in text else column + len(text)
        left -= min(left, len(block))
        if not left:
            break
    return line, column


def _violated_encoding(body: bytes, offset: int) -> str | None:
    """The encoding in which a document, by its declaration, has no character at ``offset``, if that is so."""
    if wide_codec(body):
        return None
    encoding = declared_encoding(body) or "UTF-8"
    codec = codec_name(encoding)
    try:
        body[offset : offset + _LONGEST_CHARACTER].decode(codec or "latin-1")
    except UnicodeDecodeError as error:
        return encoding if error.start == 0 else None
    return None

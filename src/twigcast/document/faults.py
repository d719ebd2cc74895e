"""Turns expat's error numbers into ``DocumentError``: expat's own sentence, with a stable code of twigcast.

The sentence is the one that people find when they search for it ("mismatched tag"); the code says what to do
about it.  The compiled kernel reports by the same numbers, so both readers give the same error.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterable
from html.entities import name2codepoint
from xml.parsers.expat import ErrorString

from twigcast.document.encodings import codec_name, declared_encoding, document_codec, wide_codec
from twigcast.document.entities import PREDEFINED
from twigcast.document.limits import DocumentLimits
from twigcast.errors import DocumentError
from twigcast.system import foreign_format

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
"""The number of the error for a document with too many levels."""
TOO_MANY_ATTRIBUTES = 1003
UNDECLARED_ENTITY = 1004
EMPTY = 1005
ENTITY_DEPTH = 1006
EXPANSION = 1007
UNDEFINED_ENTITY = 11
UNBOUND_PREFIX = 27
_OWN_NUMBERS = 1000
_LONGEST_CHARACTER = 4
_HEAD = 1 << 10  # bytes that show the encoding and the format of a document
WINDOW = 1 << 16
"""The bytes behind the place of an error that are looked at for a name."""

_NAMED = 3  # prefixes that are named
_NAME = r"[^\s<>&;/='\"]+"
_REFERENCE = re.compile(rf"&({_NAME.replace(';', ';#')});")
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
_TAG = re.compile(rf"""<({_NAME})((?:\s+{_NAME}\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*/?>""")
_ATTRIBUTE = re.compile(rf"""\s+({_NAME})\s*=\s*(?:"[^"]*"|'[^']*')""")
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
    body: bytes | memoryview = b"",
    limits: DocumentLimits = _DEFAULT_LIMITS,
    at: int | None = None,
) -> DocumentError:
    """The error for expat's ``number`` at this position, with the column counted from 0 as expat counts it.

    With the ``body``, a document of only white space gets the code ``empty`` and not ``truncated``, bytes
    that are no characters in its encoding get ``encoding`` and not ``malformed``, and an unknown encoding, a
    prefix, an entity or the format of a file that is no XML is named.  ``at`` is the place of the error in
    ``body`` if that is only a part of the document.
    An error about one of the ``limits`` names the limit and its value.
    """
    at = offset if at is None else at
    if number == _NO_ELEMENTS and body and _is_blank(body):
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
    if number == UNBOUND_PREFIX:
        message += _unbound_prefixes(body, at)
    if number in (UNDEFINED_ENTITY, UNDECLARED_ENTITY):
        message += _undefined_entity(body, at)
    head = bytes(body[:_HEAD])
    if head.startswith(_UTF_32):
        code, message = "encoding", f"{message}: the document is in UTF-32; {_KNOWN_ENCODINGS}"
    elif number < _OWN_NUMBERS and at == offset and (what := foreign_format(head)):
        code, message = "malformed", f"{message}: this is {what}"
    elif number == _INVALID_TOKEN and (name := _violated_encoding(body, at)):
        code, message = "encoding", f"{message}: these bytes are not {name}"
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


def _is_blank(body: bytes | memoryview) -> bool:
    """Whether a document is only white space, after a byte order mark."""
    start = 3 if bytes(body[:3]) == b"\xef\xbb\xbf" else 0
    return all(not bytes(body[at : at + WINDOW]).strip() for at in range(start, len(body), WINDOW))


def _text_at(body: bytes | memoryview, at: int) -> str:
    """The text of the document from an offset on, as much of it as a tag may have."""
    return bytes(body[at : at + WINDOW]).decode(document_codec(bytes(body[:_HEAD])), "replace")


def _unbound_prefixes(body: bytes | memoryview, at: int) -> str:
    """The prefixes of the tag at an offset that it does not bind itself: one of them is not bound at all.

    Only the tag is looked at, so that the whole document, a part and a stream give the same sentence.
    """
    text = _text_at(body, at)
    if reference := _REFERENCE.match(text):
        return f" in the text of {reference[0]}"
    if (tag := _TAG.match(text)) is None:  # also one that is larger than a window
        return ""
    attributes = [found[1] for found in _ATTRIBUTE.finditer(tag[2])]
    bound = {name.partition(":")[2] for name in attributes if name.startswith("xmlns:")} | {"xml", "xmlns"}
    used = [name.partition(":")[0] for name in [*attributes, tag[1]] if ":" in name]
    names = [name for name in dict.fromkeys(used) if name not in bound]
    if len(names) == 1:
        return f" {names[0]!r}: it needs a declaration xmlns:{names[0]}"
    return f": one of {', '.join(map(repr, names[:_NAMED]))}{', …' * (len(names) > _NAMED)}" if names else ""


def _undefined_entity(body: bytes | memoryview, at: int) -> str:
    """The references of the event at an offset: one in the text, or those in a tag or in a quoted value.

    The entity of one of them is not declared, or its text refers to another that is not.  An entity of HTML
    is shown as it is written in XML.
    """
    text = _text_at(body, at)
    event = _REFERENCE.match(text) or _TAG.match(text) or _QUOTED.match(text)
    found = dict.fromkeys(_REFERENCE.findall(event[0])) if event else {}
    names = [name for name in found if name not in PREDEFINED]
    if len(names) > 1:
        return (
            f" at one of {', '.join(f'&{name};' for name in names[:_NAMED])}{', …' * (len(names) > _NAMED)}"
        )
    if not names:
        return ""
    point = name2codepoint.get(names[0])
    return f" at &{names[0]};" + (f": XML does not define it, write &#{point};" if point else "")


def _violated_encoding(body: bytes | memoryview, offset: int) -> str | None:
    """The encoding in which a document, by its declaration, has no character at ``offset``, if that is so."""
    if wide_codec(body):
        return None
    encoding = declared_encoding(body) or "UTF-8"
    codec = codec_name(encoding)
    try:
        bytes(body[offset : offset + _LONGEST_CHARACTER]).decode(codec or "latin-1")
    except UnicodeDecodeError as error:
        return encoding if error.start == 0 else None
    return None

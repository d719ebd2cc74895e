"""Turns expat's error numbers into ``DocumentError``: expat's own sentence, with a stable code of twigcast.

The sentence is the one that people find when they search for it ("mismatched tag"); the code says what to do
about it.  The compiled kernel reports by the same numbers, so both readers give the same error.
"""

from __future__ import annotations

from xml.parsers.expat import ErrorString

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
    43: "entity-expansion",  # limit on input amplification factor … breached
}
# The numbers that the kernel adds for what twigcast itself refuses.
_OWN = {
    1001: ("too-large", "the document is larger than the limit"),
    1002: ("too-deep", "elements are nested deeper than the limit"),
    1003: ("too-many-attributes", "an element has more attributes than the limit"),
    1004: ("undeclared-entity", "undefined entity"),
    1005: ("empty", "no element found: the document is empty"),
}
_NO_ELEMENTS = 3
_INVALID_TOKEN = 4
UNKNOWN_ENCODING = 18
EXTERNAL_ENTITY = 21
AMPLIFICATION = 43
EMPTY = 1005
_LONGEST_CHARACTER = 4


def document_error(number: int, line: int, column: int, offset: int, body: bytes = b"") -> DocumentError:
    """The error for expat's ``number`` at this position, with the column counted from 0 as expat counts it.

    With the ``body``, a document of only white space gets the code ``empty`` and not ``truncated``, and
    bytes that are not UTF-8 get ``encoding`` and not ``malformed``.
    """
    if number == _NO_ELEMENTS and body and not body.removeprefix(b"\xef\xbb\xbf").strip():
        number = EMPTY
    if number in _OWN:
        code, message = _OWN[number]
    else:
        code = _CODES.get(number, "malformed")
        message = ErrorString(number) or f"expat error {number}"
    if number == EXTERNAL_ENTITY:
        message += ": nothing external is read"
    if number == _INVALID_TOKEN and _not_utf8(body, offset):
        code, message = "encoding", f"{message}: these bytes are not UTF-8"
    return DocumentError(message, code=code, line=line, column=column + 1, offset=offset)


def _not_utf8(body: bytes, offset: int) -> bool:
    """Whether a document that is UTF-8, declared or not, has no UTF-8 character at ``offset``."""
    head = body[:100].lower()
    if b"encoding" in head and b"utf-8" not in head:
        return False
    try:
        body[offset : offset + _LONGEST_CHARACTER].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start == 0
    return False

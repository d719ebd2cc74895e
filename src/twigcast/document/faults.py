"""What expat's error codes mean here: one place for codes and sentences."""

from __future__ import annotations

from twigcast.errors import DocumentError

# The numbers of expat.h's XML_Error, which have not changed since they were given.
_FAULTS: dict[int, tuple[str, str]] = {
    1: ("malformed", "out of memory"),
    2: ("malformed", "this is not XML"),
    3: ("truncated", "the document ends before its root element does"),
    4: ("malformed", "this is not well-formed"),
    5: ("truncated", "the document ends inside a tag, comment or other markup"),
    6: ("truncated", "the document ends inside a character"),
    7: ("malformed", "the end tag does not fit the start tag"),
    8: ("malformed", "an attribute is given twice"),
    9: ("malformed", "something follows the root element"),
    10: ("malformed", "a parameter entity is referred to where none may be"),
    11: ("undeclared-entity", "an entity is referred to that is not declared"),
    12: ("entity-expansion", "an entity refers to itself"),
    13: ("malformed", "an entity does not end in the element it began in"),
    14: ("malformed", "a reference names no character"),
    15: ("malformed", "an unparsed entity is referred to"),
    16: ("external-entity", "an attribute refers to an external entity"),
    17: ("malformed", "the XML declaration is not at the start"),
    18: ("encoding", "the encoding is unknown"),
    19: ("encoding", "the declared encoding is not the one used"),
    20: ("truncated", "the document ends inside a CDATA section"),
    21: ("external-entity", "an external entity is referred to, and nothing external is read"),
    22: ("malformed", "the document says it stands alone, and does not"),
    24: ("external-entity", "an external entity is referred to, and nothing external is read"),
    27: ("namespace", "a prefix is not bound to a namespace"),
    28: ("namespace", "a prefix is bound to no namespace"),
    29: ("malformed", "a parameter entity is not whole"),
    30: ("malformed", "the XML declaration is not well-formed"),
    31: ("malformed", "the text declaration is not well-formed"),
    32: ("malformed", "a public identifier contains a character it may not"),
    38: ("namespace", "the prefix xml is bound to another namespace"),
    39: ("namespace", "the prefix xmlns is declared"),
    40: ("namespace", "a prefix is bound to a reserved namespace"),
    43: ("entity-expansion", "entities make the document grow beyond the limit"),
    # Beyond expat's, those of twigcast's own limits.
    1001: ("too-large", "the document is larger than the limit"),
    1002: ("too-deep", "elements are nested deeper than the limit"),
    1003: ("too-many-attributes", "an element has more attributes than the limit"),
    1004: ("undeclared-entity", "an entity is referred to that is not declared in the document"),
    1005: ("empty", "the document is empty"),
}
_INVALID_TOKEN = 4
_NO_ELEMENTS = 3
_LONGEST_CHARACTER = 4


def document_error(expat_code: int, line: int, column: int, offset: int, body: bytes = b"") -> DocumentError:
    """The error for expat's ``expat_code`` at this place, counted as expat counts: columns from 0.

    With the ``body``, nothing at all is told from something cut short, and bytes that are no UTF-8 from
    characters that are no XML.
    """
    code, message = _FAULTS.get(
        expat_code, ("malformed", f"the document cannot be read (expat error {expat_code})")
    )
    if expat_code == _NO_ELEMENTS and body and not body.removeprefix(b"\xef\xbb\xbf").strip():
        code, message = "empty", "the document is empty"
    elif expat_code == _INVALID_TOKEN and _not_utf8(body, offset):
        code, message = "encoding", "these bytes are not UTF-8"
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

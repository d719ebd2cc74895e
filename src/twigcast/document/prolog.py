"""Prologs: the namespaces, entities and encoding that a record inherits from the file it was cut out of.

The bytes of a record are never changed.  What it inherits is written into a prolog, and the parser reads
both:

    prolog   <?xml version="1.0" encoding="…"?><!DOCTYPE r [ entities … ]><r xmlns:p="uri"
    body                                                                  <r id="7"> … </r>
    read as  <?xml version="1.0" encoding="…"?><!DOCTYPE r [ entities … ]><r xmlns:p="uri" id="7"> … </r>

A prolog that ends in an unfinished tag replaces the beginning of that tag in the body; any other prolog is
put before the body.  Rejected: namespace declarations as attribute defaults in the document type, since they
bind every nested element of the record's name, even below an element that binds the prefix differently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from xml.sax.saxutils import escape

from twigcast.errors import DocumentError


def make_prolog(
    name: bytes, *, encoding: str | None, subset: bytes, namespaces: Mapping[str, str]
) -> bytes | None:
    """The prolog of a record ``name`` that inherits all this; ``None`` if it inherits nothing."""
    parts: list[bytes] = []
    if encoding is not None:
        parts.append(b'<?xml version="1.0" encoding="%s"?>' % encoding.encode("ascii"))
    if subset:
        parts.append(b"<!DOCTYPE %s [%s]>" % (name, subset))
    if namespaces:
        parts.append(b"<%s" % name)
        for prefix, uri in sorted(namespaces.items()):
            parts.append(f" {declaration(prefix, uri)}".encode(encoding or "utf-8", "xmlcharrefreplace"))
    return b"".join(parts) or None


def declaration(prefix: str, uri: str) -> str:
    """The ``xmlns`` attribute that binds ``prefix`` to ``uri``; an empty prefix is the default namespace."""
    return f"xmlns:{prefix}={quoted(uri)}" if prefix else f"xmlns={quoted(uri)}"


def attribute_type(element: str, name: str, kind: str, default: str | None, required: bool) -> str:
    """The declaration of an attribute as expat reports it: its type, its default, whether that is fixed."""
    if default is None:
        return f"<!ATTLIST {element} {name} {kind} {'#REQUIRED' if required else '#IMPLIED'}>"
    return f"<!ATTLIST {element} {name} {kind} {'#FIXED ' if required else ''}{quoted(default)}>"


def entity_declaration(name: str, value: str) -> str:
    """The declaration of an entity with this replacement text."""
    return f'<!ENTITY {name} "{value.translate(_IN_ENTITY)}">'


def external_entity_declaration(name: str, system: str) -> str:
    """The declaration of an entity whose text is elsewhere, and is never fetched."""
    sign = '"' if "'" in system else "'"
    return f"<!ENTITY {name} SYSTEM {sign}{system}{sign}>"


# These signs would be read in the declaration already; as references they get into the replacement text.
_IN_ENTITY = {ord(sign): f"&#{ord(sign)};" for sign in '&%"\r'}


def quoted(value: str) -> str:
    """The value as it is written for an attribute, with quotes."""
    text = escape(value, {'"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})
    return f'"{text}"'


def joined(prolog: bytes | None, body: bytes) -> bytes:
    """The bytes to parse for a body and its prolog."""
    return prolog + body[_replaced(prolog) :] if prolog else body


@dataclass(frozen=True, slots=True)
class Shift:
    """Translates byte offsets in the parsed bytes (prolog and body) to offsets in the body."""

    prolog: int
    replaced: int

    @classmethod
    def of(cls, prolog: bytes | None) -> Shift:
        """The shift of a record that was read after this prolog."""
        return cls(len(prolog), _replaced(prolog)) if prolog else cls(0, 0)

    def start(self, offset: int) -> int:
        """The start offset in the body; something that begins in the prolog is the record's own tag, at 0."""
        return 0 if offset < self.prolog else offset - self.prolog + self.replaced

    def end(self, offset: int) -> int:
        """The end offset in the body."""
        return max(offset - self.prolog + self.replaced, 0)


def relocated(error: DocumentError, prolog: bytes | None, body: bytes) -> DocumentError:
    """An error of the parsed bytes, with line, column and offset translated to the body."""
    if not prolog:
        return error
    offset = Shift.of(prolog).start(error.offset)
    before = body[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    line = before[before.rfind(b"\n") + 1 :]
    characters = sum(byte & 0xC0 != 0x80 for byte in line)
    return DocumentError(
        error.message,
        code=error.code,
        line=before.count(b"\n") + 1,
        column=characters + 1,
        offset=offset,
    )


@lru_cache(maxsize=1024)
def _replaced(prolog: bytes) -> int:
    """How many bytes of the body the prolog replaces."""
    if prolog.endswith(b">"):
        return 0
    return len(prolog[prolog.rindex(b"<") :].split(maxsplit=1)[0])

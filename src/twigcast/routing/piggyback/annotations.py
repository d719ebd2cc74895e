"""The annotations of a document: small statements that a router sends along with it.

    version  flags  [epoch]  [told]  figures  (kind  length  payload) …  digest
       1       1       8        8     varints    1    varint               8     bytes

``epoch`` names the annotation plan of the receiver by which the maker answered, ``told`` the subscriptions
that the receiver had forwarded to the maker.  Both are hashes of contents, so an annotation never means
another plan or other subscriptions than it was made for.  Kinds that a receiver does not know are skipped.

The digest binds the annotations to their document (``Envelope.binding``, ``PublishFragment.binding``).
Annotations that are truncated, altered, or of another document are refused (``RoutingError``).
With a secret that all routers of a network share, nobody else can make annotations that they accept.

The figures say how large and deep the document is, so that a router which does not parse it can still apply
its limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import blake2b
from typing import NamedTuple

from twigcast.document import DocumentLimits
from twigcast.errors import RoutingError
from twigcast.routing.messages import Carrier, Envelope
from twigcast.system import append_varint, read_varint

VERSION = 1
WHOLE, HAS_EPOCH, HAS_TOLD = 1, 2, 4
DIGEST = 8


class AnnotationKind(IntEnum):
    """The kinds of annotations, as they are numbered on the wire."""

    NEGATIVE_SUBSCRIPTIONS = 1
    NEGATIVE_DATA = 2
    POSITIVE_SUBSCRIPTIONS = 3
    POSITIVE_DATA = 4
    STRUCTURE = 5
    ANSWERS = 6
    RANGES = 7


class DocumentFigures(NamedTuple):
    """The size of a document: its elements, its greatest depth, the most attributes of one element."""

    elements: int
    depth: int
    attributes: int

    def are_within(self, limits: DocumentLimits) -> bool:
        """Whether a document of these figures is not refused because of its depth or its attributes."""
        return self.depth <= limits.depth and self.attributes <= limits.attributes


@dataclass(frozen=True, slots=True)
class Annotations:
    """Statements about one document, as payloads by kind."""

    figures: DocumentFigures
    sections: Mapping[int, bytes] = field(default_factory=dict)
    epoch: int = 0
    """The plan of the receiver by which these were made; 0 if none was needed."""
    told: int = 0
    """The fingerprint of the subscriptions that the receiver has forwarded to the maker; 0 if not needed."""
    whole: bool = False
    """Whether the maker has read the whole document: then a statement that is not negative is positive."""

    def encode(self, carrier: Carrier, secret: bytes = b"") -> bytes:
        """Return the bytes that travel with the document."""
        flags = WHOLE * self.whole | HAS_EPOCH * bool(self.epoch) | HAS_TOLD * bool(self.told)
        out = bytearray((VERSION, flags))
        for name in (self.epoch, self.told):
            if name:
                out += name.to_bytes(8, "little")
        for figure in self.figures:
            append_varint(out, figure)
        for kind, payload in self.sections.items():
            out.append(kind)
            append_varint(out, len(payload))
            out += payload
        return bytes(out) + _digest(out, carrier, secret)

    @classmethod
    def decode(cls, data: bytes, carrier: Carrier, secret: bytes = b"") -> Annotations:
        """Read the annotations of a document; raises ``RoutingError``."""
        content, digest = data[:-DIGEST], data[-DIGEST:]
        if len(content) < 2 or digest != _digest(content, carrier, secret):
            raise _refused("they are truncated, altered, or of another document")
        if content[0] != VERSION:
            raise _refused(f"they have version {content[0]}, not {VERSION}")
        flags, at = content[1], 2
        names = [0, 0]
        for number, flag in enumerate((HAS_EPOCH, HAS_TOLD)):
            if flags & flag:
                names[number] = int.from_bytes(content[at : at + 8], "little")
                at += 8
        try:
            elements, at = read_varint(content, at)
            depth, at = read_varint(content, at)
            attributes, at = read_varint(content, at)
            sections: dict[int, bytes] = {}
            while at < len(content):
                kind = content[at]
                length, at = read_varint(content, at + 1)
                if at + length > len(content):
                    raise ValueError("a section is truncated")
                sections[kind] = content[at : at + length]
                at += length
        except ValueError as error:
            raise _refused(str(error)) from None
        return cls(
            DocumentFigures(elements, depth, attributes),
            sections,
            names[0],
            names[1],
            whole=bool(flags & WHOLE),
        )


def accepted(carrier: Carrier, limits: DocumentLimits, secret: bytes = b"") -> Annotations | None:
    """Return the annotations of a document; None if they cannot be used, so that it must be parsed."""
    if not carrier.annotations:
        return None
    try:
        annotations = Annotations.decode(carrier.annotations, carrier, secret)
    except RoutingError:
        return None
    is_too_large = isinstance(carrier, Envelope) and len(carrier.body) > limits.bytes
    if is_too_large or not annotations.figures.are_within(limits):
        return None  # parsing it gives the error
    return annotations


def _digest(content: bytes | bytearray, carrier: Carrier, secret: bytes) -> bytes:
    digest = blake2b(content, digest_size=DIGEST, key=secret[:64])
    digest.update(carrier.binding)
    return digest.digest()


def _refused(why: str) -> RoutingError:
    return RoutingError(f"the annotations of a document cannot be used: {why}", code="annotations")

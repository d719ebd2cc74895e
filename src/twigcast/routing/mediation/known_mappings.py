"""The mappings that one router knows, and which of them a document has.

    ("mapping", "cmu@3#9f2c41d0…")             always, once a document has passed its edge router
    ("mapping-rules", '[["Mapping",…],…]')     with NDDR_data: the router need not know the mapping

A mapping is found by its hash, so a router that has cmu@4 already still rewrites a document of cmu@3 by the
rules of cmu@3.  A hash that is not known is an error, and never another version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from xml.parsers import expat

from twigcast.document import Transcriber, multibyte_codec, read
from twigcast.errors import MappingError
from twigcast.rewriting import Mapping, write_document
from twigcast.routing.mediation.approach import NetworkMediation
from twigcast.routing.messages import MAPPING, RULES, Announce, Envelope, Message, Publish

SEPARATOR = "\f"


class KnownMappings:
    """All versions by hash, and of each publisher the newest; routers add to it and take nothing away."""

    def __init__(self, mediation: NetworkMediation, *, sends_images: bool = True) -> None:
        """Without images, as where documents travel in fragments, the rules travel in place of an image."""
        self.mediation = mediation
        self._sends_images = sends_images
        self._by_hash: dict[str, Mapping] = {}
        self._newest: dict[str, Mapping] = {}

    def __iter__(self) -> Iterator[Mapping]:
        return iter(self._by_hash.values())

    def __len__(self) -> int:
        return len(self._by_hash)

    def add(self, mapping: Mapping) -> bool:
        """Add a mapping; whether it is new."""
        if mapping.hash in self._by_hash:
            return False
        self._by_hash[mapping.hash] = mapping
        before = self._newest.get(mapping.name)
        if before is None or before.version <= mapping.version:
            self._newest[mapping.name] = mapping
        return True

    def learned(self, messages: Sequence[Message]) -> tuple[list[Message], list[Announce]]:
        """Add the mappings of a batch; returns its other messages, and those that announce a new mapping."""
        said = [each for each in messages if isinstance(each, Announce)]
        others: list[Message] = [each for each in messages if not isinstance(each, Announce)]
        return others, [each for each in said if self.add(each.mapping)]

    def discard(self, announced: Iterable[Announce]) -> None:
        """Take back the mappings of a batch that was refused."""
        for mapping in (each.mapping for each in announced):
            del self._by_hash[mapping.hash]
            self._newest.pop(mapping.name, None)
        for mapping in self._by_hash.values():
            before = self._newest.get(mapping.name)
            if before is None or before.version < mapping.version:
                self._newest[mapping.name] = mapping

    # Documents

    def all_entered(self, messages: Sequence[Message]) -> list[Message]:
        """A publisher's messages, its documents as they leave this router."""
        return [
            Publish(self.entered(each.envelope)) if isinstance(each, Publish) else each for each in messages
        ]

    def entered(self, envelope: Envelope) -> Envelope:
        """A document as it leaves its edge router: with the headers and the image that the approach needs.

        Raises ``MappingError`` (``no-mapping``) if no mapping is for it, (``unknown-mapping``) if it names
        one that the router does not know.
        """
        mapping = self.of(envelope) or self._chosen(envelope)
        if mapping is None:
            return envelope
        named = dict(envelope.headers).get(MAPPING)
        if envelope.image is not None and named == mapping.reference and self._sends_images:
            return envelope  # its publisher has written the image already
        headers = [each for each in envelope.headers if each[0] not in (MAPPING, RULES)]
        headers.append((MAPPING, mapping.reference))
        image = None
        if self.mediation.approach == "SDR" and self._sends_images:
            image = write_document(mapping.apply(read(envelope.body)))
        if self.mediation.approach == "NDDR_data" or (self.mediation.approach == "SDR" and image is None):
            headers.append((RULES, mapping.canonical))
        return replace(envelope, headers=tuple(headers), image=image)

    def of(self, envelope: Envelope) -> Mapping | None:
        """The mapping that the headers of a document name; None if they name none."""
        headers = dict(envelope.headers)
        reference = headers.get(MAPPING)
        if reference is None:
            return None
        name, _, hash = reference.rpartition("#")
        found = self._by_hash.get(hash)
        if found is None and RULES in headers:
            label, _, version = name.rpartition("@")
            found = Mapping.parse(label, headers[RULES], int(version) if version.isdecimal() else 1)
            if found.hash != hash:
                message = f"the rules in the header have the hash {found.hash}, not that of {reference!r}"
                raise MappingError(message, code="mapping-rules", name=reference)
            self._by_hash[hash] = found  # compiled once; it never becomes a publisher's newest
        if found is None:
            known = ", ".join(sorted(each.reference for each in self._by_hash.values())) or "none"
            message = f"the mapping {reference!r} is not known here: announce it; known are {known}"
            raise MappingError(message, code="unknown-mapping", name=reference)
        return found

    def _chosen(self, envelope: Envelope) -> Mapping | None:
        """The newest mapping of the publisher, else that for the root element."""
        if envelope.publisher is not None and envelope.publisher in self._newest:
            return self._newest[envelope.publisher]
        root = root_name(envelope.body)
        if root is None:  # it is not well-formed, which matching reports with its place
            return None
        for mapping in self._newest.values():
            if tuple(mapping.root) == root:
                return mapping
        if self.mediation.unknown == "as-is":
            return None
        known = ", ".join(sorted(self._newest)) or "none"
        shown = f"Q{{{root[0]}}}{root[1]}" if root[0] else root[1]
        message = f"no mapping for the root element {shown!r}; there are: {known}"
        raise MappingError(message, code="no-mapping", name=root[1])


def root_name(body: bytes) -> tuple[str, str] | None:
    """The namespace and the local name of the root element; None if the document does not get that far."""
    found: list[str] = []

    def start(name: str, _: dict[str, str]) -> None:
        if not found:
            found.append(name)

    transcriber = Transcriber(multibyte_codec(body))
    parser = expat.ParserCreate(transcriber.encoding, SEPARATOR)
    parser.StartElementHandler = start
    for at in range(0, len(body), 512):
        try:
            parser.Parse(transcriber.utf8(body[at : at + 512]), False)
        except (expat.ExpatError, LookupError, ValueError):  # the last two for an unknown encoding
            break
        if found:
            break
    if not found:
        return None
    namespace, _, local = found[0].rpartition(SEPARATOR)
    return namespace, local

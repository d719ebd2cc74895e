"""Whole documents that pass a router.

begin   annotations ► structure        links that these prove are sent the document before it is parsed
read    the document, or its image     only if something is open
send    to links that are proven, to clients that are decided
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from twigcast.routing.mediation import KnownMappings
from twigcast.routing.messages import (
    MAPPING,
    OUTSIDE,
    Deliver,
    Envelope,
    Outgoing,
    Publish,
    flooded,
    is_flooded,
)
from twigcast.routing.piggyback.annotation_links import AnnotationLinks
from twigcast.routing.piggyback.work import DocumentWork, Work
from twigcast.routing.pool import Pool
from twigcast.routing.strategy import Publication
from twigcast.routing.tables import PublicationTable
from twigcast.routing.transit.evidence import DocumentEvidence
from twigcast.routing.transit.tables import TablesByLink
from twigcast.routing.transit.transit import Transit


@dataclass(slots=True)
class WholeDocument:
    """A document, what is known about it, and where it has been sent."""

    envelope: Envelope
    link: str
    evidence: DocumentEvidence
    transit: Transit

    @property
    def must_be_read(self) -> bool:
        """Whether something is open; a client's document is always read: a malformed one never travels."""
        transit = self.transit
        return transit.tables.is_checked or transit.open is None or not transit.is_decided


class DocumentRelay:
    """What whole documents need at one router: its tables, its mappings, and the annotations of its links."""

    def __init__(
        self,
        pool: Pool,
        subscribed: PublicationTable,
        tables: TablesByLink,
        mappings: KnownMappings | None,
        publication: Publication,
    ) -> None:
        self.annotations: AnnotationLinks | None = None
        """What routers tell each other about documents, if they do."""
        self._pool, self._subscribed, self._tables, self._mappings = pool, subscribed, tables, mappings
        self._publication = publication

    def takes_whole(self, envelope: Envelope) -> bool:
        """Whether a document travels whole; in a network of paths, one whose mapping needs all of it does."""
        if self._publication == "paths":
            return any(key == MAPPING for key, _ in envelope.headers)
        return self._publication == "documents"

    def begin(self, envelope: Envelope, link: str, work: Work | None) -> WholeDocument:
        """Take a document from a link, with what its annotations prove."""
        tables = self._tables.of(link)
        if tables.is_checked:  # what a client says about its documents is not taken for true
            envelope = envelope.with_annotations(b"")
        record = DocumentWork(envelope.doc_id)
        evidence = None
        if self.annotations is None:
            record.rows = len(self._subscribed)
        else:
            if work is not None:
                record.rows = len(tables.rows)
            evidence = self.annotations.conclude(envelope, link, tables, record)
        transit = Transit(tables, flooded=is_flooded(envelope))
        if evidence is None:
            evidence = DocumentEvidence(record)
        else:
            transit.learn(evidence.matched, evidence.open)
        return WholeDocument(envelope, link, evidence, transit)

    def finish(self, document: WholeDocument) -> None:
        """Read a document if something is open; raises ``DocumentError``."""
        evidence, transit = document.evidence, document.transit
        if document.must_be_read:
            envelope, mapping = document.envelope, None
            body = envelope.body if envelope.image is None else envelope.image
            if self._mappings is not None and envelope.image is None:
                mapping = self._mappings.of(envelope)
            if self.annotations is None:
                evidence.read_plainly(self._pool.read(body, mapping).answer)
            else:
                self.annotations.read(body, mapping, document.link, evidence)
            transit.learn(evidence.matched, evidence.open)
            schemas = transit.tables.schemas
            if schemas is not None and not np.isin(schemas, evidence.matched).any():
                document.envelope = flooded(envelope, OUTSIDE)
                transit.flood()
        else:
            evidence.record.parsed = False
        if self.annotations is not None:
            self.annotations.passed(document.link, evidence.record)

    def send_early(self, documents: Iterable[WholeDocument], outgoing: Outgoing, work: Work | None) -> None:
        """Send documents that must still be read to the links for which annotations are proof enough."""
        for document in documents:
            is_proven = document.transit.open is not None
            if not (is_proven and document.must_be_read and self.takes_whole(document.envelope)):
                continue
            sent: Outgoing = {}
            self.send(document, sent, work)
            for link, messages in sent.items():
                outgoing.setdefault(link, []).extend(messages)
                document.evidence.record.eager[link] = 0.0

    def send(self, document: WholeDocument, outgoing: Outgoing, work: Work | None) -> None:
        """Send a document to the links that are known to want it and have not got it."""
        envelope, transit = document.envelope, document.transit
        onward: Publish | None = None
        for neighbour in transit.take_neighbours():
            if self.annotations is not None:
                found = self.annotations.annotations_for(neighbour, envelope, document.evidence, work)
                if onward is None or onward.envelope.annotations != found:
                    onward = Publish(envelope.with_annotations(found))
            elif onward is None:
                onward = Publish(envelope)
            outgoing.setdefault(neighbour, []).append(onward)
        delivered: Envelope | None = None
        for client, ids in transit.take_clients():
            delivered = delivered or envelope.delivered()
            outgoing.setdefault(client, []).append(Deliver(delivered, ids))

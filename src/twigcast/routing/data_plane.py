"""Sends the documents that a router has received to neighbours and clients.

    document ──match──► numbers of patterns ──carry──► neighbours                  Publish or Paths
                                            └────────► subscriptions of clients    Deliver

Whole documents and documents that travel as paths go through the same tables; each path is matched like a
document of its own.  The paths that match branches of a client's patterns are reassembled into a document;
the client receives this document if one of its patterns matches it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from twigcast.document import read
from twigcast.routing.forwarding import NOWHERE, Carried, carry, wanted_links
from twigcast.routing.messages import (
    OUTSIDE,
    Deliver,
    Envelope,
    Outgoing,
    Paths,
    Publish,
    flooded,
    is_flooded,
)
from twigcast.routing.path_publication import leaf_paths, reassemble
from twigcast.routing.piggyback import DocumentFinding
from twigcast.routing.pool import Answer, Pool
from twigcast.routing.tables import PublicationTable

ReadDocuments: TypeAlias = Sequence[tuple[Envelope, DocumentFinding]]
"""Documents, each with what the router found out about it."""

Annotated: TypeAlias = Callable[[Envelope, DocumentFinding, str], Envelope]
"""Returns a document as it is sent to a neighbour, given what the router found out about it."""


def marked(document: Envelope, answer: Answer, schemas: Sequence[int]) -> Envelope:
    """Mark a published document for flooding if no advertisement of its publisher describes it."""
    return document if np.isin(schemas, answer).any() else flooded(document, OUTSIDE)


def send_documents(
    documents: ReadDocuments,
    link: str,
    asked: PublicationTable,
    pool: Pool,
    outgoing: Outgoing,
    annotated: Annotated | None = None,
) -> None:
    """Add to ``outgoing`` the messages that carry documents from ``link`` on to neighbours and clients.

    ``annotated`` returns a document as it goes to a neighbour.
    """
    origin = asked[link]
    arrived = NOWHERE if origin.is_client else origin.number
    table, deliveries = asked.forwarding(pool.capacity), asked.deliveries(pool.capacity)
    for envelope, finding in documents:
        links = wanted_links(table, finding.answer, flooded=is_flooded(envelope), arrived=arrived)
        if links:
            onward = Publish(envelope)
            for number, neighbour in enumerate(asked.neighbours):
                if links >> number & 1:
                    if annotated is not None:
                        marked = annotated(envelope, finding, neighbour)
                        if marked is not onward.envelope:
                            onward = Publish(marked)
                    outgoing.setdefault(neighbour, []).append(onward)
        delivered = None
        for client, ids in deliveries.by_client(deliveries.rows(finding.answer)):
            delivered = delivered or envelope.delivered()
            outgoing.setdefault(asked.clients[client], []).append(Deliver(delivered, ids))


def as_paths(document: Envelope) -> Paths:
    """Return all paths of a whole document."""
    paths = leaf_paths(document.doc_id, read(document.body))
    return Paths(document.doc_id, paths, document.publisher, document.headers)


def send_paths(
    publication: Paths,
    link: str,
    asked: PublicationTable,
    exact: PublicationTable,
    pool: Pool,
    outgoing: Outgoing,
) -> None:
    """Add to ``outgoing`` the paths that neighbours subscribe to, and the deliveries to clients.

    ``asked`` holds the branches of the clients' patterns, ``exact`` the patterns themselves.
    """
    answers = [pool.match(path.body) for path in publication.paths]
    carried = _carried(answers, is_flooded(publication), link, asked, pool)
    for neighbour, taken in zip(asked.neighbours, carried.taken.T.tolist(), strict=True):
        if True in taken:
            outgoing.setdefault(neighbour, []).append(publication.only(taken))
    deliveries = asked.deliveries(pool.capacity)
    paths, rows = deliveries.pairs(carried.rows, carried.positions)
    wanted: dict[int, set[int]] = {}
    for client, path in zip(deliveries.client[rows].tolist(), paths.tolist(), strict=True):
        wanted.setdefault(client, set()).add(path)
    table = exact.deliveries(pool.capacity)
    for client in sorted(wanted):
        body = reassemble([publication.paths[number] for number in sorted(wanted[client])])
        matched = dict(table.by_client(table.rows(pool.match(body))))
        name = asked.clients[client]
        if ids := matched.get(exact[name].number):
            envelope = Envelope(publication.doc_id, body, publication.publisher, publication.headers)
            outgoing.setdefault(name, []).append(Deliver(envelope, ids))


def _carried(
    answers: Sequence[Answer], everywhere: bool, link: str, asked: PublicationTable, pool: Pool
) -> Carried:
    """Find the links that each path of a document takes out of this router."""
    rows = np.repeat(np.arange(len(answers)), [len(answer) for answer in answers])
    positions = np.concatenate(answers) if answers else np.zeros(0, dtype=np.int32)
    origin = asked[link]
    return carry(
        asked.forwarding(pool.capacity),
        np.zeros(len(answers), dtype=np.int64),
        rows,
        positions,
        flooded=np.ones(len(answers), dtype=np.bool_) if everywhere else None,
        arrived=NOWHERE if origin.is_client else origin.number,
    )

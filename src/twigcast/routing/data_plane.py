"""What a router does with documents: to which neighbours they go, and to which clients.

    document ──match──► numbers of patterns ──carry──► neighbours          Publish, or Paths
                                            └────────► rows of clients     Deliver

Whole documents and documents as paths go through the same tables; a path is matched as a document of its own.
A client whose branches matched some paths gets the document that these paths make up, if one of its own
patterns matches that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from twigcast.routing.forwarding import NOWHERE, Carried, carry, wanted_links
from twigcast.routing.messages import Deliver, Envelope, Message, Paths, Publish, is_flooded
from twigcast.routing.path_publication import reassemble
from twigcast.routing.pool import Answer, Pool
from twigcast.routing.tables import PublicationTable

Outgoing: TypeAlias = dict[str, list[Message]]
"""Messages by the link that they are to be sent over."""


def send_documents(
    documents: Sequence[tuple[Envelope, Answer]],
    link: str,
    asked: PublicationTable,
    pool: Pool,
    outgoing: Outgoing,
) -> None:
    """Send documents that came over a link on to neighbours and clients."""
    came = asked[link]
    arrived = NOWHERE if came.is_client else came.number
    table, deliveries = asked.forwarding(pool.capacity), asked.deliveries(pool.capacity)
    for envelope, answer in documents:
        links = wanted_links(table, answer, flooded=is_flooded(envelope), arrived=arrived)
        if links:
            onward = Publish(envelope)
            for number, neighbour in enumerate(asked.neighbours):
                if links >> number & 1:
                    outgoing.setdefault(neighbour, []).append(onward)
        for client, ids in deliveries.by_client(deliveries.rows(answer)):
            outgoing.setdefault(asked.clients[client], []).append(Deliver(envelope, ids))


def send_paths(
    publication: Paths,
    link: str,
    asked: PublicationTable,
    exact: PublicationTable,
    pool: Pool,
    outgoing: Outgoing,
) -> None:
    """Send the paths of a document on to those who ask for them, and documents to clients.

    ``asked`` has the branches of the clients' patterns, ``exact`` the patterns themselves.
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
    answers: Sequence[Answer], flooded: bool, link: str, asked: PublicationTable, pool: Pool
) -> Carried:
    """Carry the paths of a document out of a router."""
    rows = np.repeat(np.arange(len(answers)), [len(answer) for answer in answers])
    positions = np.concatenate(answers) if answers else np.zeros(0, dtype=np.int32)
    came = asked[link]
    return carry(
        asked.forwarding(pool.capacity),
        np.zeros(len(answers), dtype=np.int64),
        rows,
        positions,
        flooded=np.ones(len(answers), dtype=np.bool_) if flooded else None,
        arrived=NOWHERE if came.is_client else came.number,
    )

"""Sends documents that travel as paths to neighbours and clients.

    path ──match──► numbers of patterns ──carry──► neighbours                  Paths
                                        └────────► clients: the paths together, if a pattern matches them

Each path is matched like a document of its own.  The paths that match branches of a client's patterns are
reassembled into a document; the client receives this document if one of its patterns matches it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twigcast.document import read
from twigcast.routing.forwarding import NOWHERE, Carried, carry
from twigcast.routing.messages import Deliver, Envelope, Outgoing, Paths, is_flooded
from twigcast.routing.path_publication import leaf_paths, reassemble
from twigcast.routing.pool import Answer, Pool
from twigcast.routing.tables import PublicationTable


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

"""One document on its way through a router, whole or in fragments.

    evidence    annotations ► structure ► each fragment ► the whole document           cheapest first
    transit     links that are proven and have not got the document        send it, now
                links that are refuted                                     forget them
                links that are open                                        read on

A neighbour is decided once a pattern of it is certain to match, or none can match any more.  A client is
decided once none of its patterns is open, because it is told the ids of all that match.

Invariant: whatever the order in which evidence comes, a document ends up at the links where matching the
whole of it would send it.  Evidence that comes early changes when it gets there, and whether it is read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twigcast.routing.forwarding import wanted_links
from twigcast.routing.pool import NONE, Answer
from twigcast.routing.tables import SELF
from twigcast.routing.transit.tables import TransitTables


class Transit:
    """The links that a document must take, those that it may still have to take, and those that have it."""

    __slots__ = ("is_flooded", "matched", "open", "sent", "served", "tables", "wanted")

    def __init__(self, tables: TransitTables, *, flooded: bool) -> None:
        self.tables = tables
        self.is_flooded = False
        self.matched: Answer = NONE
        """The patterns that are certain to match."""
        self.open: Answer | None = None
        """The patterns that may match, too; None if nothing is known of them."""
        self.wanted = 0
        """The links to neighbours that must be sent the document, as bits."""
        self.sent = 0
        """Those that were sent it."""
        self.served: set[int] = set()
        """The clients that were sent it, by number."""
        if flooded:
            self.flood()

    def flood(self) -> None:
        """Send the document to all neighbours, whatever it matches."""
        self.is_flooded = True
        self.wanted |= self.tables.everywhere

    def learn(self, matched: Answer, open: Answer | None) -> None:
        """Take in that patterns match for certain, and which others may match."""
        self.matched, self.open = matched, open
        tables = self.tables
        self.wanted |= wanted_links(tables.forwarding, matched, flooded=False, arrived=tables.arrived)

    @property
    def undecided(self) -> int:
        """The links, as bits, of which it is not known whether they want the document."""
        tables = self.tables
        if self.open is None:
            return tables.possible & ~self.wanted
        if not len(self.open):
            return 0
        open = wanted_links(tables.forwarding, self.open, flooded=False, arrived=tables.arrived)
        return open & ~self.wanted

    @property
    def is_decided(self) -> bool:
        """Whether nothing is left to find out for any link."""
        if self.open is None:
            return not (self.tables.subscribers or self.undecided)
        if not len(self.open):
            return True
        return not ((self.tables.homes[self.open] == SELF).any() or self.undecided)

    def take_neighbours(self) -> list[str]:
        """Return the neighbours that are to be sent the document now; from now on they have it."""
        new = self.wanted & ~self.sent
        if not new:
            return []
        self.sent |= new
        return [neighbour for at, neighbour in enumerate(self.tables.neighbours) if new >> at & 1]

    def take_clients(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the clients that are to be sent the document now, with the ids that match."""
        if self.open is None:
            return
        deliveries, clients = self.tables.deliveries, self.tables.clients
        rows = deliveries.rows(self.matched)
        if not len(rows):
            return
        undecided: set[int] = set()
        if len(self.open):
            undecided = set(np.unique(deliveries.client[deliveries.rows(self.open)]).tolist())
        for client, ids in deliveries.by_client(rows):
            if client not in self.served and client not in undecided:
                self.served.add(client)
                yield clients[client], ids

"""The tables of a router as they are for the documents of one link, until the next change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from twigcast.routing.delivery_table import NO_ROW, DeliveryTable
from twigcast.routing.forwarding import NOWHERE, ForwardingTable
from twigcast.routing.pool import Answer, Pool
from twigcast.routing.tables import SELF, AdvertisementTable, PublicationTable

if TYPE_CHECKING:
    from twigcast.routing.advertising import Advertisement
    from twigcast.routing.piggyback.payloads import Bits
    from twigcast.routing.piggyback.verdict import ClaimTable


@dataclass(eq=False)  # without slots: what few documents need is computed once, when it is asked for
class TransitTables:
    """Where the documents of one link go.

    A row is a pattern that another link than their own subscribes to.  The tables inside are frozen, so a
    document that takes long keeps those that it began with.
    """

    pool: Pool
    forwarding: ForwardingTable
    homes: Answer
    """By number: ``SELF`` if a client subscribes to the pattern."""
    deliveries: DeliveryTable
    neighbours: tuple[str, ...]
    """The links to neighbours, in the order of their numbers."""
    clients: Mapping[int, str]
    """The names of the clients that are attached now, by number."""
    arrived: int
    """The number of the link, over which no document goes back; ``NOWHERE`` if it leads to a client."""
    advertised: Mapping[str, Advertisement] | None
    """The advertisements of the link; None without advertising."""
    schemas: tuple[int, ...] | None
    """The numbers of its advertisements if it leads to a client: a document of none of them is flooded."""
    is_checked: bool = field(init=False)
    """Whether documents come from a client, so that each one is read to its end."""
    _answered_by: ClaimTable | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.is_checked = self.arrived == NOWHERE

    @cached_property
    def everywhere(self) -> int:
        """The links that a flooded document takes, as bits."""
        all_links = (1 << len(self.neighbours)) - 1
        return all_links if self.is_checked else all_links & ~(1 << self.arrived)

    @cached_property
    def possible(self) -> int:
        """The links that a document may take, as bits: all if it may be flooded, or those with rows."""
        if self.advertised is not None:
            return self.everywhere
        asked = sum(
            int(np.bitwise_or.reduce(word)) << 64 * at for at, word in enumerate(self.forwarding.words)
        )
        return asked & self.everywhere

    @cached_property
    def subscribers(self) -> frozenset[int]:
        """The numbers of the clients that have subscriptions."""
        found = self.deliveries.client
        return frozenset(np.unique(found[found != NO_ROW]).tolist())

    @cached_property
    def is_row(self) -> Bits:
        """By number: whether it is a row."""
        present: Bits = self.homes == SELF
        everywhere = self.everywhere
        for at, word in enumerate(self.forwarding.words):
            others = np.uint64(everywhere >> 64 * at & 0xFFFFFFFFFFFFFFFF)
            present = present | ((word & others) != 0)
        return present

    @cached_property
    def rows(self) -> Answer:
        """The numbers of the rows."""
        return np.flatnonzero(self.is_row).astype(np.int32)

    @cached_property
    def held_back(self) -> Answer:
        """Rows that overlap no advertisement of the link: only flooded documents can match them."""
        apart: list[int] = []
        if self.advertised is not None and not self.is_checked:
            overlaps, advertised = self.pool.overlaps, self.advertised.values()
            apart = [row for row in self.rows.tolist() if not any(overlaps(each, row) for each in advertised)]
        return np.array(apart, dtype=np.int32)

    @cached_property
    def may_match(self) -> Bits:
        """By number: whether it is a row that a document can match if it is not flooded."""
        found = self.is_row.copy()
        found[self.held_back] = False
        return found

    def are_answered_by(self, table: ClaimTable) -> bool:
        """Whether the answers to a plan decide all rows."""
        if table is not self._answered_by:
            if not table.answers_all(self.rows, self.pool.serials):
                return False
            self._answered_by = table
        return True


class TablesByLink:
    """The tables of one router for each of its links, made anew after a change."""

    def __init__(
        self,
        pool: Pool,
        subscribed: PublicationTable,
        exact: PublicationTable,
        announced: AdvertisementTable | None,
        schemas: Mapping[str, int],
    ) -> None:
        """Documents are forwarded by ``subscribed`` and delivered by ``exact``.

        ``announced`` is given with advertising, and ``schemas`` has the numbers of the clients'
        advertisements.
        """
        self._pool, self._subscribed, self._exact = pool, subscribed, exact
        self._announced, self._schemas = announced, schemas
        self._tables: dict[str, TransitTables] = {}

    def forget(self) -> None:
        """Make all tables anew, because links or advertisements have changed."""
        self._tables.clear()

    def of(self, link: str) -> TransitTables:
        """Return the tables for the documents of a link."""
        size = self._pool.capacity
        forwarding, deliveries = self._subscribed.forwarding(size), self._exact.deliveries(size)
        known = self._tables.get(link)
        if known is not None and known.forwarding is forwarding and known.deliveries is deliveries:
            return known
        origin = self._subscribed[link]
        advertised = schemas = None
        if self._announced is not None:
            advertised = dict(self._announced[link])
            if origin.is_client:
                schemas = tuple(self._schemas[id] for id in advertised)
        made = self._tables[link] = TransitTables(
            self._pool,
            forwarding,
            self._exact.forwarding(size).home,
            deliveries,
            self._subscribed.neighbours,
            self._exact.clients,
            NOWHERE if origin.is_client else origin.number,
            advertised,
            schemas,
        )
        return made

"""The rows of a router's table that a document from a given link is matched with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twigcast.routing.forwarding import NOWHERE, ForwardingTable, wanted_links
from twigcast.routing.piggyback.payloads import Bits
from twigcast.routing.piggyback.verdict import NO_NUMBERS, ClaimTable, Known, Numbers, Serials
from twigcast.routing.pool import Pool
from twigcast.routing.tables import SELF, AdvertisementTable, PublicationTable

ALL_LINKS = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(slots=True)
class LinkRows:
    """The rows for documents from a link, as long as tables and advertisements stay as they are."""

    table: ForwardingTable
    version: int
    """The state of the advertisements for which these rows were computed."""
    numbers: Numbers
    held_back: Numbers
    """Rows that overlap no advertisement of the link: only flooded documents can match them."""
    present: Bits
    """By number: whether it is a row."""
    expected: Bits
    """The same without the rows that are held back."""
    serials: Serials
    arrived: int
    """The number of the link, over which no document goes back; ``NOWHERE`` for a client."""
    _answered_by: ClaimTable | None = None

    def are_answered_by(self, table: ClaimTable) -> bool:
        """Whether the answers to a plan decide all rows."""
        if table is not self._answered_by:
            if not table.answers_all(self.numbers, self.serials):
                return False
            self._answered_by = table
        return True

    def contradict(self, known: Known, *, flooded: bool) -> bool:
        """Whether a row is both proven and refuted, after those that cannot match were refuted."""
        if not flooded:
            known.no[self.held_back] = True
        return bool((known.yes & known.no & self.present).any())

    def are_undecided(self, left: Numbers, proven: Numbers, *, flooded: bool) -> bool:
        """Whether the open rows matter: those of clients, and of neighbours without a proven row."""
        if not len(left):
            return False
        if (self.table.home[left] == SELF).any():
            return True
        if flooded:
            return False  # it goes to all neighbours anyway
        wanted = wanted_links(self.table, left, flooded=False, arrived=self.arrived)
        return bool(wanted & ~wanted_links(self.table, proven, flooded=False, arrived=self.arrived))


def rows_for(
    link: str, asked: PublicationTable, announced: AdvertisementTable | None, pool: Pool, version: int
) -> LinkRows:
    """Return the rows for documents from a link: those of all other links; ``announced`` with advertising."""
    origin, table = asked[link], asked.forwarding(pool.capacity)
    present = table.home == SELF
    for word, bits in enumerate(table.words):
        others = ALL_LINKS
        if not origin.is_client and origin.number // 64 == word:
            others = ALL_LINKS ^ np.uint64(1 << origin.number % 64)
        present |= (bits & others) != 0
    numbers = np.flatnonzero(present).astype(np.int32)
    held_back = NO_NUMBERS
    if announced is not None and not origin.is_client:
        described = announced[link]
        apart = [number for number in numbers.tolist() if not announced.leads(number, described)]
        held_back = np.array(apart, dtype=np.int32)
    expected = present.copy()
    expected[held_back] = False
    arrived = NOWHERE if origin.is_client else origin.number
    return LinkRows(table, version, numbers, held_back, present, expected, pool.serials, arrived)

"""The tables of a router: what its links ask for, and what they announce.

    publication table (the paper's PRT)      where documents go: link ─► id ─► pattern
    advertisement table (the paper's SRT)    where subscriptions go: link ─► advertisements

Patterns are numbers of a ``Pool``; a row of a table is a string and a number, both shared with other routers.
An id stands for one pattern.  An id that a router made itself (of a merger, of an aggregate) is derived from
its pattern, so several links may have it; any other id comes from one link.

These are the dictionaries of the control plane.  Documents are matched against frozen tables of arrays, which
``PublicationTable`` makes when the first document after a change asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from twigcast.routing.advertising import Advertisement
from twigcast.routing.delivery_table import ClientRow, DeliveryTable
from twigcast.routing.forwarding import NOWHERE, Demand, ForwardingTable
from twigcast.routing.pool import Pool

SELF = 0
"""The number of the router itself in its forwarding table; its neighbours come after it."""

MOST_DEAD = 1024
"""The delivery table is compacted when more than half of its rows, and so many, are dead."""


class LinkTable:
    """What one link asks for: ids and the numbers of their patterns."""

    __slots__ = ("counts", "is_client", "number", "numbers")

    def __init__(self, number: int, *, is_client: bool = False) -> None:
        self.number = number
        self.is_client = is_client
        self.numbers: dict[str, int] = {}
        self.counts: dict[int, int] = {}
        """How many ids stand for each pattern."""

    def __len__(self) -> int:
        return len(self.numbers)


class PublicationTable:
    """What each link of a router asks for; neighbours are links to other routers, clients are not."""

    def __init__(self, name: str, neighbours: Iterable[str]) -> None:
        self._name = name
        self.links: dict[str, LinkTable] = {}
        self.clients: dict[int, str] = {}
        """The names of the clients by their numbers in the delivery table, which are never given twice."""
        self.neighbours: tuple[str, ...] = ()
        """The links to routers, in the order of their numbers in the forwarding table."""
        self._next_client = 0
        self._at_clients: dict[int, int] = {}  # how many ids of clients stand for each pattern
        self._forwarding = ForwardingTable.of((name,), ())
        self._changed: set[int] = set()
        self._deliveries = DeliveryTable.of()
        self._added: dict[str, ClientRow] = {}
        self._removed: list[int] = []
        self._rows: dict[str, int] = {}  # of the subscriptions in the delivery table
        for neighbour in neighbours:
            self.connect(neighbour)

    def __getitem__(self, link: str) -> LinkTable:
        return self.links[link]

    def __len__(self) -> int:
        return sum(map(len, self.links.values()))

    def connect(self, neighbour: str) -> None:
        """Add a link to another router."""
        self.links[neighbour] = LinkTable(len(self.neighbours))
        self._renew_forwarding((*self.neighbours, neighbour))

    def disconnect(self, neighbour: str) -> None:
        """Drop the link to a router."""
        del self.links[neighbour]
        self._renew_forwarding([name for name in self.neighbours if name != neighbour])

    def attach(self, client: str) -> None:
        """Add a link to a client."""
        self.links[client] = LinkTable(self._next_client, is_client=True)
        self.clients[self._next_client] = client
        self._next_client += 1

    def detach(self, client: str) -> None:
        """Drop the link to a client, which has no subscriptions any more."""
        del self.clients[self.links.pop(client).number]

    def change(self, link: str, added: Mapping[str, int], removed: Iterable[str]) -> None:
        """Take ids out of what a link asks for, then put in others."""
        table = self.links[link]
        for id in removed:
            number = table.numbers.pop(id)
            _discount(table.counts, number)
            self._changed.add(number)
            if table.is_client:
                _discount(self._at_clients, number)
                if self._added.pop(id, None) is None:
                    self._removed.append(self._rows.pop(id))
        for id, number in added.items():
            table.numbers[id] = number
            table.counts[number] = table.counts.get(number, 0) + 1
            self._changed.add(number)
            if table.is_client:
                self._at_clients[number] = self._at_clients.get(number, 0) + 1
                self._added[id] = ClientRow(number, table.number, id)

    def forwarding(self, size: int) -> ForwardingTable:
        """Return the table of the links to neighbours, as of now, for at least ``size`` patterns."""
        if self._changed or size > len(self._forwarding.home):
            tables = [self.links[neighbour] for neighbour in self.neighbours]
            demands = {
                number: Demand(
                    [table.number for table in tables if number in table.counts],
                    SELF if number in self._at_clients else NOWHERE,
                )
                for number in self._changed
            }
            self._forwarding = self._forwarding.with_changes(demands, size)
            self._changed.clear()
        return self._forwarding

    def deliveries(self, size: int) -> DeliveryTable:
        """Return the table of the clients' subscriptions, as of now, for at least ``size`` patterns."""
        if self._added or self._removed or size > len(self._deliveries.first):
            if len(self._deliveries) > 2 * len(self._rows) + len(self._added) + MOST_DEAD:
                self._compact()
            first, added = len(self._deliveries), list(self._added.values())
            self._deliveries = self._deliveries.with_changes(added, self._removed, size)
            self._rows |= {row.id: number for number, row in enumerate(added, first)}
            self._added.clear()
            self._removed.clear()
        return self._deliveries

    def holders(self, ids: Mapping[str, object], link: str) -> dict[str, list[str]]:
        """Return which of these ids links other than this one have, with those links."""
        held: dict[str, list[str]] = {}
        for other, table in self.links.items():
            if other != link and table.numbers:
                for id in ids.keys() & table.numbers.keys():
                    held.setdefault(id, []).append(other)
        return held

    def elsewhere(self, link: str) -> dict[str, int]:
        """Return what all links but this one ask for."""
        together: dict[str, int] = {}
        for other, table in self.links.items():
            if other != link:
                together.update(table.numbers)
        return together

    def _renew_forwarding(self, neighbours: Iterable[str]) -> None:
        """Begin a forwarding table for other links; the next document fills it."""
        self.neighbours = tuple(neighbours)
        for number, neighbour in enumerate(self.neighbours):
            self.links[neighbour].number = number
        joined = [(SELF, SELF + 1 + number) for number in range(len(self.neighbours))]
        self._forwarding = ForwardingTable.of((self._name, *self.neighbours), joined)
        for table in self.links.values():
            self._changed |= table.counts.keys()

    def _compact(self) -> None:
        """Make the delivery table anew, without the rows that were taken out of it."""
        clients = self._deliveries.client
        kept = [
            ClientRow(self.links[self.clients[client]].numbers[id], client, id)
            for id, row in sorted(self._rows.items(), key=lambda item: item[1])
            for client in (int(clients[row]),)
        ]
        self._deliveries = DeliveryTable.of(kept)
        self._rows = {row.id: number for number, row in enumerate(kept)}
        self._removed.clear()


class AdvertisementTable:
    """What each link announces."""

    def __init__(self, links: Iterable[str], pool: Pool) -> None:
        self.links: dict[str, dict[str, Advertisement]] = {link: {} for link in links}
        self._pool = pool

    def __getitem__(self, link: str) -> dict[str, Advertisement]:
        return self.links[link]

    def __len__(self) -> int:
        return sum(map(len, self.links.values()))

    def origin(self, id: str) -> str | None:
        """Return the link that an advertisement came from, or None if there is no such advertisement."""
        return next((link for link, announced in self.links.items() if id in announced), None)

    def leads(self, number: int, announced: Mapping[str, Advertisement]) -> bool:
        """Whether a subscription overlaps one of these advertisements."""
        return any(self._pool.overlaps(each, number) for each in announced.values())


def _discount(counts: dict[int, int], number: int) -> None:
    if counts[number] == 1:
        del counts[number]
    else:
        counts[number] -= 1

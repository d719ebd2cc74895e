"""The tables of a router: the subscriptions and the advertisements of its links.

    publication table (the paper's PRT)      where documents go: link ─► id ─► pattern
    advertisement table (the paper's SRT)    where subscriptions go: link ─► advertisements

Patterns are numbers of a ``Pool``; a row of a table is a string and a number, both shared with other routers.
An id stands for one pattern.  An id that a router generated (for a merger or an aggregate) is derived from
its pattern, so several links may have it; any other id belongs to one link.

These tables are dictionaries and belong to the control plane.  Documents are routed by frozen tables of
arrays, which ``PublicationTable`` makes for the first document after a change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from twigcast.errors import RoutingError
from twigcast.pattern import Pattern
from twigcast.routing.advertising import Advertisement
from twigcast.routing.delivery_table import ClientRow, DeliveryTable
from twigcast.routing.forwarding import NOWHERE, Demand, ForwardingTable
from twigcast.routing.pool import Pool

SELF = 0
"""The number of the router itself in its forwarding table; those of its neighbours follow."""

MOST_DEAD = 1024
"""The delivery table is compacted when more than half of its rows, and more than this many, are dead."""


class LinkTable:
    """The subscriptions of one link: ids and the numbers of their patterns."""

    __slots__ = ("counts", "is_client", "number", "numbers")

    def __init__(self, number: int, *, is_client: bool = False) -> None:
        self.number = number
        self.is_client = is_client
        self.numbers: dict[str, int] = {}
        self.counts: dict[int, int] = {}
        """The number of ids for each pattern."""

    def __len__(self) -> int:
        return len(self.numbers)


class PublicationTable:
    """The subscriptions of each link of a router, which leads to a neighbour or to a client."""

    def __init__(self, name: str, neighbours: Iterable[str]) -> None:
        self._name = name
        self.links: dict[str, LinkTable] = {}
        self.clients: dict[int, str] = {}
        """The names of the clients by their numbers in the delivery table; numbers are never reused."""
        self.neighbours: tuple[str, ...] = ()
        """The links to neighbours, in the order of their numbers in the forwarding table."""
        self._next_client = 0
        self._at_clients: dict[int, int] = {}  # the number of ids of clients for each pattern
        self._forwarding = ForwardingTable.of((name,), ())
        self._changed: set[int] = set()
        self._deliveries = DeliveryTable.of()
        self._added: dict[str, ClientRow] = {}
        self._removed: list[int] = []
        self._rows: dict[str, int] = {}  # row numbers in the delivery table, by id
        for neighbour in neighbours:
            self.connect(neighbour)

    def __getitem__(self, link: str) -> LinkTable:
        return self.links[link]

    def __len__(self) -> int:
        return sum(map(len, self.links.values()))

    def check_new(self, link: str) -> None:
        """Refuse a name that a link or the router itself has; raises ``RoutingError``."""
        if link in self.links or link == self._name:
            why = f"router {self._name!r} already has a link {link!r}"
            raise RoutingError(why, code="duplicate-link", name=link)

    def check_link(self, link: str, *, is_client: bool | None = None) -> None:
        """Refuse a name that no link has, or one that leads to the other kind; raises ``RoutingError``."""
        why = ""
        if link not in self.links:
            why = f"router {self._name!r} has no link {link!r}"
        elif is_client is not None and is_client != self.links[link].is_client:
            kinds = ("a neighbour, not a client", "a client, not a neighbour")
            why = f"{link!r} is {kinds[self.links[link].is_client]}"
        if why:
            raise RoutingError(why, code="unknown-link", name=link)

    def connect(self, neighbour: str) -> None:
        """Add a link to a neighbour."""
        self.links[neighbour] = LinkTable(len(self.neighbours))
        self._renew_forwarding((*self.neighbours, neighbour))

    def disconnect(self, neighbour: str) -> None:
        """Drop the link to a neighbour."""
        del self.links[neighbour]
        self._renew_forwarding([name for name in self.neighbours if name != neighbour])

    def attach(self, client: str) -> None:
        """Add a link to a client."""
        self.links[client] = LinkTable(self._next_client, is_client=True)
        self.clients[self._next_client] = client
        self._next_client += 1

    def detach(self, client: str) -> None:
        """Drop the link to a client, which must have no subscriptions left."""
        del self.clients[self.links.pop(client).number]

    def change(self, link: str, added: Mapping[str, int], removed: Iterable[str]) -> None:
        """Remove subscriptions of a link, then add others; the same id may be in both."""
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

    def replace(
        self, link: str, added: Mapping[str, Pattern], removed: Iterable[str], pool: Pool
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Change the table of a link; return the added and removed numbers, the latter not yet released."""
        taken = {id: self.links[link].numbers[id] for id in removed}
        put = {id: pool.hold(pattern) for id, pattern in added.items()}
        self.change(link, put, removed)
        return put, taken

    def forwarding(self, size: int) -> ForwardingTable:
        """Return the current forwarding table of the links to neighbours, for at least ``size`` patterns."""
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
        """Return the current delivery table of the clients, for at least ``size`` patterns."""
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
        """Return the ids that links other than ``link`` have, each with these links."""
        held: dict[str, list[str]] = {}
        for other, table in self.links.items():
            if other != link and table.numbers:
                for id in ids.keys() & table.numbers.keys():
                    held.setdefault(id, []).append(other)
        return held

    def elsewhere(self, link: str) -> dict[str, int]:
        """Return the subscriptions of all links except ``link``."""
        together: dict[str, int] = {}
        for other, table in self.links.items():
            if other != link:
                together.update(table.numbers)
        return together

    def _renew_forwarding(self, neighbours: Iterable[str]) -> None:
        """Start an empty forwarding table for these neighbours; the next document fills it."""
        self.neighbours = tuple(neighbours)
        for number, neighbour in enumerate(self.neighbours):
            self.links[neighbour].number = number
        joined = [(SELF, SELF + 1 + number) for number in range(len(self.neighbours))]
        self._forwarding = ForwardingTable.of((self._name, *self.neighbours), joined)
        for table in self.links.values():
            self._changed |= table.counts.keys()

    def _compact(self) -> None:
        """Rebuild the delivery table without its removed rows."""
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
    """The advertisements of each link."""

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


def net_change(
    numbers: Mapping[str, int],
    changed: Mapping[str, Pattern | None],
    pattern: Callable[[int], Pattern],
) -> tuple[dict[str, Pattern], dict[str, Pattern]]:
    """Return what must be added and removed, where ``changed`` has None for what ends."""
    added: dict[str, Pattern] = {}
    removed: dict[str, Pattern] = {}
    for id, new in changed.items():
        number = numbers.get(id)
        if number is not None:
            before = pattern(number)
            if before == new:
                continue
            removed[id] = before
        if new is not None:
            added[id] = new
    return added, removed


def check_distinct(links: Sequence[str], name: str) -> None:
    """Refuse two links of one name, or one to the router itself."""
    seen = {name}
    for link in links:
        if link in seen:
            raise RoutingError(
                f"router {name!r} has two links {link!r}, or one to itself", code="duplicate-link", name=link
            )
        seen.add(link)

"""What must be delivered, and which brokers must see a document: flooding, worked out without a network.

Each document is matched against every live subscription.  A broker needs it if it lies on the way to a client
with a match; of a document that travels as paths, it needs the paths that such a client's branches ask for.
Whatever else a broker receives is a false positive.
"""

from __future__ import annotations

from collections.abc import Iterable

from twigcast.pattern import Pattern
from twigcast.routing import LeafPath, Network, Pool, branches
from twigcast.routing.tables import LinkTable

ANSWERS = 8192


class Truth:
    """All live subscriptions of a network, client by client."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._at = dict(network.clients)
        self._pool = Pool(answers=ANSWERS)
        self._exact = {client: LinkTable() for client in self._at}
        self._asked = {client: LinkTable() for client in self._at}
        self._needed: dict[tuple[str, frozenset[int]], frozenset[str]] = {}

    def subscribe(self, client: str, subscriptions: Iterable[tuple[str, Pattern]]) -> None:
        """A client wants more."""
        hold = self._pool.hold
        exact: dict[str, int] = {}
        asked: dict[str, int] = {}
        for id, pattern in subscriptions:
            exact[id] = hold(pattern)
            for number, branch in enumerate(branches(pattern)):
                asked[f"{number}:{id}"] = hold(branch)
        self._exact[client].change(exact, ())
        self._asked[client].change(asked, ())
        self._needed.clear()

    def unsubscribe(self, client: str, ids: Iterable[str]) -> None:
        """A client wants less."""
        gone = set(ids)
        self._exact[client].change({}, gone)
        table = self._asked[client]
        table.change({}, [id for id in table.numbers if id.partition(":")[2] in gone])
        self._needed.clear()

    def deliveries(self, body: bytes) -> dict[str, tuple[str, ...]]:
        """The clients that must receive a document, and the ids it matches there."""
        answer = self._pool.match(body)
        return {client: ids for client, table in self._exact.items() if (ids := table.matched(answer))}

    def needed(self, body: bytes, publisher: str) -> frozenset[str]:
        """The brokers that a whole document must pass through."""
        return self._on_the_way(self._exact, self._pool.match(body), publisher)

    def needed_path(self, path: LeafPath, publisher: str) -> frozenset[str]:
        """The brokers that a path must pass through."""
        return self._on_the_way(self._asked, self._pool.match(path.body), publisher)

    def _on_the_way(
        self, tables: dict[str, LinkTable], answer: frozenset[int], publisher: str
    ) -> frozenset[str]:
        kind = "exact" if tables is self._exact else "asked"
        key = f"{kind} {publisher}", answer
        found = self._needed.get(key)
        if found is None:
            start = self._at[publisher]
            found = frozenset(
                broker
                for client, table in tables.items()
                if table.wants(answer)
                for broker in self._network.route(start, self._at[client])
            )
            self._needed[key] = found
        return found

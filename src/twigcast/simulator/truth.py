"""Which deliveries flooding makes, and which routers a document must pass: worked out without a network.

Each document is matched against every live subscription.  A router needs a document if it lies on the way to
a client with a match; of a document that travels as paths, it needs the paths that match the branches of such
a client's patterns.  Everything else that a router receives is a false positive.
"""

from __future__ import annotations

from collections.abc import Iterable

from twigcast.pattern import Pattern
from twigcast.routing import LeafPath, Network, Pool, PublicationTable, branches

ANSWERS = 8192


class Truth:
    """All live subscriptions of a network, as if all clients were at one place."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._at = dict(network.clients)
        self._pool = Pool(answers=ANSWERS)
        self._exact = PublicationTable("", ())
        self._branches = PublicationTable("", ())
        for client in self._at:
            self._exact.attach(client)
            self._branches.attach(client)
        self._ways: dict[tuple[str, frozenset[int]], frozenset[str]] = {}

    def subscribe(self, client: str, subscriptions: Iterable[tuple[str, Pattern]]) -> None:
        """Add subscriptions of a client."""
        hold = self._pool.hold
        exact: dict[str, int] = {}
        parts: dict[str, int] = {}
        for id, pattern in subscriptions:
            exact[id] = hold(pattern)
            for number, branch in enumerate(branches(pattern)):
                parts[f"{number}:{id}"] = hold(branch)
        self._exact.change(client, exact, ())
        self._branches.change(client, parts, ())

    def unsubscribe(self, client: str, ids: Iterable[str]) -> None:
        """Remove subscriptions of a client."""
        gone = set(ids)
        self._exact.change(client, {}, gone)
        parts = [id for id in self._branches[client].numbers if id.partition(":")[2] in gone]
        self._branches.change(client, {}, parts)

    def deliveries(self, body: bytes) -> dict[str, tuple[str, ...]]:
        """Return the clients that must receive a document, with the ids of what it matches there."""
        table = self._exact.deliveries(self._pool.capacity)
        found = table.by_client(table.rows(self._pool.match(body)))
        return {self._exact.clients[client]: ids for client, ids in found}

    def needed(self, body: bytes, publisher: str) -> frozenset[str]:
        """Return the routers that a whole document must pass."""
        return self._on_the_way(self._exact, body, publisher)

    def needed_path(self, path: LeafPath, publisher: str) -> frozenset[str]:
        """Return the routers that a path must pass."""
        return self._on_the_way(self._branches, path.body, publisher)

    def _on_the_way(self, asked: PublicationTable, body: bytes, publisher: str) -> frozenset[str]:
        table = asked.deliveries(self._pool.capacity)
        clients = frozenset(table.client[table.rows(self._pool.match(body))].tolist())
        found = self._ways.get((publisher, clients))
        if found is None:
            start = self._at[publisher]
            found = self._ways[publisher, clients] = frozenset(
                router
                for client in clients
                for router in self._network.route(start, self._at[asked.clients[client]])
            )
        return found

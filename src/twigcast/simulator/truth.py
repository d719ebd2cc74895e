"""Computes the deliveries of flooding, and the routers that a document must pass, without running a network.

Each document, or its image if it has a mapping, is matched against every live subscription.  A router needs a
document if it lies on the route to a client with a match.  If documents travel as paths, it needs the paths
that match branches of such a client's patterns.  Every other publication that a router receives is a false
positive.
"""

from __future__ import annotations

from collections.abc import Iterable

from twigcast.pattern import Pattern
from twigcast.rewriting import Mapping
from twigcast.routing import LeafPath, Network, Pool, PublicationTable, branches

ANSWERS = 8192


class Truth:
    """All live subscriptions of a network, in one table for all clients."""

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
        removed = set(ids)
        self._exact.change(client, {}, removed)
        parts = [id for id in self._branches[client].numbers if id.partition(":")[2] in removed]
        self._branches.change(client, {}, parts)

    def deliveries(self, body: bytes, mapping: Mapping | None = None) -> dict[str, tuple[str, ...]]:
        """Return the clients that must receive a document, each with its matching subscriptions."""
        table = self._exact.deliveries(self._pool.capacity)
        found = table.by_client(table.rows(self._pool.match(body, mapping)))
        return {self._exact.clients[client]: ids for client, ids in found}

    def needed(self, body: bytes, publisher: str, mapping: Mapping | None = None) -> frozenset[str]:
        """Return the routers that need a whole document."""
        return self._on_route(self._exact, body, publisher, mapping)

    def needed_path(self, path: LeafPath, publisher: str) -> frozenset[str]:
        """Return the routers that need a path."""
        return self._on_route(self._branches, path.body, publisher)

    def _on_route(
        self, asked: PublicationTable, body: bytes, publisher: str, mapping: Mapping | None = None
    ) -> frozenset[str]:
        table = asked.deliveries(self._pool.capacity)
        clients = frozenset(table.client[table.rows(self._pool.match(body, mapping))].tolist())
        found = self._ways.get((publisher, clients))
        if found is None:
            start = self._at[publisher]
            found = self._ways[publisher, clients] = frozenset(
                router
                for client in clients
                for router in self._network.route(start, self._at[asked.clients[client]])
            )
        return found

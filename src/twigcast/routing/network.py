"""The topology of a network: its routers, the links between them, and the clients at each router.

A network is a tree, so that there is exactly one route between two routers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from twigcast.errors import RoutingError


@dataclass(frozen=True)  # without slots: derived properties are cached in the instance
class Network:
    """Routers by name, links between them, and clients as (client, router).

    Invariant: all names are distinct, and the links form a tree.  ``RoutingError`` says what is wrong.
    """

    routers: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    clients: tuple[tuple[str, str], ...] = field(default=())

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name in (*self.routers, *(client for client, _ in self.clients)):
            if name in seen:
                raise RoutingError(f"the name {name!r} is given twice", code="duplicate-router", name=name)
            seen.add(name)
        known = set(self.routers)
        for name in (*(end for link in self.links for end in link), *(at for _, at in self.clients)):
            if name not in known:
                raise RoutingError(f"there is no router {name!r}", code="unknown-router", name=name)
        if not self.routers:
            raise RoutingError("a network needs a router", code="unknown-router")
        self._check_tree()

    def with_clients(self, clients: Mapping[str, str]) -> Network:
        """Return the network with more clients, given as a mapping from client to router."""
        return replace(self, clients=(*self.clients, *clients.items()))

    def neighbours(self, router: str) -> tuple[str, ...]:
        """Return the routers that a router has a link to."""
        return self._neighbours[router]

    def clients_of(self, router: str) -> tuple[str, ...]:
        """Return the clients of a router."""
        return self._clients[router]

    def route(self, start: str, end: str) -> tuple[str, ...]:
        """Return the routers on the route from one router to another, including both."""
        above = self._towards(start)
        route = [end]
        while route[-1] != start:
            route.append(above[route[-1]])
        return tuple(reversed(route))

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The routers with at most one neighbour, in the order of ``routers``."""
        return tuple(router for router in self.routers if len(self._neighbours[router]) <= 1)

    @cached_property
    def _neighbours(self) -> dict[str, tuple[str, ...]]:
        joined: dict[str, list[str]] = {router: [] for router in self.routers}
        for one, other in self.links:
            joined[one].append(other)
            joined[other].append(one)
        return {router: tuple(others) for router, others in joined.items()}

    @cached_property
    def _clients(self) -> dict[str, tuple[str, ...]]:
        return {
            router: tuple(client for client, at in self.clients if at == router) for router in self.routers
        }

    @cached_property
    def _routes(self) -> dict[str, dict[str, str]]:
        return {}

    def _towards(self, start: str) -> dict[str, str]:
        """Return for each router the next one on the route to ``start``."""
        if start not in self._routes:
            above: dict[str, str] = {}
            waiting = [start]
            while waiting:
                router = waiting.pop()
                for other in self._neighbours[router]:
                    if other != above.get(router):
                        above[other] = router
                        waiting.append(other)
            self._routes[start] = above
        return self._routes[start]

    def _check_tree(self) -> None:
        joined: dict[str, set[str]] = {router: {router} for router in self.routers}
        above: dict[str, list[str]] = {router: [] for router in self.routers}
        for one, other in self.links:
            if joined[one] is joined[other]:
                cycle = " - ".join([*_way(above, one, other), one])
                raise RoutingError(f"the links make a cycle: {cycle}", code="cycle", name=cycle)
            above[one].append(other)
            above[other].append(one)
            joined[one] |= joined[other]
            for router in joined[other]:
                joined[router] = joined[one]
        apart = [router for router in self.routers if joined[router] is not joined[self.routers[0]]]
        if apart:
            raise RoutingError(
                f"no link leads from {self.routers[0]!r} to {apart[0]!r}", code="disconnected", name=apart[0]
            )


def _way(joined: Mapping[str, Iterable[str]], start: str, end: str) -> list[str]:
    """Return the route between two routers along links that form no cycle."""
    ways = [[start]]
    while ways[0][-1] != end:
        way = ways.pop(0)
        ways += [[*way, other] for other in joined[way[-1]] if other not in way[-2:-1]]
    return ways[0]

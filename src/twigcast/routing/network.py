"""Which brokers there are, how they are joined, and who is at which of them.

Messages between brokers find their way because there is exactly one: a network is a tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from twigcast.errors import RoutingError


@dataclass(frozen=True)  # without slots: the derived facts below are kept once computed
class Network:
    """Brokers by name, links between them, and clients as (client, broker).

    Invariant: names are distinct, the links join all brokers and close no cycle.
    """

    brokers: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    clients: tuple[tuple[str, str], ...] = field(default=())

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name in (*self.brokers, *(client for client, _ in self.clients)):
            if name in seen:
                raise RoutingError(f"the name {name!r} is given twice", code="duplicate-broker", name=name)
            seen.add(name)
        known = set(self.brokers)
        for name in (*(end for link in self.links for end in link), *(at for _, at in self.clients)):
            if name not in known:
                raise RoutingError(f"there is no broker {name!r}", code="unknown-broker", name=name)
        if not self.brokers:
            raise RoutingError("a network needs a broker", code="unknown-broker")
        self._check_tree()

    def with_clients(self, clients: Mapping[str, str]) -> Network:
        """The same network with these clients, as client to broker, added."""
        return replace(self, clients=(*self.clients, *clients.items()))

    def neighbours(self, broker: str) -> tuple[str, ...]:
        """The brokers that a broker is joined to."""
        return self._neighbours[broker]

    def clients_of(self, broker: str) -> tuple[str, ...]:
        """The clients of a broker."""
        return self._clients[broker]

    def route(self, start: str, end: str) -> tuple[str, ...]:
        """The brokers from one to another, both included."""
        above = self._towards(start)
        route = [end]
        while route[-1] != start:
            route.append(above[route[-1]])
        return tuple(reversed(route))

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The brokers with one neighbour at most, in order."""
        return tuple(broker for broker in self.brokers if len(self._neighbours[broker]) <= 1)

    @cached_property
    def _neighbours(self) -> dict[str, tuple[str, ...]]:
        joined: dict[str, list[str]] = {broker: [] for broker in self.brokers}
        for one, other in self.links:
            joined[one].append(other)
            joined[other].append(one)
        return {broker: tuple(others) for broker, others in joined.items()}

    @cached_property
    def _clients(self) -> dict[str, tuple[str, ...]]:
        return {
            broker: tuple(client for client, at in self.clients if at == broker) for broker in self.brokers
        }

    @cached_property
    def _routes(self) -> dict[str, dict[str, str]]:
        return {}

    def _towards(self, start: str) -> dict[str, str]:
        """For each broker, the next one on the way to ``start``."""
        if start not in self._routes:
            above: dict[str, str] = {}
            waiting = [start]
            while waiting:
                broker = waiting.pop()
                for other in self._neighbours[broker]:
                    if other != above.get(broker):
                        above[other] = broker
                        waiting.append(other)
            self._routes[start] = above
        return self._routes[start]

    def _check_tree(self) -> None:
        joined: dict[str, set[str]] = {broker: {broker} for broker in self.brokers}
        above: dict[str, list[str]] = {broker: [] for broker in self.brokers}
        for one, other in self.links:
            if joined[one] is joined[other]:
                cycle = " - ".join([*_way(above, one, other), one])
                raise RoutingError(f"the links make a cycle: {cycle}", code="cycle", name=cycle)
            above[one].append(other)
            above[other].append(one)
            joined[one] |= joined[other]
            for broker in joined[other]:
                joined[broker] = joined[one]
        apart = [broker for broker in self.brokers if joined[broker] is not joined[self.brokers[0]]]
        if apart:
            raise RoutingError(
                f"no link leads from {self.brokers[0]!r} to {apart[0]!r}", code="disconnected", name=apart[0]
            )


def _way(joined: Mapping[str, Iterable[str]], start: str, end: str) -> list[str]:
    """The brokers from one to another along links that make no cycle."""
    ways = [[start]]
    while ways[0][-1] != end:
        way = ways.pop(0)
        ways += [[*way, other] for other in joined[way[-1]] if other not in way[-2:-1]]
    return ways[0]

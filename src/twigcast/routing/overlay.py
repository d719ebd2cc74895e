"""All routers of a network in one process: messages are passed on until no router has anything to send.

    overlay = Overlay(network, Strategy(), schema=graph)
    overlay.send("reuters", Advertise(advertisement("news", graph)))
    overlay.send("ada", Subscribe("ada-1", parse("//p")))
    overlay.send("reuters", Publish(Envelope("d1", body)))      [Delivery("ada", "d1", ("ada-1",))]

There is no time here, so no message overtakes another.  The simulator runs the same routers in virtual time.
Where documents come by the thousand, the forwarding table of the whole overlay carries them in batches.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from twigcast.analysis import Selectivity
from twigcast.pattern import Pattern
from twigcast.routing.forwarding import NOWHERE, Demand, ForwardingTable, Link
from twigcast.routing.messages import Deliver, Message, Paths, Subscribe, Unsubscribe
from twigcast.routing.network import Network
from twigcast.routing.pool import Pool
from twigcast.routing.router import Router
from twigcast.routing.strategy import Strategy
from twigcast.schema import ElementGraph

ANSWERS = 64
"""For how many documents the routers remember what they match: a document passes all of them in turn."""


class Delivery(NamedTuple):
    """A document that reached a client, and the ids of the client's subscriptions that it matches."""

    client: str
    doc_id: str
    subscriptions: tuple[str, ...]


class Asked(NamedTuple):
    """A pattern that routers ask one another for, and the links, by number, that ask for it."""

    pattern: Pattern
    links: set[int]


class Overlay:
    """The routers of a network by name, of one strategy, sharing one pool of patterns."""

    def __init__(
        self,
        network: Network,
        strategy: Strategy | None = None,
        *,
        schema: ElementGraph | None = None,
        selectivity: Selectivity | None = None,
    ) -> None:
        self.network = network
        pool = Pool(answers=ANSWERS)
        self.routers = join(network, strategy, lambda: pool, schema=schema, selectivity=selectivity)
        self.received: Counter[str] = Counter()
        """How many messages routers have received, by the name of their kind; each path counts as one."""
        numbers = {name: number for number, name in enumerate(network.routers)}
        ends = [(name, other) for name in network.routers for other in network.neighbours(name)]
        self.links = tuple(Link(numbers[name], numbers[other]) for name, other in ends)
        """Each link in both directions, as the forwarding table of the overlay numbers them."""
        self.asked: dict[str, Asked] = {}
        """What routers ask one another for, by id: subscriptions, and patterns that routers made."""
        self._link_numbers = {link: number for number, link in enumerate(ends)}
        self._changed: dict[str, None] = {}
        self._at = dict(network.clients)

    def send(self, client: str, *messages: Message) -> list[Delivery]:
        """Send messages of a client together; return what is delivered until no message is under way.

        Raises ``RoutingError`` or ``DocumentError`` if the router refuses them; nothing has changed then.
        """
        delivered: list[Delivery] = []
        waiting: deque[tuple[str, str, Sequence[Message]]] = deque([(self._at[client], client, messages)])
        while waiting:
            router, link, batch = waiting.popleft()
            outgoing = self.routers[router].exchange(batch, link)
            self._record(batch, self._link_numbers.get((router, link)))
            for target, sent in outgoing.items():
                if target in self.routers:
                    waiting.append((target, router, sent))
                    continue
                for message in sent:
                    assert isinstance(message, Deliver)
                    delivered.append(Delivery(target, message.envelope.doc_id, message.subscriptions))
        return delivered

    def take_changes(self) -> list[str]:
        """Return the ids whose entry in ``asked`` has changed, come or gone since this was last called."""
        changed = list(self._changed)
        self._changed.clear()
        return changed

    def forwarding_table(self, ids: Sequence[str], homes: Mapping[str, str]) -> ForwardingTable:
        """Make the forwarding table of all routers together.

        ``ids`` are the subscriptions and patterns of routers by position: all that are in ``asked`` must be
        among them.  ``homes`` are the routers of the subscriptions.
        """
        return ForwardingTable.of(self.network.routers, self.links, [self.demand(id, homes) for id in ids])

    def demand(self, id: str, homes: Mapping[str, str]) -> Demand:
        """Return who asks for the pattern of an id, for a change of the forwarding table."""
        asked = self.asked.get(id)
        home = self.network.routers.index(homes[id]) if id in homes else NOWHERE
        return Demand(asked.links if asked is not None else (), home)

    def _record(self, batch: Iterable[Message], link: int | None) -> None:
        """Count messages; note what a router has been asked for over a link, if it leads to a router."""
        for message in batch:
            weight = len(message.paths) if isinstance(message, Paths) else 1
            self.received[type(message).__name__] += weight
            if link is None:
                continue
            if isinstance(message, Subscribe):
                self.asked.setdefault(message.id, Asked(message.pattern, set())).links.add(link)
                self._changed[message.id] = None
            elif isinstance(message, Unsubscribe) and message.id in self.asked:
                links = self.asked[message.id].links
                links.discard(link)
                if not links:
                    del self.asked[message.id]
                self._changed[message.id] = None


def join(
    network: Network,
    strategy: Strategy | None,
    pool: Callable[[], Pool],
    *,
    schema: ElementGraph | None = None,
    selectivity: Selectivity | None = None,
) -> dict[str, Router]:
    """Make the routers of a network, joined to neighbours and clients; ``pool`` gives each its pool."""
    return {
        name: Router(
            name,
            network.neighbours(name),
            network.clients_of(name),
            strategy=strategy,
            schema=schema,
            selectivity=selectivity,
            pool=pool(),
        )
        for name in network.routers
    }

"""Runs all routers of a network in one process, and passes messages until no router has any left to send.

    overlay = Overlay(network, Strategy(), schema=graph)
    overlay.send("reuters", Advertise(advertisement("news", graph)))
    overlay.send("ada", Subscribe("ada-1", parse("//p")))
    overlay.send("reuters", Publish(Envelope("d1", body)))      [Delivery("ada", "d1", ("ada-1",))]

Messages take no time, so none overtakes another; the simulator runs the same routers in virtual time.
Large numbers of documents are routed in batches by ``carry``, with the forwarding table of the whole overlay.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from twigcast.analysis import Selectivity
from twigcast.pattern import Pattern
from twigcast.routing.forwarding import NOWHERE, Demand, ForwardingTable, Link
from twigcast.routing.mediation import NetworkMediation, pool_for
from twigcast.routing.messages import (
    Deliver,
    DeliverFragment,
    Message,
    Paths,
    Subscribe,
    Unpublish,
    Unsubscribe,
)
from twigcast.routing.network import Network
from twigcast.routing.pool import Pool
from twigcast.routing.router import Router
from twigcast.routing.strategy import Strategy
from twigcast.schema import ElementGraph

ANSWERS = 64
"""How many answers are cached: a document is matched once, although it passes several routers in turn."""


class Delivery(NamedTuple):
    """A document that was delivered to a client, with the ids of the client's subscriptions that match."""

    client: str
    doc_id: str
    subscriptions: tuple[str, ...]


class Asked(NamedTuple):
    """A pattern that routers subscribe to, with the links (by number) over which they do."""

    pattern: Pattern
    links: set[int]


class Overlay:
    """The routers of a network, by name; they have the same strategy and share one pool of patterns."""

    def __init__(
        self,
        network: Network,
        strategy: Strategy | None = None,
        *,
        schema: ElementGraph | None = None,
        selectivity: Selectivity | None = None,
        mediation: NetworkMediation | None = None,
    ) -> None:
        self.network = network
        pool = pool_for(mediation, ANSWERS)
        self.routers = join(
            network, strategy, lambda: pool, schema=schema, selectivity=selectivity, mediation=mediation
        )
        self.received: Counter[str] = Counter()
        """The number of messages that routers have received, by class name; each path counts as a message."""
        self.unpublished: list[tuple[str, Unpublish]] = []
        """What clients were told about documents in fragments that were broken or given up."""
        numbers = {name: number for number, name in enumerate(network.routers)}
        ends = [(name, other) for name in network.routers for other in network.neighbours(name)]
        self.links = tuple(Link(numbers[name], numbers[other]) for name, other in ends)
        """All links in both directions, in the order of their numbers in the forwarding table."""
        self.asked: dict[str, Asked] = {}
        """The patterns that routers subscribe to, by id: subscriptions of clients, mergers and aggregates."""
        self._link_numbers = {link: number for number, link in enumerate(ends)}
        self._changed: dict[str, None] = {}
        self._at = dict(network.clients)

    def send(self, client: str, *messages: Message) -> list[Delivery]:
        """Send messages of a client as one batch; return all deliveries once no message is in transit.

        Raises ``RoutingError`` or ``DocumentError`` if the router refuses the batch; nothing changes then.
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
                    if isinstance(message, Deliver):
                        delivered.append(Delivery(target, message.envelope.doc_id, message.subscriptions))
                    elif isinstance(message, DeliverFragment):
                        if message.is_complete:
                            doc_id = message.fragment.doc_id
                            delivered.append(Delivery(target, doc_id, message.subscriptions))
                    else:
                        assert isinstance(message, Unpublish)
                        self.unpublished.append((target, message))
        return delivered

    def take_changes(self) -> list[str]:
        """Return the ids whose entry in ``asked`` was added, changed or removed since the last call."""
        changed = list(self._changed)
        self._changed.clear()
        return changed

    def forwarding_table(self, ids: Sequence[str], homes: Mapping[str, str]) -> ForwardingTable:
        """Make the forwarding table of the whole network.

        ``ids`` has the id at each position; it must contain all ids of ``asked``.  ``homes`` has the router
        of each subscription.
        """
        return ForwardingTable.of(self.network.routers, self.links, [self.demand(id, homes) for id in ids])

    def demand(self, id: str, homes: Mapping[str, str]) -> Demand:
        """Return who subscribes to the pattern of an id, as an entry of the forwarding table."""
        asked = self.asked.get(id)
        home = self.network.routers.index(homes[id]) if id in homes else NOWHERE
        return Demand(asked.links if asked is not None else (), home)

    def _record(self, batch: Iterable[Message], link: int | None) -> None:
        """Count messages, and record subscriptions that came over a link between routers."""
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
    mediation: NetworkMediation | None = None,
    sample: Sequence[bytes] = (),
) -> dict[str, Router]:
    """Make the routers of a network with their neighbours and clients; ``pool`` is called for each router.

    ``sample`` has documents by which questions are chosen until others have passed (``piggyback``).
    """
    return {
        name: Router(
            name,
            network.neighbours(name),
            network.clients_of(name),
            strategy=strategy,
            schema=schema,
            selectivity=selectivity,
            pool=pool(),
            mediation=mediation,
            sample=sample,
        )
        for name in network.routers
    }

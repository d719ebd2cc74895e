"""All routers of a network in one process: what a client sends is handed on until everyone is silent.

    overlay = Overlay(network, Strategy(), schema=graph)
    overlay.send("reuters", Advertise(advertisement("news", graph)))
    overlay.send("ada", Subscribe("ada-1", parse("//p")))
    overlay.send("reuters", Publish(Envelope("d1", body)))      [Delivery("ada", "d1", ("ada-1",))]

There is no time here, so nothing overtakes anything; the simulator has time, and the pipeline has documents
by the thousand: both run the same routers.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from twigcast.analysis import Selectivity
from twigcast.routing.messages import Deliver, Message, Paths
from twigcast.routing.network import Network
from twigcast.routing.pool import Pool
from twigcast.routing.router import Router
from twigcast.routing.strategy import Strategy
from twigcast.schema import ElementGraph


class Delivery(NamedTuple):
    """A document that reached a client, and which of its subscriptions asked for it."""

    client: str
    doc_id: str
    subscriptions: tuple[str, ...]


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
        pool = Pool()
        self.routers = join(network, strategy, lambda: pool, schema=schema, selectivity=selectivity)
        self.received: Counter[str] = Counter()
        """Messages that brokers received so far, by the name of their kind; each path counts as one."""
        self._at = dict(network.clients)

    def send(self, client: str, *messages: Message) -> list[Delivery]:
        """A client sends messages, together; what is delivered until no message is under way.

        Raises ``RoutingError`` or ``DocumentError`` where its router refuses them, with nothing changed.
        """
        delivered: list[Delivery] = []
        waiting: deque[tuple[str, str, Sequence[Message]]] = deque([(self._at[client], client, messages)])
        while waiting:
            broker, link, batch = waiting.popleft()
            outgoing = self.routers[broker].exchange(batch, link)
            for message in batch:
                weight = len(message.paths) if isinstance(message, Paths) else 1
                self.received[type(message).__name__] += weight
            for target, sent in outgoing.items():
                if target in self.routers:
                    waiting.append((target, broker, sent))
                    continue
                for message in sent:
                    assert isinstance(message, Deliver)
                    delivered.append(Delivery(target, message.envelope.doc_id, message.subscriptions))
        return delivered


def join(
    network: Network,
    strategy: Strategy | None,
    pool: Callable[[], Pool],
    *,
    schema: ElementGraph | None = None,
    selectivity: Selectivity | None = None,
) -> dict[str, Router]:
    """The routers of a network by name, joined to neighbours and clients; ``pool`` gives each its pool."""
    return {
        broker: Router(
            broker,
            network.neighbours(broker),
            network.clients_of(broker),
            strategy=strategy,
            schema=schema,
            selectivity=selectivity,
            pool=pool(),
        )
        for broker in network.brokers
    }

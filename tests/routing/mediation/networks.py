"""A small network with mediation, whose deliveries keep their envelopes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from twigcast.routing import (
    Deliver,
    Envelope,
    Message,
    Network,
    NetworkMediation,
    Router,
    Strategy,
    join,
    pool_for,
)
from twigcast.schema import ElementGraph

NETWORK = Network(
    ("r1", "r2", "r3"),
    (("r1", "r2"), ("r2", "r3")),
    (("cmu", "r1"), ("brown", "r3"), ("ada", "r1"), ("bob", "r2"), ("eve", "r3")),
)


class MediatedNetwork:
    """Routers that pass messages until there are none, and everything that they sent over links."""

    def __init__(
        self,
        mediation: NetworkMediation | None,
        strategy: Strategy | None = None,
        schema: ElementGraph | None = None,
    ) -> None:
        pool = pool_for(mediation, 16)
        self.routers: dict[str, Router] = join(
            NETWORK, strategy, lambda: pool, schema=schema, mediation=mediation
        )
        self.delivered: list[tuple[str, Envelope, tuple[str, ...]]] = []
        self.sent: list[tuple[str, str, Message]] = []

    def send(self, client: str, *messages: Message) -> list[tuple[str, Envelope, tuple[str, ...]]]:
        """Send messages of a client; the deliveries, as (client, envelope, ids)."""
        delivered = []
        at = dict(NETWORK.clients)[client]
        waiting: deque[tuple[str, str, Sequence[Message]]] = deque([(at, client, messages)])
        while waiting:
            router, link, batch = waiting.popleft()
            for target, said in self.routers[router].exchange(batch, link).items():
                if target in self.routers:
                    waiting.append((target, router, said))
                    self.sent += [(router, target, message) for message in said]
                    continue
                for message in said:
                    assert isinstance(message, Deliver)
                    delivered.append((target, message.envelope, message.subscriptions))
        self.delivered += delivered
        return delivered

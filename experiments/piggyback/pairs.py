"""Two routers in a row with real tables: the first annotates, the second reads the annotations.

    publisher ──► b1 ──(document, annotations)──► b2 ──► user

Both routers have pools of their own and no cached answers, as on two machines.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from twigcast.analysis import Selectivity
from twigcast.pattern import Pattern
from twigcast.routing import (
    Advertise,
    Deliver,
    DocumentWork,
    Envelope,
    Pool,
    Publish,
    Router,
    Strategy,
    Subscribe,
    Work,
    advertisement,
)
from twigcast.schema import ElementGraph


@dataclass(frozen=True, slots=True)
class Passage:
    """One document at both routers: its annotations, what b2 made of them, and what matched there."""

    body: int
    """The bytes of the document."""
    annotations: int
    """The bytes of its annotations on the link."""
    paper_bits: int
    """The size of these annotations as the papers count it."""
    work: DocumentWork
    """What b2 did."""
    matching: int
    """The patterns of b2 that match."""
    ids: tuple[str, ...]
    """The subscriptions that it was delivered for."""


class RouterPair:
    """Two routers with the same strategy; the user of b2 has all subscriptions, and b1 may have some too."""

    def __init__(
        self,
        graph: ElementGraph,
        subscriptions: Sequence[tuple[str, Pattern]],
        strategy: Strategy,
        selectivity: Selectivity | None = None,
        at_first: Sequence[tuple[str, Pattern]] = (),
    ) -> None:
        self._patterns = dict(subscriptions)
        self.first = Router(
            "b1",
            ["b2"],
            ["publisher", "other"],
            strategy=strategy,
            selectivity=selectivity,
            pool=Pool(),
        )
        self.second = Router("b2", ["b1"], ["user"], strategy=strategy, selectivity=selectivity, pool=Pool())
        self._relay(self.first, "publisher", [Advertise(advertisement("publisher", graph))])
        self._relay(self.second, "user", [Subscribe(id, pattern) for id, pattern in subscriptions])
        self._relay(self.first, "other", [Subscribe(id, pattern) for id, pattern in at_first])

    @property
    def told(self) -> int:
        """How many subscriptions b2 has forwarded to b1."""
        return len(self.second.told("b1"))

    def use(self, strategy: Strategy, sample: Iterable[bytes]) -> None:
        """Switch both routers to a piggyback strategy and make the plan of b2 by a sample of documents."""
        for router in (self.first, self.second):
            router.switch_piggyback(strategy, sample)
        for link, message in self.second.replan():
            self.first.exchange([message], "b2" if link == "b1" else link)

    def send(self, number: int, body: bytes) -> Passage | None:
        """Publish a document; None if b1 does not forward it."""
        before, after = Work(), Work()
        sent = self.first.exchange([Publish(Envelope(f"document {number}", body))], "publisher", before)
        messages = [each for each in sent.get("b2", []) if isinstance(each, Publish)]
        if not messages:
            return None
        delivered = self.second.exchange(messages, "b1", after).get("user", [])
        ids = tuple(id for each in delivered if isinstance(each, Deliver) for id in each.subscriptions)
        return Passage(
            len(body),
            len(messages[0].envelope.annotations),
            before.documents[0].paper_bits,
            after.documents[0],
            len({self._patterns[id] for id in ids}),
            ids,
        )

    def seconds(self, bodies: Sequence[bytes], rounds: int) -> tuple[float, float]:
        """The CPU seconds of a document at b1 and at b2: the best of several rounds."""
        best = [float("inf"), float("inf")]
        for _ in range(rounds):
            spent = [0.0, 0.0]
            for number, body in enumerate(bodies):
                start = time.thread_time()
                sent = self.first.exchange([Publish(Envelope(f"document {number}", body))], "publisher")
                spent[0] += time.thread_time() - start
                if messages := sent.get("b2"):
                    start = time.thread_time()
                    self.second.exchange(messages, "b1")
                    spent[1] += time.thread_time() - start
            best = [min(pair) for pair in zip(best, spent, strict=True)]
        return best[0] / len(bodies), best[1] / len(bodies)

    def _relay(self, router: Router, link: str, messages: Sequence[Advertise | Subscribe]) -> None:
        """Handle messages of a client, and pass on what the router sends to the other one."""
        other = self.second if router is self.first else self.first
        if sent := router.exchange(messages, link).get(other.name):
            other.exchange(sent, router.name)

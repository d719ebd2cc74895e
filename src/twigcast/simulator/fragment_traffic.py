"""Documents that publishers send in fragments: how they are cut and ordered, what links do to them, figures.

    publisher ──1 2 3 4──► router ──2 1 4 3──► router ──► subscriber
       order                loss, delay          │
                                                 ├ first: a fragment is at the subscriber's router
                                                 ├ certain: it is known that the subscriber matches
                                                 └ end: the subscriber has the document (``Report.delay``)

A fragment that is lost is sent again, so that no delivery depends on luck; it comes later.  The time of the
link for what was lost is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeAlias

from twigcast.fragmenting import Fragment, Spans, by_novelty, fragment
from twigcast.routing import (
    DeliverFragment,
    Envelope,
    FragmentWork,
    Message,
    PublishFragment,
    Router,
)
from twigcast.simulator.report import Delay, FragmentFigures

SendingOrder: TypeAlias = Literal["document", "novelty", "random"]


@dataclass(frozen=True, slots=True)
class FragmentOptions:
    """How publishers cut documents, in which order they send the fragments, and what links do to these."""

    bytes: int = 65_536
    """The size of a fragment."""
    order: SendingOrder = "document"
    """Document order; those with the most new label paths first; or at random."""
    loss: float = 0.0
    """The share of the transmissions that are lost, on each link."""
    resend: float = 0.05
    """Seconds after which a lost fragment is sent again."""
    delay: float = 0.0
    """The most seconds by which a fragment comes later, drawn on each link; so some overtake others."""
    delivery: Literal["documents", "fragments"] = "documents"
    """Whether subscribers receive whole documents, or fragments as they come."""

    def __post_init__(self) -> None:
        if self.bytes < 1:
            raise ValueError(f"bytes must be at least 1, not {self.bytes}")
        if not 0.0 <= self.loss < 1.0:
            raise ValueError(f"loss must be at least 0 and below 1, not {self.loss}")
        if self.delay < 0.0 or self.resend < 0.0:
            raise ValueError("delay and resend must be at least 0")


class FragmentTraffic:
    """The fragments of all documents of a simulation, and the times at which they come."""

    def __init__(
        self, options: FragmentOptions, routers: Mapping[str, Router], at: Mapping[str, str]
    ) -> None:
        """``at`` has the router of each client."""
        self._options, self._at = options, at
        self._random = Random("fragments")
        self._sizes: dict[str, int] = {}
        self._first: dict[tuple[str, str], float] = {}
        self._certain: dict[tuple[str, str], tuple[float, float]] = {}
        self._taken: dict[tuple[str, str], _TakenDocument] = {}
        self._received = self._parsed = self._resent = self._held = 0
        for client, router in at.items():
            relay = routers[router].fragments
            if relay is not None and options.delivery == "fragments":
                relay.takers.add(client)

    def publish(self, envelope: Envelope) -> list[Message]:
        """Cut a document, and return the messages of its publisher in order."""
        options = self._options
        header: Literal["prefix+level", "prefix+paths"] = "prefix+level"
        if options.order == "novelty":
            header = "prefix+paths"
        self._sizes[envelope.doc_id] = len(envelope.body)
        parts: Iterable[Fragment] = fragment(
            envelope.body, doc_id=envelope.doc_id, cut=Spans(bytes=options.bytes), header=header
        )
        if options.order == "novelty":
            parts = by_novelty(parts)
        elif options.order == "random":
            parts = self._random.sample(drawn := list(parts), len(drawn))
        return [PublishFragment(each, envelope.publisher, envelope.headers) for each in parts]

    def lateness(self) -> float:
        """Draw how much later than without loss and delay a fragment comes to the other end of a link."""
        late = 0.0
        while self._options.loss and self._random.random() < self._options.loss:
            self._resent += 1
            late += self._options.resend
        return late + (self._random.uniform(0.0, self._options.delay) if self._options.delay else 0.0)

    def arrive(self, message: Message, router: str, now: float) -> None:
        """Note that a message has come to a router."""
        if isinstance(message, PublishFragment):
            self._received += 1
            self._first.setdefault((message.fragment.doc_id, router), now)

    def record(self, works: Iterable[FragmentWork], now: float) -> None:
        """Note what a router did with fragments, and when."""
        for work in works:
            self._parsed += work.parsed
            self._held = max(self._held, work.held_bytes)
            for client in work.matched:
                share = work.arrived_bytes / max(1, self._sizes[work.doc_id])
                self._certain.setdefault((work.doc_id, client), (now, share))

    def deliver(self, message: DeliverFragment, client: str) -> tuple[str, ...] | None:
        """Take a fragment at a client; return its matching subscriptions if the document is complete now."""
        taken = self._taken.setdefault((client, message.fragment.doc_id), _TakenDocument())
        taken.numbers.add(message.fragment.number)
        if message.fragment.is_last:
            taken.last = message.fragment.number
        if message.is_complete:
            taken.subscriptions = message.subscriptions
        return taken.subscriptions if len(taken.numbers) == taken.last else None

    def figures(self, published: Mapping[str, float]) -> FragmentFigures:
        """Return the figures of the documents that were published at these times, by name."""
        counted = {key: value for key, value in self._certain.items() if key[0] in published}
        first = [self._first[doc_id, self._at[client]] - published[doc_id] for doc_id, client in counted]
        certain = [at - published[doc_id] for (doc_id, _), (at, _) in counted.items()]
        shares = [share for _, share in counted.values()]
        return FragmentFigures(
            Delay.of(first),
            Delay.of(certain),
            sum(shares) / len(shares) if shares else 0.0,
            self._held,
            self._received,
            self._parsed,
            self._resent,
        )


@dataclass(slots=True)
class _TakenDocument:
    """The fragments of a document that a client has; ``subscriptions`` are those that match, if known."""

    numbers: set[int] = field(default_factory=set)
    last: int | None = None
    subscriptions: tuple[str, ...] | None = None

"""What annotations cost the router that writes them, and save the router that reads them.

    publisher ──► first ──(document, annotations)──► second ──► third, fourth, client

The subscriptions are shared out evenly among two neighbours and a client of the second router.  Both routers
have a pool of their own.  A plain network runs beside it, on the same documents and in the same run; the
links that documents take and the ids that are delivered are compared.

On *unseen* documents each router meets a document for the first time; *repeated* ones it has met before.
Times are CPU times of the one thread; of each chunk of documents the median over the rounds is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import NamedTuple

from benchmarks.matching import cpu_seconds
from benchmarks.results import Outcome, Progress
from benchmarks.workloads import Feed, workload
from twigcast.pattern import Pattern, parse
from twigcast.routing import (
    Advertise,
    Deliver,
    Envelope,
    Message,
    Publish,
    Router,
    Send,
    Strategy,
    Subscribe,
    advertisement,
)
from twigcast.routing.piggyback import Work
from twigcast.schema import ElementGraph

ROUNDS = 5
CHUNK = 20
SAMPLE = 64
"""The documents of the warm-up by which plans are chosen."""


@cache
def second_router(strategy: str, name: str, progress: Progress = lambda step: None) -> Outcome:
    """Compare routers with a piggyback strategy with plain ones, on a workload such as nitf-branching-5k."""
    progress(f"{name}: drawing documents and subscriptions")
    load = workload(name)
    patterns = [parse(text) for text in load.subscriptions]
    return measured(strategy, patterns, load.feed, progress)


def measured(
    name: str,
    patterns: Sequence[Pattern],
    source: Feed,
    progress: Progress = lambda step: None,
    rounds: int = ROUNDS,
) -> Outcome:
    """Measure a piggyback strategy; the schema of the documents is advertised, so its names are known."""
    warm, unseen, graph = source.warm, source.unseen, source.graph
    times: list[list[_Times]] = []
    wrong: list[str] = []
    sizes: list[int] = []
    unread = 0
    for attempt in range(rounds):
        progress(f"piggyback {name}: round {attempt + 1} of {rounds}")
        plain, annotating = _pair(None, patterns, graph, ()), _pair(name, patterns, graph, warm[:SAMPLE])
        annotating.plan()
        for body in warm:
            plain.send("warm", body)
            annotating.send("warm", body)
        chunks = []
        for start in range(0, len(unseen), CHUNK):
            chunk = [
                Envelope(f"d{start + each}", body) for each, body in enumerate(unseen[start : start + CHUNK])
            ]
            new, again = plain.times(chunk), plain.times(chunk)
            new_annotated, again_annotated = annotating.times(chunk), annotating.times(chunk)
            chunks.append(_Times(*new[:2], *new_annotated[:2], *again[:2], *again_annotated[:2]))
            if attempt == 0:
                sizes += new_annotated[3]
                unread += new_annotated[4]
                wrong += [
                    f"{envelope.doc_id}: the network with {name} sends it elsewhere than the plain one"
                    for envelope, one, other in zip(chunk, new[2], new_annotated[2], strict=True)
                    if one != other
                ]
        times.append(chunks)
    total = _Times(
        *(
            sum(median(each[column] for each in same) for same in zip(*times, strict=True)) / len(unseen)
            for column in range(len(_Times._fields))
        )
    )
    body_bytes = sum(map(len, unseen)) / len(unseen)
    return Outcome(
        {
            "second_ratio": total.second_annotated / total.second,
            "second_repeated_ratio": total.second_annotated_again / total.second_again,
            "first_ratio": total.first_annotated / total.first,
            "first_repeated_ratio": total.first_annotated_again / total.first_again,
            "second_microseconds": total.second_annotated * 1e6,
            "second_plain_microseconds": total.second * 1e6,
            "first_microseconds": total.first_annotated * 1e6,
            "first_plain_microseconds": total.first * 1e6,
            "annotation_bytes": sum(sizes) / max(1, len(sizes)),
            "annotation_percent": 100 * sum(sizes) / max(1, len(sizes)) / body_bytes,
            "unread_percent": 100 * unread / max(1, len(sizes)),
        },
        tuple(wrong),
    )


class _Times(NamedTuple):
    """Seconds for the documents of a chunk."""

    first: float
    second: float
    first_annotated: float
    second_annotated: float
    first_again: float
    second_again: float
    first_annotated_again: float
    second_annotated_again: float


@dataclass(frozen=True, slots=True)
class _Pair:
    """The first two routers on the way of a document."""

    first: Router
    second: Router

    def plan(self) -> None:
        """Let the second router send its plan to the first."""
        for link, message in self.second.replan():
            if link == "first":
                self.first.handle([message], "second")

    def send(self, doc_id: str, body: bytes) -> None:
        """Publish a document at the first router."""
        for link, message in self.first.receive(Envelope(doc_id, body), "publisher"):
            if link == "second":
                self.second.handle([message], "first")

    def times(
        self, chunk: Sequence[Envelope]
    ) -> tuple[float, float, list[dict[str, tuple[str, ...]]], list[int], int]:
        """Return the seconds of both routers, where the documents went, and the bytes of annotations."""
        sent: list[Envelope] = []
        taken: list[dict[str, tuple[str, ...]]] = []

        def first() -> list[list[Send]]:
            return [self.first.receive(envelope, "publisher") for envelope in chunk]

        def second() -> list[dict[str, list[Message]]]:
            return [self.second.exchange([Publish(envelope)], "first") for envelope in sent]

        began, sends = cpu_seconds(first)
        sent += [
            message.envelope
            for each in sends
            for link, message in each
            if link == "second" and isinstance(message, Publish)
        ]
        after, outgoing = cpu_seconds(second)
        taken += [_taken(each) for each in outgoing]
        work = Work()
        for envelope in sent:
            self.second.exchange([Publish(envelope)], "first", work)
        unread = sum(not each.parsed for each in work.documents)
        return began, after, taken, [len(each.annotations) for each in sent], unread


def _pair(
    name: str | None, patterns: Sequence[Pattern], graph: ElementGraph, sample: Sequence[bytes]
) -> _Pair:
    strategy = Strategy(piggyback=name)
    first = Router("first", ["second"], ["publisher"], strategy=strategy, sample=sample)
    second = Router("second", ["first", "third", "fourth"], ["client"], strategy=strategy, sample=sample)
    announced = [Advertise(advertisement("documents", graph))]
    first.handle(announced, "publisher")
    second.handle(announced, "first")
    links = ("third", "fourth", "client")
    for at, link in enumerate(links):
        messages = [
            Subscribe(f"{link}/{number}", pattern)
            for number, pattern in enumerate(patterns)
            if number % len(links) == at
        ]
        for neighbour, message in second.handle(messages, link):
            if neighbour == "first":
                first.handle([message], "second")
    return _Pair(first, second)


def _taken(outgoing: dict[str, list[Message]]) -> dict[str, tuple[str, ...]]:
    """The links that a document was sent over, with the ids of the subscriptions of clients."""
    return {
        link: message.subscriptions if isinstance(message, Deliver) else ()
        for link, messages in outgoing.items()
        for message in messages
        if isinstance(message, Deliver | Publish)
    }

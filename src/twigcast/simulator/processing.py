"""What a router does with a batch of messages, and at which time it sends the results.

The real router handles the batch first and says in a ``Work`` what it did; the cost model turns this into
times, in seconds from the beginning of the batch.

    controls ─► document 1 ─────────────────► document 2 ─► …  ─► end
                 │ sent early, or not parsed                       everything else is sent

A document that is not parsed is sent on when its annotations have been read and written.  An eager router
sends a parsed document to a neighbour when the first pattern of that neighbour has matched.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from twigcast.routing import (
    Deliver,
    DocumentWork,
    Envelope,
    FragmentWork,
    Message,
    Publish,
    Router,
    Send,
    Timing,
    Work,
    protocol,
)
from twigcast.simulator.cost import CostModel, Schedule
from twigcast.simulator.first_match import FirstMatch


class Sending(NamedTuple):
    """Messages for one link that are sent at the same time."""

    at: float
    link: str
    messages: list[Message]
    needs_body: bool
    """Whether the router has to read the document before it can send these messages."""


class ProcessedDocument(NamedTuple):
    """What a router did with a document, and how long it took."""

    envelope: Envelope
    work: DocumentWork
    seconds: float


@dataclass(frozen=True, slots=True)
class ProcessedBatch:
    """What a router sends in answer to a batch, and when it is free again."""

    sendings: list[Sending]
    end: float
    documents: list[ProcessedDocument]
    fragments: list[FragmentWork] = field(default_factory=list)

    @property
    def needs_body(self) -> bool:
        """Whether the router has to read a document of the batch."""
        return any(each.work.parsed for each in self.documents)


class RouterProcess:
    """A router with its processing time, modelled or measured, and the means by which ``adaptive`` decides.

    A fixed ``first_match`` is the share of each document after which the first pattern of a neighbour
    matches; otherwise the share is computed.
    """

    def __init__(
        self,
        router: Router,
        cost: CostModel | None,
        *,
        has_subscribers: bool,
        first_match: float | None = None,
    ) -> None:
        self.router = router
        self._cost = cost
        self._has_subscribers = has_subscribers
        self._fixed = first_match
        self._first_match: FirstMatch | None = None
        self._elsewhere = 0.0  # seconds of this process that are not the router's work
        piggyback = router.strategy.piggyback
        self._timing = Timing.LAZY if piggyback is None else protocol(piggyback).timing
        self._documents = self._annotated = 0
        self._seconds = self._saved = 0.0

    def handle(
        self, messages: Sequence[Message], source: str, controls: int, publications: int
    ) -> ProcessedBatch:
        """Handle a batch of a link, with these numbers of control messages and publications."""
        if controls:
            self._first_match = None  # the table may change
        work = self._work()
        self._elsewhere = 0.0
        start = time.thread_time()  # what other processes do meanwhile is not the router's work
        outgoing = self.router.exchange(messages, source, work)
        measured = time.thread_time() - start - self._elsewhere
        by_paths = self.router.strategy.publication == "paths"
        published = [each.envelope for each in messages if isinstance(each, Publish) and not by_paths]
        schedules: dict[str, tuple[float, DocumentWork, Schedule]] = {}
        documents: list[ProcessedDocument] = []
        end = 0.0
        if self._cost is not None:
            paths = publications if by_paths else 0
            end = self._cost.seconds(controls, paths, self.router.table_size)
            for each in work.fragments:
                matched = DocumentWork(each.doc_id, each.rows, parsed=each.parsed)
                end += self._cost.matching(each.size, matched)
        for envelope, done in zip(published, work.documents, strict=not by_paths):
            written = _written(envelope, outgoing)
            schedule = self._schedule(
                envelope, replace(done, written=written), source, measured / len(published)
            )
            schedules[envelope.doc_id] = end, done, schedule
            documents.append(ProcessedDocument(envelope, done, schedule.end))
            end += schedule.end
            self._record(envelope, done, schedule.end, source)
        if self._cost is None:
            end = measured
        return ProcessedBatch(_sendings(outgoing, schedules, end), end, documents, work.fragments)

    def replan(self, neighbours: Iterable[str]) -> list[Send]:
        """Return new plans of the router for these neighbours."""
        return self.router.replan(self._work(), neighbours)

    def _work(self) -> Work:
        """What the router needs to know of the time; before there are means, ``adaptive`` is lazy."""
        work = Work()
        if self._timing is not Timing.LAZY:
            work.first_match = self._share
        if self._cost is not None:
            work.lead = self._cost.lead
        if self._documents:
            work.seconds = self._seconds / self._documents
        if self._annotated:
            work.saving = max(0.0, self._saved / self._annotated)
        return work

    def _share(self, envelope: Envelope, link: str) -> float:
        if self._fixed is not None:
            return self._fixed
        start = time.thread_time()
        if self._first_match is None:
            self._first_match = FirstMatch(
                {each: self.router.subscriptions(each) for each in self.router.neighbours}
            )
        share = self._first_match.share(envelope.body, link)
        self._elsewhere += time.thread_time() - start
        return share

    def _schedule(self, envelope: Envelope, work: DocumentWork, source: str, measured: float) -> Schedule:
        if self._cost is not None:
            schedule = self._cost.schedule(len(envelope.body), work)
        else:
            schedule = Schedule(measured, {link: part * measured for link, part in work.eager.items()})
        others = {link for link in self.router.neighbours if link != source}
        if self._timing is Timing.EAGER and not self._has_subscribers and others <= schedule.early.keys():
            schedule = Schedule(max(schedule.early.values(), default=schedule.end), schedule.early)
        return schedule

    def _record(self, envelope: Envelope, work: DocumentWork, seconds: float, source: str) -> None:
        """Keep the mean time of a document, and the mean of what its annotations saved by the model.

        An adaptive router before this one may have sent the document early, with few annotations; what they
        save is not what is lost by that.  Without annotations this router might be eager itself, so that
        routers behind it would not wait for its whole time.
        """
        self._documents += 1
        self._seconds += seconds
        if self._cost is not None and (work.refuted or self._timing is not Timing.ADAPTIVE):
            self._annotated += 1
            plain = self._cost.document(len(envelope.body), DocumentWork(envelope.doc_id, work.rows))
            behind = [link for link in self.router.neighbours if link != source]
            if behind and self._timing is Timing.ADAPTIVE:
                plain *= self._cost.lead(min(self._share(envelope, link) for link in behind))
            self._saved += plain - seconds


def _written(envelope: Envelope, outgoing: dict[str, list[Message]]) -> dict[str, int]:
    """The bytes of annotations that a router wrote for each neighbour.

    Those that came with the document are passed on, and those for several neighbours are written once.
    """
    written: dict[str, int] = {}
    known = {envelope.annotations}
    for link, messages in outgoing.items():
        for message in messages:
            if isinstance(message, Publish) and message.envelope.doc_id == envelope.doc_id:
                annotations = message.envelope.annotations
                written[link] = 0 if annotations in known else len(annotations)
                known.add(annotations)
    return written


def _sendings(
    outgoing: dict[str, list[Message]],
    schedules: dict[str, tuple[float, DocumentWork, Schedule]],
    end: float,
) -> list[Sending]:
    """The messages to send, in the order of their times, those of a link in their own order."""
    sendings: list[Sending] = []
    for link, messages in outgoing.items():
        own: list[Sending] = []
        for message in messages:
            at, needs_body = end, True
            found = None
            if isinstance(message, Publish | Deliver):
                found = schedules.get(message.envelope.doc_id)
            if found is not None:
                begin, work, schedule = found
                if not work.parsed:
                    at, needs_body = begin + schedule.end, False
                if link in schedule.early:
                    at, needs_body = begin + schedule.early[link], work.parsed and work.eager[link] > 0.0
            if own and own[-1].at == at and own[-1].needs_body == needs_body:
                own[-1].messages.append(message)
            else:
                own.append(Sending(at, link, [message], needs_body))
        sendings += own
    return sorted(sendings, key=lambda sending: sending.at)

"""Runs the real routers of a network in virtual time, with links and processing that take time.

    clients advertise ─► clients subscribe, one after the other ─► documents, at intervals ─► report
                                       (routers send their plans)  (some subscriptions end halfway)

A router handles batches in the order of arrival, one at a time; the time for each comes from the cost model,
or is measured.  A link transmits one batch after the other.  With cut-through links, a router takes up a
document when its header has arrived; if it has to parse the document, it puts it aside until the body is
complete, and handles other batches meanwhile.  Nothing is random: the same network, load and cost model give
the same report.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from twigcast.analysis import Selectivity
from twigcast.document import read
from twigcast.errors import ExtraError, TwigcastError
from twigcast.rewriting import Mapping
from twigcast.routing import (
    Advertise,
    Announce,
    Deliver,
    DeliverFragment,
    Envelope,
    Message,
    Network,
    NetworkMediation,
    Paths,
    Publish,
    PublishFragment,
    RequestAnnotations,
    Router,
    Strategy,
    Subscribe,
    Timing,
    Unadvertise,
    Unpublish,
    Unsubscribe,
    join,
    leaf_paths,
    pool_for,
)
from twigcast.schema import ElementGraph
from twigcast.simulator.cost import (
    CostModel,
    LinkModel,
    Sizes,
    annotation_size,
    body_size,
    header_size,
    image_size,
)
from twigcast.simulator.dialects import announcements
from twigcast.simulator.fragment_traffic import FragmentOptions, FragmentTraffic
from twigcast.simulator.load import Load
from twigcast.simulator.processing import ProcessedBatch, RouterProcess, Sending
from twigcast.simulator.report import Delay, NetworkWork, Report, WorkFigures
from twigcast.simulator.transmission import Links
from twigcast.simulator.truth import ANSWERS, Truth

try:
    import simpy
except ModuleNotFoundError as error:
    raise ExtraError("simpy", extra="simulator") from error

FRAGMENTS = (PublishFragment, DeliverFragment)

KINDS: dict[type[Message], str] = {
    Announce: "announcement",
    Advertise: "advertisement",
    Unadvertise: "unadvertisement",
    Subscribe: "subscription",
    Unsubscribe: "unsubscription",
    RequestAnnotations: "plan",
    Unpublish: "unpublication",
}


def simulate(network: Network, load: Load, strategy: Strategy, **options: Any) -> Report:
    """Run a load on a network and return the report; the options are those of ``Simulation``."""
    simulation = Simulation(network, load, strategy, **options)
    for _ in simulation.steps():
        pass
    return simulation.report()


class Simulation:
    """The simulation of one strategy on one network; ``steps`` runs it in steps, to show progress."""

    def __init__(
        self,
        network: Network,
        load: Load,
        strategy: Strategy,
        *,
        name: str = "",
        cost: CostModel | None = None,
        link: LinkModel | None = None,
        interval: float = 10.0,
        batch: int | None = None,
        schema: ElementGraph | None = None,
        selectivity: Selectivity | None = None,
        mediation: NetworkMediation | None = None,
        sample: Sequence[bytes] = (),
        first_match: float | None = None,
        warm_up: int = 0,
        fragments: FragmentOptions | None = None,
        after: Simulation | None = None,
    ) -> None:
        """Without a ``cost`` model the processing time of the routers is measured.

        ``interval`` is the time between two documents in seconds; the default is so long that no document has
        to wait for another.  ``batch`` is the number of subscriptions that a client sends in one batch, or
        None for all of them.  With a cost model the routers share a pool of patterns, which is much faster;
        to be measured, each router needs a pool of its own.

        By the documents in ``sample`` routers choose their annotation plans.  ``first_match`` is the share of
        each document after which an eager router has found its first match; by default it is computed.  The
        first ``warm_up`` documents are not in the delays and in the work: by them adaptive routers learn.

        If documents travel in fragments, publishers cut and send them as ``fragments`` says.

        ``after`` is a simulation that has ended, on the same network with the same advertisements and
        subscriptions and a strategy that differs in its piggyback at most.  Its routers are taken over, and
        no client subscribes again; they keep their plans if the strategy is the same.
        """
        self.network, self.load, self.strategy = network, load, strategy
        self.name = name or str(strategy)
        self._links, self._interval, self._batch = Links(link or LinkModel()), interval, batch
        self._at = dict(network.clients)
        self._is_subscribed, self._is_planned = after is not None, False
        self._truth: Truth = Truth(network) if after is None else after._truth
        self.routers: dict[str, Router]
        if after is not None:
            self.routers = after.routers
            self._is_planned = strategy == after.strategy
            for router in () if self._is_planned else self.routers.values():
                router.switch_piggyback(strategy, sample)
        else:
            shared = pool_for(mediation, ANSWERS) if cost is not None else None
            self.routers = join(
                network,
                strategy,
                lambda: shared if shared is not None else pool_for(mediation),
                schema=schema,
                selectivity=selectivity,
                mediation=mediation,
                sample=sample,
            )
        self._mappings: dict[str | None, Mapping] = {}
        if mediation is not None:
            self._mappings = {each.name: each for some in load.mappings.values() for each in some}
        self._fragments: FragmentTraffic | None = None
        if strategy.publication == "fragments":
            self._fragments = FragmentTraffic(fragments or FragmentOptions(), self.routers, self._at)
        self._sizes = Sizes()
        self._environment = simpy.Environment()
        self._inboxes = {name: simpy.Store(self._environment) for name in network.routers}
        self._processes = {
            name: RouterProcess(
                router,
                cost,
                has_subscribers=any(load.subscriptions.get(client) for client in network.clients_of(name)),
                first_match=first_match,
            )
            for name, router in self.routers.items()
        }
        for name in network.routers:
            self._environment.process(self._work(name))
        self._received: Counter[str] = Counter()
        self._bytes = self._image_bytes = self._header_bytes = 0
        self._false_positives = 0
        self._published: dict[str, _Published] = {}
        self._owed: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
        self._deliveries = 0
        self._refused: TwigcastError | None = None
        self._delays: list[float] = []
        self._not_counted = frozenset(envelope.doc_id for _, envelope in load.documents[:warm_up])
        self._user_documents: set[tuple[str, str]] = set()
        self._expected = 0
        self._tables = [0]
        self._work_of: dict[str, WorkFigures] = defaultdict(WorkFigures)
        self._work_at: dict[int, WorkFigures] = defaultdict(WorkFigures)
        self._wall = 0.0

    @property
    def length(self) -> int:
        """The number of steps."""
        documents = len(self.load.documents)
        return documents if self._is_subscribed else len(self.load.subscriptions) + documents + 1

    def steps(self) -> Iterator[None]:
        """Run the load in steps: the advertisements, then each client that subscribes, then each document."""
        start = time.perf_counter()
        if not self._is_subscribed:
            yield from self._subscribe()
        self._tables = [router.table_size for router in self.routers.values()]
        if not self._is_planned:
            self._plan()
        half = len(self.load.documents) // 2
        for number, (client, envelope) in enumerate(self.load.documents):
            if number == half and self.load.leaving:
                self._leave()
            self._publish(client, Publish(envelope))
            self._run(self._environment.now + self._interval)
            if number + 1 == len(self._not_counted) and self.strategy.piggyback == Timing.ADAPTIVE.value:
                self._settle()
                self._plan()  # by now routers know what annotations save
            yield
        self._settle()
        self._wall = time.perf_counter() - start

    def report(self) -> Report:
        """Return the report of the steps that have run."""
        return Report(
            self.name,
            self.strategy,
            len(self.routers),
            dict(self._received),
            self._bytes,
            sum(self._tables),
            max(self._tables),
            sum(router.advertisement_count for router in self.routers.values()),
            self._false_positives,
            self._deliveries,
            sum(owed for owed in self._owed.values() if owed > 0),
            -sum(owed for owed in self._owed.values() if owed < 0),
            Delay.of(self._delays),
            len(self.load.subscriptions),
            len(self._user_documents),
            self._expected,
            self._image_bytes,
            self._header_bytes,
            NetworkWork(
                {name: self._work_of[name] for name in self.routers if name in self._work_of},
                dict(sorted(self._work_at.items())),
            ),
            None if self._fragments is None else self._fragments.figures(self._publication_times),
            self._wall,
        )

    @property
    def _publication_times(self) -> dict[str, float]:
        """When each document was published, but for those of the warm-up."""
        return {
            doc_id: each.at for doc_id, each in self._published.items() if doc_id not in self._not_counted
        }

    # Events

    def _subscribe(self) -> Iterator[None]:
        for client in self.load.mappings if self._mappings else ():
            self._send(client, self._at[client], announcements(self.load, client))
            self._settle()
        if self.strategy.advertising:
            for client, announced in self.load.advertisements.items():
                self._send(client, self._at[client], [Advertise(each) for each in announced])
                self._settle()
        yield
        for client, wanted in self.load.subscriptions.items():
            self._truth.subscribe(client, wanted)
            for first in range(0, len(wanted), self._batch or len(wanted) or 1):
                part = wanted[first : first + (self._batch or len(wanted))]
                self._send(client, self._at[client], [Subscribe(id, pattern) for id, pattern in part])
                self._settle()
            yield

    def _settle(self) -> None:
        """Run until no message is in transit."""
        self._run(None)

    def _run(self, until: float | None) -> None:
        self._environment.run(until)
        if self._refused is not None:
            raise self._refused

    def _plan(self) -> None:
        """Let the routers send their plans toward the publishers, the farthest routers first.

        So a plan can ask for what the routers behind it have asked for.
        """
        if self.strategy.piggyback is None:
            return
        entries = dict.fromkeys(self._at[client] for client, _ in self.load.documents)
        routes = {name: [self.network.route(name, entry) for entry in entries] for name in self.routers}
        for name in sorted(routes, key=lambda name: -max(map(len, routes[name]), default=0)):
            towards = dict.fromkeys(route[1] for route in routes[name] if len(route) > 1)
            for link, message in self._processes[name].replan(towards):
                self._send(name, link, [message])
            self._settle()

    def _leave(self) -> None:
        self._settle()
        for client, ids in self.load.leaving.items():
            self._truth.unsubscribe(client, ids)
            self._send(client, self._at[client], [Unsubscribe(id) for id in ids])
            self._settle()

    def _publish(self, client: str, message: Publish) -> None:
        envelope = message.envelope
        by_paths = self.strategy.publication == "paths"
        paths = len(leaf_paths(envelope.doc_id, read(envelope.body))) if by_paths else 0
        self._published[envelope.doc_id] = _Published(client, self._environment.now, paths, envelope.body)
        for receiver, ids in self._truth.deliveries(envelope.body, self._mapping(envelope)).items():
            self._owed[receiver, envelope.doc_id, ids] += 1
        original = self.load.originals.get(envelope.doc_id, envelope.body)
        self._expected += len(self._truth.deliveries(original))
        sent = [message] if self._fragments is None else self._fragments.publish(envelope)
        self._send(client, self._at[client], sent)

    def _send(self, source: str, target: str, messages: Sequence[Message], complete: float = 0.0) -> None:
        """Send messages over a link, after those that it is still transmitting.

        ``complete`` is the time at which the sender has the last byte of the document that it relays.
        """
        if self._links.model.relay == "store" and not isinstance(messages[0], FRAGMENTS):
            self._transmit(source, target, messages, complete)
            return
        for message in messages:
            self._transmit(source, target, [message], complete)

    def _transmit(self, source: str, target: str, messages: Sequence[Message], complete: float) -> None:
        size = self._sizes.total(messages)
        body = sum(map(body_size, messages))
        now = self._environment.now
        times = self._links.send(source, target, now, size - body, body, complete if body else 0.0)
        header_first = self._links.model.relay == "cut-through" and body and target in self._inboxes
        late = 0.0
        if self._fragments is not None and isinstance(messages[0], FRAGMENTS):
            late = self._fragments.lateness()
        arriving = self._environment.timeout((times.header if header_first else times.complete) + late - now)
        batch = _Batch(source, messages, times.complete)
        arriving.callbacks.append(lambda _: self._arrive(target, batch, size))

    def _arrive(self, target: str, batch: _Batch, size: int) -> None:
        if target in self._inboxes:
            self._bytes += size
            if batch.source in self._inboxes:
                self._image_bytes += sum(map(image_size, batch.messages))
                self._header_bytes += sum(map(header_size, batch.messages))
                plans = [each for each in batch.messages if isinstance(each, RequestAnnotations)]
                if plans:
                    self._work_of[batch.source].plan_bytes += self._sizes.total(plans)
            if self._fragments is not None:
                self._fragments.arrive(batch.messages[0], target, self._environment.now)
            self._inboxes[target].put(batch)
            return
        for message in batch.messages:
            if isinstance(message, Deliver):
                self._deliver(target, message.envelope.doc_id, message.subscriptions)
            elif isinstance(message, DeliverFragment) and self._fragments is not None:
                subscriptions = self._fragments.deliver(message, target)
                if subscriptions is not None:
                    self._deliver(target, message.fragment.doc_id, subscriptions)

    def _deliver(self, client: str, doc_id: str, subscriptions: tuple[str, ...]) -> None:
        """Count a document that a client has received."""
        self._owed[client, doc_id, subscriptions] -= 1
        self._user_documents.add((client, doc_id))
        self._deliveries += 1
        if doc_id not in self._not_counted:
            self._delays.append(self._environment.now - self._published[doc_id].at)

    def _work(self, name: str) -> Generator[simpy.Event, Any, None]:
        """Run a router: it handles one batch after the other."""
        process, inbox = self._processes[name], self._inboxes[name]
        while True:
            batch: _Batch = yield inbox.get()
            processed = batch.processed
            if processed is None:
                counted = self._count(name, batch.source, batch.messages)
                try:
                    processed = process.handle(batch.messages, batch.source, *counted)
                except TwigcastError as error:  # simpy would raise a copy, which not every error allows
                    self._refused = self._refused or error
                    return
                self._record(name, processed)
                if processed.needs_body and batch.complete > self._environment.now:
                    self._put_aside(name, batch, processed)
                    continue
            at_the_end = [each for each in processed.sendings if each.at >= processed.end]
            for sending in processed.sendings[: len(processed.sendings) - len(at_the_end)]:
                self._send_later(name, sending, batch.complete)
            yield self._environment.timeout(processed.end)
            for sending in at_the_end:
                self._send(name, sending.link, sending.messages, batch.complete)

    def _put_aside(self, name: str, batch: _Batch, processed: ProcessedBatch) -> None:
        """Send what does not depend on the body, and take up the rest when the body is complete."""
        waiting = []
        for sending in processed.sendings:
            if sending.needs_body:
                waiting.append(sending)
            else:
                self._send_later(name, sending, batch.complete)
        rest = batch._replace(processed=replace(processed, sendings=waiting))
        completed = self._environment.timeout(batch.complete - self._environment.now)
        completed.callbacks.append(lambda _: self._take_up(name, rest))

    def _take_up(self, name: str, batch: _Batch) -> None:
        self._inboxes[name].put(batch)

    def _send_later(self, name: str, sending: Sending, complete: float) -> None:
        ready = self._environment.timeout(sending.at)
        ready.callbacks.append(lambda _: self._send(name, sending.link, sending.messages, complete))

    def _record(self, name: str, processed: ProcessedBatch) -> None:
        """Add the work of a router to the figures of the router and of its distance from the publisher."""
        if self._fragments is not None:
            self._fragments.record(processed.fragments, self._environment.now + processed.end)
        onward = [each for sending in processed.sendings for each in sending.messages]
        for envelope, work, seconds in processed.documents:
            if envelope.doc_id in self._not_counted:
                continue
            sent = [
                each
                for each in onward
                if isinstance(each, Publish) and each.envelope.doc_id == envelope.doc_id
            ]
            figures = WorkFigures(
                documents=1,
                parsed=int(work.parsed),
                rows=work.rows,
                proven=work.proven,
                refuted=work.refuted,
                seconds=seconds,
                sent=len(sent),
                sent_bytes=sum(map(body_size, sent)),
                annotation_bytes=sum(map(annotation_size, sent)),
                paper_bits=work.paper_bits,
            )
            entry = self._at[self._published[envelope.doc_id].client]
            self._work_of[name].add(figures)
            self._work_at[len(self.network.route(entry, name)) - 1].add(figures)

    def _count(self, name: str, source: str, messages: Sequence[Message]) -> tuple[int, int]:
        """Record a batch that a router received; return its numbers of control messages and publications."""
        publications = 0
        for message in messages:
            if isinstance(message, Publish):
                publications += self._count_document(name, source, message.envelope)
            elif isinstance(message, PublishFragment):
                published = self._published[message.fragment.doc_id]
                envelope = Envelope(message.fragment.doc_id, published.body)
                publications += self._count_document(name, source, envelope)
            elif isinstance(message, Paths):
                publications += len(message.paths)
                publisher = self._published[message.doc_id].client
                needed = self._truth.needed_path
                self._false_positives += sum(name not in needed(path, publisher) for path in message.paths)
        kinds = Counter(map(type, messages))
        controls = 0
        for kind, name in KINDS.items():
            if kind in kinds:
                controls += kinds[kind]
                self._received[name] += kinds[kind]
        if publications:
            self._received["publication"] += publications
        return controls, publications

    def _mapping(self, envelope: Envelope) -> Mapping | None:
        """The mapping of a document, by its publisher."""
        return self._mappings.get(envelope.publisher)

    def _count_document(self, name: str, source: str, envelope: Envelope) -> int:
        """Record a document or fragment that a router received; return as how many publications it counts."""
        published = self._published[envelope.doc_id]
        if source in self._inboxes:
            needed = self._truth.needed(envelope.body, published.client, self._mapping(envelope))
            self._false_positives += name not in needed
        return published.paths or 1


class _Batch(NamedTuple):
    """Messages that a router received; a document may be without its body until ``complete``.

    ``processed`` is set if the router has read the header and waits for the body.
    """

    source: str
    messages: Sequence[Message]
    complete: float
    processed: ProcessedBatch | None = None


class _Published(NamedTuple):
    """The publication of a document; ``paths`` is the number of its paths, or 0 if it travels whole."""

    client: str
    at: float
    paths: int
    body: bytes

"""Runs the real routers of a network in virtual time, with links and processing that take time.

    clients advertise ─► clients subscribe, one after the other ─► documents, at intervals ─► report
                                                     (some subscriptions end halfway)

A router handles batches in the order of arrival, one at a time; the time for each comes from the cost model,
or is measured.  A link transmits one batch after the other.  Nothing is random: the same network, load and
cost model give the same report.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from typing import Any, NamedTuple

from twigcast.analysis import Selectivity
from twigcast.document import read
from twigcast.errors import ExtraError
from twigcast.rewriting import Mapping
from twigcast.routing import (
    Advertise,
    Announce,
    Deliver,
    Envelope,
    Message,
    Network,
    NetworkMediation,
    Paths,
    Publish,
    Strategy,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    join,
    leaf_paths,
    pool_for,
)
from twigcast.schema import ElementGraph
from twigcast.simulator.cost import CostModel, LinkModel, Sizes, header_size, image_size
from twigcast.simulator.load import Load
from twigcast.simulator.publishers_of_dialects import announcements
from twigcast.simulator.report import Delay, Report
from twigcast.simulator.truth import ANSWERS, Truth

try:
    import simpy
except ModuleNotFoundError as error:
    raise ExtraError("simpy", extra="simulator") from error

KINDS: dict[type[Message], str] = {
    Announce: "announcement",
    Advertise: "advertisement",
    Unadvertise: "unadvertisement",
    Subscribe: "subscription",
    Unsubscribe: "unsubscription",
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
    ) -> None:
        """Without a ``cost`` model the processing time of the routers is measured.

        ``interval`` is the time between two documents in seconds; the default is so long that no document has
        to wait for another.  ``batch`` is the number of subscriptions that a client sends in one batch, or
        None for all of them.  With a cost model the routers share a pool of patterns, which is much faster;
        to be measured, each router needs a pool of its own.
        """
        self.network, self.load, self.strategy = network, load, strategy
        self.name = name or str(strategy)
        self._cost, self._link, self._interval, self._batch = cost, link or LinkModel(), interval, batch
        self._at = dict(network.clients)
        shared = pool_for(mediation, ANSWERS) if cost is not None else None
        self.routers = join(
            network,
            strategy,
            lambda: shared if shared is not None else pool_for(mediation),
            schema=schema,
            selectivity=selectivity,
            mediation=mediation,
        )
        self._mappings: dict[str | None, Mapping] = {}
        if mediation is not None:
            self._mappings = {each.name: each for some in load.mappings.values() for each in some}
        self._truth = Truth(network)
        self._sizes = Sizes()
        self._environment = simpy.Environment()
        self._free: dict[tuple[str, str], float] = {}
        self._inboxes = {name: simpy.Store(self._environment) for name in network.routers}
        for name in network.routers:
            self._environment.process(self._work(name))
        self._received: Counter[str] = Counter()
        self._bytes = self._image_bytes = self._header_bytes = 0
        self._false_positives = 0
        self._published: dict[str, _Published] = {}
        self._owed: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
        self._delays: list[float] = []
        self._user_documents: set[tuple[str, str]] = set()
        self._expected = 0
        self._tables = [0]
        self._wall = 0.0

    @property
    def length(self) -> int:
        """The number of steps."""
        return len(self.load.subscriptions) + len(self.load.documents) + 1

    def steps(self) -> Iterator[None]:
        """Run the load in steps: the advertisements, then each client that subscribes, then each document."""
        start = time.perf_counter()
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
        self._tables = [router.table_size for router in self.routers.values()]
        half = len(self.load.documents) // 2
        for number, (client, envelope) in enumerate(self.load.documents):
            if number == half and self.load.leaving:
                self._leave()
            self._publish(client, Publish(envelope))
            self._environment.run(until=self._environment.now + self._interval)
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
            len(self._delays),
            sum(owed for owed in self._owed.values() if owed > 0),
            -sum(owed for owed in self._owed.values() if owed < 0),
            Delay.of(self._delays),
            len(self.load.subscriptions),
            len(self._user_documents),
            self._expected,
            self._image_bytes,
            self._header_bytes,
            self._wall,
        )

    # Events

    def _settle(self) -> None:
        """Run until no message is in transit."""
        self._environment.run()

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
        self._published[envelope.doc_id] = _Published(client, self._environment.now, paths)
        for receiver, ids in self._truth.deliveries(envelope.body, self._mapping(envelope)).items():
            self._owed[receiver, envelope.doc_id, ids] += 1
        original = self.load.originals.get(envelope.doc_id, envelope.body)
        self._expected += len(self._truth.deliveries(original))
        self._send(client, self._at[client], [message])

    def _send(self, source: str, target: str, messages: Sequence[Message]) -> None:
        """Send a batch over a link, after the batches that it is still transmitting."""
        size = self._sizes.total(messages)
        now = self._environment.now
        self._free[source, target] = free = (
            max(now, self._free.get((source, target), 0.0)) + size / self._link.bandwidth
        )
        arriving = self._environment.timeout(free + self._link.latency - now)
        arriving.callbacks.append(lambda _: self._arrive(source, target, messages, size))

    def _arrive(self, source: str, target: str, messages: Sequence[Message], size: int) -> None:
        if target in self._inboxes:
            self._bytes += size
            if source in self._inboxes:
                self._image_bytes += sum(map(image_size, messages))
                self._header_bytes += sum(map(header_size, messages))
            self._inboxes[target].put((source, messages))
            return
        for message in messages:
            assert isinstance(message, Deliver)
            doc_id = message.envelope.doc_id
            self._owed[target, doc_id, message.subscriptions] -= 1
            self._user_documents.add((target, doc_id))
            self._delays.append(self._environment.now - self._published[doc_id].at)

    def _work(self, name: str) -> Generator[simpy.Event, Any, None]:
        """Run a router: it handles one batch after the other."""
        router, inbox, cost = self.routers[name], self._inboxes[name], self._cost
        while True:
            source, messages = yield inbox.get()
            controls, publications = self._count(name, source, messages)
            if cost is not None:
                yield self._environment.timeout(cost.seconds(controls, publications, router.table_size))
                outgoing = router.exchange(messages, source)
            else:
                start = time.thread_time()  # what other processes do meanwhile is not the router's work
                outgoing = router.exchange(messages, source)
                yield self._environment.timeout(time.thread_time() - start)
            for target, sent in outgoing.items():
                self._send(name, target, sent)

    def _count(self, name: str, source: str, messages: Sequence[Message]) -> tuple[int, int]:
        """Record a batch that a router received; return its numbers of control messages and publications."""
        publications = 0
        for message in messages:
            if isinstance(message, Publish):
                publications += self._count_document(name, source, message)
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

    def _count_document(self, name: str, source: str, message: Publish) -> int:
        """Record a whole document that a router received; return as how many publications it counts."""
        published = self._published[message.envelope.doc_id]
        if source in self._inboxes:
            envelope = message.envelope
            needed = self._truth.needed(envelope.body, published.client, self._mapping(envelope))
            self._false_positives += name not in needed
        return published.paths or 1


class _Published(NamedTuple):
    """The publication of a document; ``paths`` is the number of its paths, or 0 if it travels whole."""

    client: str
    at: float
    paths: int

"""A scenario is the complete configuration of a simulation; here are also the built-in scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random

from twigcast.analysis import sample_selectivity
from twigcast.document import read
from twigcast.errors import RoutingError
from twigcast.pattern import Pattern, parse
from twigcast.routing import (
    STRATEGIES,
    Envelope,
    Network,
    NetworkMediation,
    Strategy,
    advertisement,
)
from twigcast.schema import ElementGraph, read_dtd
from twigcast.simulator.cost import PAPER, CostModel, LinkModel
from twigcast.simulator.dialects import DialectOptions, provided_dialects
from twigcast.simulator.fragment_traffic import FragmentOptions
from twigcast.simulator.load import Load
from twigcast.simulator.simulation import Simulation
from twigcast.simulator.topologies import balanced_tree, line, star
from twigcast.workload import (
    DocumentOptions,
    SubscriptionOptions,
    generate_documents,
    generate_subscriptions,
    news,
    presets,
)

SAMPLE = 200
"""The number of sample documents from which aggregation estimates selectivity."""
PLAN_SAMPLE = 64
"""How many of them routers choose their annotation plans by."""
LINEAR = SubscriptionOptions(min_steps=4, max_steps=10, wildcard=0.1, descendant=0.1)
"""Linear paths, of which about 90 % are covered by others, as in the routing paper (section 5)."""


@dataclass(frozen=True, slots=True)
class Subscribers:
    """The routers with a subscriber, one at each, and the subscriptions of each subscriber."""

    at: str | tuple[str, ...] = "leaves"
    """Routers by name, or ``leaves`` or ``all``."""
    count: int = 1000
    """The number of subscriptions of each subscriber."""
    leaving: float = 0.0
    """The share of the subscriptions that end after half of the documents."""
    options: SubscriptionOptions = LINEAR


@dataclass(frozen=True, slots=True)
class Publishers:
    """The routers with a publisher; each publisher advertises the schema, and they publish in turn."""

    at: str | tuple[str, ...] = "random"
    """Routers by name, or ``random``."""
    number: int = 1
    """The number of publishers, if their routers are drawn at random."""
    documents: int = 50
    """The number of documents of all publishers together."""
    warm_up: int = 0
    """The number of documents before these, by which routers learn and which are not in the delays."""
    options: DocumentOptions = field(default_factory=lambda: DocumentOptions(seed=1))


@dataclass(frozen=True, slots=True)
class Scenario:
    """The complete configuration of a simulation; the same scenario gives the same figures on any machine."""

    name: str
    network: Network
    dtd: Path | None = None
    root: str | None = None
    subscribers: Subscribers = field(default_factory=Subscribers)
    publishers: Publishers = field(default_factory=Publishers)
    strategies: Mapping[str, Strategy] = field(default_factory=lambda: STRATEGIES)
    link: LinkModel = field(default_factory=LinkModel)
    cost: CostModel | None = field(default_factory=CostModel)
    """With ``None`` the processing time of the routers is measured, and figures vary between runs."""
    interval: float = 10.0
    batch: int | None = None
    seed: int = 0
    mediation: DialectOptions | None = None
    """Publishers write dialects of the schema, which routers rewrite; None if all write the schema itself."""
    fragments: FragmentOptions = field(default_factory=FragmentOptions)
    """How publishers send documents that travel in fragments."""

    def by_paths(self) -> Scenario:
        """Return the same scenario with documents that travel as paths, as in the routing paper."""
        by_paths = {name: replace(each, publication="paths") for name, each in self.strategies.items()}
        return replace(self, strategies=by_paths)

    def with_piggyback(self, name: str) -> Strategy:
        """Return the first strategy of the scenario with this piggyback; raises ``RoutingError``."""
        return replace(next(iter(self.strategies.values()), Strategy()), piggyback=name)

    def simulations(self) -> list[Simulation]:
        """Make one simulation for each strategy, with the same network and load; raises ``TwigcastError``."""
        schema = self._schema()
        network, subscribers, publishers = self._populated()
        load = self._load(schema, subscribers, publishers)
        sample = self._sample(schema)
        selectivity = None
        if any(strategy.aggregation is not None for strategy in self.strategies.values()):
            selectivity = sample_selectivity(map(read, sample))
        networks: dict[str | None, NetworkMediation | None] = {None: None}
        if self.mediation is not None:
            provided = provided_dialects()
            load = provided.write(load, schema, self.mediation.dialects, self.seed)
            networks = {name: provided.networks[name] for name in self.mediation.approach}
        return [
            Simulation(
                network,
                load,
                strategy,
                name=name if approach is None else f"{name}, {approach}",
                mediation=mediation,
                cost=self.cost,
                link=self.link,
                interval=self.interval,
                batch=self.batch,
                schema=schema,
                selectivity=None if strategy.aggregation is None else selectivity,
                sample=sample[:PLAN_SAMPLE],
                first_match=self._first_match,
                warm_up=self.publishers.warm_up,
                fragments=self.fragments,
            )
            for name, strategy in self.strategies.items()
            for approach, mediation in networks.items()
        ]

    @property
    def _first_match(self) -> float | None:
        """The part of each document after which the first subscription matches, if a ``<test/>`` sets it."""
        return self.publishers.options.test_element if self.subscribers.options.test_condition else None

    def _schema(self) -> ElementGraph:
        if self.dtd is not None:
            return read_dtd(self.dtd, self.root)
        return news() if self.root is None else news().rooted(self.root)

    def _populated(self) -> tuple[Network, list[str], list[str]]:
        """Return the network with its clients, and the names of the subscribers and of the publishers."""
        random = Random(f"scenario/{self.seed}")
        at = self.subscribers.at
        named = {"leaves": self.network.leaves, "all": self.network.routers}
        routers = named.get(at, (at,)) if isinstance(at, str) else at
        subscribers = {f"subscriber {router}": router for router in routers}
        at = self.publishers.at
        if at == "random":
            at = tuple(random.choice(self.network.routers) for _ in range(self.publishers.number))
        elif isinstance(at, str):
            at = (at,)
        publishers = {f"publisher {number}": router for number, router in enumerate(at, 1)}
        return self.network.with_clients(subscribers | publishers), list(subscribers), list(publishers)

    def _load(self, schema: ElementGraph, subscribers: list[str], publishers: list[str]) -> Load:
        parsed = cache(lambda text: parse(text, dict(schema.namespaces)))
        options = self.subscribers.options
        subscriptions: dict[str, list[tuple[str, Pattern]]] = {}
        for number, client in enumerate(subscribers):
            drawn = replace(options, seed=options.seed + number)
            texts = generate_subscriptions(schema, self.subscribers.count, drawn)
            subscriptions[client] = [(f"{client}/{n}", parsed(text)) for n, text in enumerate(texts)]
        staying = 1.0 - self.subscribers.leaving
        count = self.publishers.warm_up + self.publishers.documents
        bodies = generate_documents(schema, count, self.publishers.options)
        return Load(
            {client: [advertisement(client, schema)] for client in publishers},
            subscriptions,
            [
                (publishers[number % len(publishers)], Envelope(f"document {number}", body))
                for number, body in enumerate(bodies)
            ],
            {
                client: [id for id, _ in each[int(staying * len(each)) :]]
                for client, each in subscriptions.items()
                if staying < 1.0
            },
        )

    def _sample(self, schema: ElementGraph) -> list[bytes]:
        """Documents like those that are published, for the estimates and choices of the routers."""
        if all(each.aggregation is None and each.piggyback is None for each in self.strategies.values()):
            return []
        options = replace(self.publishers.options, seed=self.publishers.options.seed + 1)
        return list(generate_documents(schema, SAMPLE, options))


AGGREGATING = Strategy(advertising=False, covering=False, aggregation=0.25)
"""The techniques of the papers on piggybacking: routers aggregate to 25 % and have no advertisements.

Documents with a ``<test/>`` are outside of the schema, so that advertisements would flood them.  Aggregation
drops covered subscriptions itself; were they dropped before, it would have to go to 25 % of the rest.
"""

FIFTEEN = Scenario(
    "fifteen",
    balanced_tree(2, 4),
    subscribers=Subscribers("all", 1000, options=replace(presets.THESIS_4_2, test_condition=True)),
    publishers=Publishers(
        "b1", documents=10, warm_up=1, options=replace(presets.NITF_MEDIUM, seed=1, test_element=0.5)
    ),
    strategies={name: replace(AGGREGATING, piggyback=name) for name in ("ES", "L+s-sd", "L+t")},
    link=LinkModel(latency=0.0, bandwidth=1e7),
    cost=PAPER,
)
"""The network of the papers on piggybacking: users at each of 15 routers, and documents from the root down.

The papers have 5,000 subscriptions at each router, and documents of NITF; they give no latency.
"""

FOUR_LINKS = Scenario(
    "four-links",
    line(3),
    subscribers=Subscribers("b3", 1, options=replace(LINEAR, min_steps=5, max_steps=6)),
    publishers=Publishers(
        "b1", documents=8, options=DocumentOptions(seed=1, elements=16_000, spread=0.2, skew=1.0)
    ),
    strategies={
        "documents": Strategy(advertising=False, covering=False),
        "fragments": Strategy(advertising=False, covering=False, publication="fragments"),
    },
    fragments=FragmentOptions(bytes=16_384, delivery="fragments"),
)
"""Documents of about a megabyte that pass three routers to one subscriber, whole and in fragments."""

SCENARIOS = {
    each.name: each
    for each in (
        Scenario("seven", balanced_tree(2, 3)).by_paths(),
        Scenario("hundred-and-twenty-seven", balanced_tree(2, 7)).by_paths(),
        Scenario("line", line(8), subscribers=Subscribers("all", 100)),
        Scenario("star", star(8), subscribers=Subscribers("leaves", 100)),
        FIFTEEN,
        FOUR_LINKS,
    )
}
"""The built-in scenarios: the two networks of the routing paper (Tables 2 and 3), two small ones, that of the
papers on piggybacking, and one for documents in fragments."""


def named_scenario(name: str) -> Scenario:
    """Return a built-in scenario by name; raises ``RoutingError`` if there is none."""
    if name not in SCENARIOS:
        raise RoutingError(
            f"there is no scenario {name!r}: give a file, or one of {', '.join(SCENARIOS)}",
            code="scenario",
            name=name,
        )
    return SCENARIOS[name]

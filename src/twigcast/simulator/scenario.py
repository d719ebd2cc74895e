"""A simulation by name or from a file: network, schema, who subscribes and publishes, which strategies.

    [network]                             line, star, balanced-tree, random-tree; or links = [["a", "b"], …]
    topology = "balanced-tree"
    arity = 2
    depth = 3

    [schema]                              without it, the built-in one for news
    dtd = "psd.dtd"

    [subscribers]
    at = "leaves"                         or "all", or brokers by name; one client at each
    count = 1000                          subscriptions of each; the other keys are SubscriptionOptions
    wildcard = 0.1

    [publishers]
    at = "random"                         or brokers by name; ``number`` of them, if random
    documents = 50                        of all together; the other keys are DocumentOptions

    [strategies]
    names = ["no-Adv-no-Cov", "with-Adv-with-Cov"]
    publication = "paths"

What is left out has a default; ``[link]`` and ``[cost]`` have the fields of their models, and
``cost.measured = true`` takes the time of the real routers instead.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from twigcast.analysis import Selectivity, sample_selectivity
from twigcast.document import read
from twigcast.errors import RoutingError
from twigcast.pattern import Pattern, parse
from twigcast.routing import STRATEGIES, Envelope, Network, Strategy, advertisement
from twigcast.schema import ElementGraph, read_dtd
from twigcast.simulator.cost import CostModel, LinkModel
from twigcast.simulator.load import Load
from twigcast.simulator.simulation import Simulation
from twigcast.simulator.topologies import balanced_tree, line, random_tree, star
from twigcast.workload import (
    DocumentOptions,
    SubscriptionOptions,
    generate_documents,
    generate_subscriptions,
    news,
)

Value = TypeVar("Value")
SAMPLE = 200
"""Documents from which aggregation learns what is rare."""
LINEAR = SubscriptionOptions(min_steps=4, max_steps=10, wildcard=0.1, descendant=0.1)
"""Linear paths of which about nine in ten are covered by others, as in the paper (R, section 5)."""


@dataclass(frozen=True, slots=True)
class Subscribers:
    """One client at each of some brokers, with so many subscriptions each."""

    at: str | tuple[str, ...] = "leaves"
    count: int = 1000
    leaving: float = 0.0
    """The part of them that is taken back after half of the documents."""
    options: SubscriptionOptions = LINEAR


@dataclass(frozen=True, slots=True)
class Publishers:
    """Clients that advertise the schema and publish documents of it in turn."""

    at: str | tuple[str, ...] = "random"
    number: int = 1
    documents: int = 50
    options: DocumentOptions = field(default_factory=lambda: DocumentOptions(seed=1))


@dataclass(frozen=True, slots=True)
class Scenario:
    """All that a simulation needs to know; the same scenario gives the same figures."""

    name: str
    network: Network
    dtd: Path | None = None
    root: str | None = None
    subscribers: Subscribers = field(default_factory=Subscribers)
    publishers: Publishers = field(default_factory=Publishers)
    strategies: Mapping[str, Strategy] = field(default_factory=lambda: STRATEGIES)
    link: LinkModel = field(default_factory=LinkModel)
    cost: CostModel | None = field(default_factory=CostModel)
    """None to take the time of the routers themselves."""
    interval: float = 10.0
    batch: int | None = None
    seed: int = 0

    def by_paths(self) -> Scenario:
        """The same with documents that travel as paths, as in the paper."""
        by_paths = {name: replace(each, publication="paths") for name, each in self.strategies.items()}
        return replace(self, strategies=by_paths)

    def simulations(self) -> list[Simulation]:
        """One simulation for each strategy, on the same network and load; raises ``TwigcastError``."""
        schema = self._schema()
        network, subscribers, publishers = self._populated()
        load = self._load(schema, subscribers, publishers)
        return [
            Simulation(
                network,
                load,
                strategy,
                name=name,
                cost=self.cost,
                link=self.link,
                interval=self.interval,
                batch=self.batch,
                schema=schema,
                selectivity=self._selectivity(schema, strategy),
            )
            for name, strategy in self.strategies.items()
        ]

    def _schema(self) -> ElementGraph:
        if self.dtd is not None:
            return read_dtd(self.dtd, self.root)
        return news() if self.root is None else news().rooted(self.root)

    def _populated(self) -> tuple[Network, list[str], list[str]]:
        """The network with its clients, and who of them subscribes and who publishes."""
        random = Random(f"scenario/{self.seed}")
        at = self.subscribers.at
        named = {"leaves": self.network.leaves, "all": self.network.routers}
        brokers = named.get(at, (at,)) if isinstance(at, str) else at
        subscribers = {f"subscriber {broker}": broker for broker in brokers}
        at = self.publishers.at
        if at == "random":
            at = tuple(random.choice(self.network.routers) for _ in range(self.publishers.number))
        elif isinstance(at, str):
            at = (at,)
        publishers = {f"publisher {number}": broker for number, broker in enumerate(at, 1)}
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
        bodies = generate_documents(schema, self.publishers.documents, self.publishers.options)
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

    def _selectivity(self, schema: ElementGraph, strategy: Strategy) -> Selectivity | None:
        if strategy.aggregation is None:
            return None
        options = replace(self.publishers.options, seed=self.publishers.options.seed + 1)
        return sample_selectivity(map(read, generate_documents(schema, SAMPLE, options)))


def load_scenario(path: Path) -> Scenario:
    """The scenario of a TOML file; raises ``RoutingError`` or ``SchemaError``."""
    try:
        with path.open("rb") as file:
            described = tomllib.load(file)
    except OSError as error:
        raise RoutingError(
            f"{path} cannot be read: {error.strerror}", code="scenario", name=str(path)
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise RoutingError(f"{path} is not TOML: {error}", code="scenario", name=str(path)) from error
    try:
        return _scenario(described, path)
    except RoutingError as error:
        raise RoutingError(f"{path}: {error.message}", code=error.code, name=error.name) from error


_SECTIONS = ("name", "seed", "interval", "batch", "network", "schema", "subscribers", "publishers",
             "strategies", "strategy", "link", "cost")  # fmt: skip


def _scenario(described: Mapping[str, Any], path: Path) -> Scenario:
    _known(described, _SECTIONS, "")
    schema = _section(described, "schema")
    _known(schema, ("dtd", "root"), "schema.")
    dtd = schema.get("dtd")
    cost = dict(_section(described, "cost"))
    measured = cost.pop("measured", False)
    subscribers, publishers = _section(described, "subscribers"), _section(described, "publishers")
    return Scenario(
        str(described.get("name", path.stem)),
        _network(_section(described, "network")),
        None if dtd is None else path.parent / str(dtd),
        schema.get("root"),
        _with_options(Subscribers, subscribers, LINEAR, "subscribers"),
        _with_options(Publishers, publishers, DocumentOptions(seed=1), "publishers"),
        _strategies(described),
        _made(LinkModel, _section(described, "link"), "link"),
        None if measured else _made(CostModel, cost, "cost"),
        float(described.get("interval", 10.0)),
        described.get("batch"),
        int(described.get("seed", 0)),
    )


def _network(described: Mapping[str, Any]) -> Network:
    _known(described, ("topology", "brokers", "arity", "depth", "seed", "links"), "network.")
    if "links" in described:
        links = [tuple(map(str, link)) for link in described["links"]]
        if any(len(link) != 2 for link in links):
            raise RoutingError("each of network.links joins two brokers", code="scenario", name="links")
        names = dict.fromkeys(end for link in links for end in link)
        return Network(tuple(names), tuple(links))  # type: ignore[arg-type]
    topology = described.get("topology", "balanced-tree")
    try:
        brokers = int(described.get("brokers", 7))
        match topology:
            case "line":
                return line(brokers)
            case "star":
                return star(brokers)
            case "balanced-tree":
                return balanced_tree(int(described.get("arity", 2)), int(described.get("depth", 3)))
            case "random-tree":
                return random_tree(brokers, int(described.get("seed", 0)))
    except ValueError as error:
        raise RoutingError(f"in network: {error}", code="scenario", name="network") from error
    raise RoutingError(
        f"network.topology is line, star, balanced-tree or random-tree, not {topology!r}",
        code="scenario",
        name="topology",
    )


def _strategies(described: Mapping[str, Any]) -> dict[str, Strategy]:
    """Those of ``[strategies]`` by name, and ``[strategy]`` for one of one's own."""
    listed = _section(described, "strategies")
    _known(listed, ("names", "publication"), "strategies.")
    names = listed.get("names", () if "strategy" in described else tuple(STRATEGIES))
    chosen: dict[str, Strategy] = {}
    for name in names:
        if name not in STRATEGIES:
            raise RoutingError(
                f"there is no strategy {name!r}: choose of {', '.join(STRATEGIES)}",
                code="strategy",
                name=str(name),
            )
        chosen[name] = replace(STRATEGIES[name], publication=listed.get("publication", "documents"))
    if "strategy" in described:
        chosen["strategy"] = _made(Strategy, _section(described, "strategy"), "strategy")
    return chosen


def _with_options(kind: Callable[..., Value], described: Mapping[str, Any], usual: Any, name: str) -> Value:
    """A value of which some keys are its own and others belong to its options."""
    own = {each.name for each in fields(kind)} - {"options"}  # type: ignore[arg-type]
    given = {key: value for key, value in described.items() if key not in own}
    _known(given, [each.name for each in fields(usual)], f"{name}.")
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in described.items()}
    try:
        return kind(**{key: values[key] for key in values if key in own}, options=replace(usual, **given))
    except (TypeError, ValueError) as error:
        raise RoutingError(f"in {name}: {error}", code="scenario", name=name) from error


def _made(kind: type[Value], described: Mapping[str, Any], name: str) -> Value:
    _known(described, [each.name for each in fields(kind)], f"{name}.")  # type: ignore[arg-type]
    return kind(**described)


def _section(described: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = described.get(name, {})
    if not isinstance(section, Mapping):
        raise RoutingError(f"{name} must be a section, [{name}]", code="scenario", name=name)
    return section


def _known(described: Mapping[str, Any], names: Any, where: str) -> None:
    for key in described:
        if key not in names:
            raise RoutingError(
                f"{where}{key} is not known; there are {', '.join(names)}", code="scenario", name=key
            )


SCENARIOS = {
    each.name: each
    for each in (
        Scenario("seven", balanced_tree(2, 3)).by_paths(),
        Scenario("hundred-and-twenty-seven", balanced_tree(2, 7)).by_paths(),
        Scenario("line", line(8), subscribers=Subscribers("all", 100)),
        Scenario("star", star(8), subscribers=Subscribers("leaves", 100)),
    )
}
"""Scenarios by name: the two networks of the paper (R, Tables 2 and 3), and two small ones."""


def named_scenario(name: str) -> Scenario:
    """A built-in scenario; raises ``RoutingError``."""
    if name not in SCENARIOS:
        raise RoutingError(
            f"there is no scenario {name!r}: give a file, or one of {', '.join(SCENARIOS)}",
            code="scenario",
            name=name,
        )
    return SCENARIOS[name]

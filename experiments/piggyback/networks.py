"""The network of the papers on piggybacking: a binary tree of 15 routers, with documents from the root down.

                b1  ◄── documents           users at every router, 5,000 subscriptions for each
              ┌──┴──┐                       each router forwards its subscriptions, aggregated to 25 % of
             b2     b3                      their steps, toward the root
            ┌─┴─┐  ┌─┴─┐                    each document has a <test/> after a part f, and each
           b4  b5  b6  b7   … b8 to b15     subscription demands it

The publisher advertises the schema with ``<test/>`` allowed in every element.  So documents are within the
advertisement, and subscriptions travel up the tree only; without advertisements they would also be aggregated
down the tree, where no document comes from.

A smaller run has fewer subscriptions and the same documents.  The cost models charge it more for each row, so
that a router spends the papers' share of its time on rows: a row stands for several.

The subscriptions of a setting are set up once (``Tree``); strategies, parts, cost models and bandwidths are
then simulated one after the other on the same routers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from benchmarks.workloads import data
from experiments.findings import Watch, scaled
from twigcast.analysis import sample_selectivity
from twigcast.document import read
from twigcast.errors import ExtraError
from twigcast.pattern import Pattern, parse
from twigcast.routing import Envelope, Strategy, advertisement
from twigcast.schema import Child, ContentKind, ElementDeclaration, ElementGraph, Particle, read_dtd
from twigcast.schema import Sequence as InSequence
from twigcast.workload import DocumentOptions, SubscriptionOptions, generate_documents, generate_subscriptions
from twigcast.workload.presets import NITF_LARGE, NITF_MEDIUM, NITF_SMALL, THESIS_4_2

if TYPE_CHECKING:
    from twigcast.simulator import Report
    from twigcast.simulator.cost import CostModel
    from twigcast.simulator.load import Load
    from twigcast.simulator.simulation import Simulation

PARTS = (0.25, 0.5, 0.75, 1.0)
"""The values of f."""
ROWS = 5_000
BANDWIDTH = 1e7
DOCUMENTS = 10
SAMPLE = 64
SUBSCRIPTIONS = replace(THESIS_4_2, test_condition=True)
USUAL = 0.1
"""The scale of a run without ``--scale``."""
LONG = "L+s-sd"
MODELS = ("paper", "even")
LOAD = (
    "Load: subscriptions of 3 to 8 steps, p(*) = p(//) = 0.1, p(nested) = 0.2, skew 0.5 (preset thesis-4.2)."
)
MODEL = (
    "PAPER is the simulator's cost model that was fitted to percentages of the paper, EVEN the same with "
    "first matches that are found evenly; neither was changed to fit anything below."
)

NITF_DOCUMENTS = {"NITF1": NITF_SMALL, "NITF2": NITF_MEDIUM, "NITF3": NITF_LARGE}
DTDS = {
    "NITF": "nitf/nitf-2-5.dtd",
    "DBLP": "dblp/dblp.dtd",
    "Treebank": "treebank/treebank.dtd",
    "Protein": "psd/psd7003-reconstructed.dtd",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """The subscriptions and documents of a network; ``rows`` is the number of subscriptions at a router."""

    schema: str = "NITF"
    rows: int = ROWS
    subscriptions: SubscriptionOptions = SUBSCRIPTIONS
    documents: DocumentOptions = NITF_MEDIUM
    share: float = 0.25
    """The share of the steps to which a router aggregates (k)."""
    count: int = DOCUMENTS
    scale: float = 1.0
    """The scale of the run: at 0.1 the models charge each row ten times."""


def setting(scale: float, rows: int = ROWS, **changes: object) -> Setting:
    """The papers' default setting at a scale, with changes."""
    return replace(Setting(rows=scaled(rows, scale), scale=scale), **changes)  # type: ignore[arg-type]


class Tree:
    """The 15 routers of a setting with their subscriptions, on which strategies are simulated."""

    def __init__(self, setting: Setting, watch: Watch) -> None:
        if find_spec("simpy") is None:
            raise ExtraError("simpy", extra="simulator")
        from twigcast.simulator.topologies import balanced_tree

        self.setting = setting
        self._graph = schema(setting.schema)
        network = balanced_tree(2, 4)
        users = {f"user {router}": router for router in network.routers}
        self._network = network.with_clients(users | {"publisher": "b1"})
        self._advertised = advertisement("publisher", with_test_element(self._graph))
        self._subscriptions = _subscriptions(self._graph, tuple(users), setting)
        options = replace(setting.documents, seed=2, test_element=0.5)
        self.sample = tuple(generate_documents(self._graph, SAMPLE if setting.count > 3 else 2, options))
        self._selectivity = sample_selectivity(map(read, self.sample))
        self._last: Simulation | None = None
        self._watch = watch

    def report(
        self,
        piggyback: str | None,
        part: float,
        cost: CostModel,
        bandwidth: float = BANDWIDTH,
        annotation_bytes: int = Strategy().annotation_bytes,
    ) -> Report:
        """Simulate a piggyback strategy with a first match after a part of each document."""
        from twigcast.simulator.cost import LinkModel
        from twigcast.simulator.simulation import Simulation

        strategy = Strategy(
            covering=False,
            aggregation=self.setting.share,
            piggyback=piggyback,
            annotation_bytes=annotation_bytes,
        )
        simulation = Simulation(
            self._network,
            self._load(part),
            strategy,
            name=piggyback or "plain",
            cost=cost,
            link=LinkModel(bandwidth=bandwidth, latency=0.0),
            selectivity=self._selectivity,
            sample=self.sample,
            first_match=part,
            warm_up=1,
            interval=1000.0,
            after=self._last,
        )
        steps: Iterable[None] = simulation.steps()
        if self._last is None:
            what = f"{self.setting.schema}, {self.setting.rows:,} subscriptions at each of 15 routers"
            steps = self._watch(what, steps, simulation.length)
        for _ in steps:
            pass
        self._last = simulation
        return simulation.report()

    @property
    def told(self) -> list[int]:
        """How many subscriptions each router but the root has forwarded toward the root."""
        assert self._last is not None
        routers = self._last.routers
        return [len(router.told(router.neighbours[0])) for name, router in routers.items() if name != "b1"]

    def _load(self, part: float) -> Load:
        from twigcast.simulator.load import Load

        options = replace(self.setting.documents, seed=1, test_element=part)
        bodies = generate_documents(self._graph, self.setting.count + 1, options)
        return Load(
            {"publisher": [self._advertised]},
            self._subscriptions,
            [("publisher", Envelope(f"document {number}", body)) for number, body in enumerate(bodies)],
        )


def tree(setting: Setting, watch: Watch) -> Tree:
    """The tree of a setting; the last one is kept, as several experiments begin with the same."""
    if setting not in _KEPT:
        _KEPT.clear()
        _KEPT[setting] = Tree(setting, watch)
    return _KEPT[setting]


_KEPT: dict[Setting, Tree] = {}


def model(name: str, scale: float) -> CostModel:
    """A cost model by name, in which rows weigh as much as they do at full scale."""
    from twigcast.simulator.cost import COST_MODELS

    return replace(COST_MODELS[name], row=COST_MODELS[name].row / scale)


def improvement(slow: Report, fast: Report) -> float:
    """How much of the response time is saved, in per cent."""
    return 100.0 * fast.saved(slow)


def wrong(reports: Sequence[Report]) -> tuple[str, ...]:
    """A sentence for each simulation whose deliveries are not those of flooding."""
    return tuple(
        f"{report.name}: {report.missing:,} deliveries are missing, {report.extra:,} too many"
        for report in reports
        if not report.correct
    )


@cache
def schema(name: str) -> ElementGraph:
    """A schema of the papers by name."""
    return read_dtd(data(DTDS[name]))


def with_test_element(graph: ElementGraph) -> ElementGraph:
    """The same schema with ``<test/>`` allowed at the end of every element."""
    test = Child("test", 0, None)
    elements = []
    for each in graph.elements:
        if each.content is not ContentKind.ANY:
            model: Particle = test if each.model is None else InSequence((each.model, test))
            kind = ContentKind.ELEMENTS if each.content is ContentKind.EMPTY else each.content
            each = replace(each, content=kind, model=model)
        elements.append(each)
    return replace(graph, elements=(*elements, ElementDeclaration("test")))


def _subscriptions(
    graph: ElementGraph, users: tuple[str, ...], setting: Setting
) -> dict[str, list[tuple[str, Pattern]]]:
    parsed = cache(lambda text: parse(text, dict(graph.namespaces)))
    made = {}
    for number, user in enumerate(users):
        options = replace(setting.subscriptions, seed=setting.subscriptions.seed + number)
        texts = generate_subscriptions(graph, setting.rows, options)
        made[user] = [(f"{user}/{place}", parsed(text)) for place, text in enumerate(texts)]
    return made

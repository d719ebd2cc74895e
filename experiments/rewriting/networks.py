"""Response times of the approaches in a network: T = T_q (parse, rewrite, match) + T_t (transmission).

The simulator runs the real routers and measures what they take (T_q); links take bytes by bandwidth (T_t),
which a run without processing gives by itself.  The last link, from a router to its own client, is left out:
in the papers both are one computer.  The image of SDR is written before its document is published,
as a mediator at the publisher would.  For DRR only the image travels; the time to reverse it is added, before
the document is forwarded (EDRR, which then sends both) or after (LDRR).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from experiments.engines.mapping.reversing import ReverseRewriter
from experiments.findings import Cell, Chart, Table, printed_numbers
from experiments.rewriting.feeds import FeedDocument, catalogue, subscriptions
from twigcast.errors import ExtraError
from twigcast.pattern import parse
from twigcast.routing import FLOODING, MAPPING, Approach, Envelope, Network, NetworkMediation

if TYPE_CHECKING:
    from twigcast.simulator import Report
    from twigcast.simulator.cost import CostModel

MBPS = (10, 50, 100)
SPEED = 50
ROUTERS = 4
PATTERNS = 1000
SIZE = 20_000
DOCUMENTS = 40
SIMULATED = ("SDR", "NDDR", "EDRR", "LDRR")
WHY_FASTER = (
    "Their T_q is about 11 ms for each hop (SDR's T_t is 78 % of its T at 10 Mbps), ours below 1 ms, so "
    "transmission is nearly all of T here, and halving the bytes gains nearly half at any bandwidth."
)
WHY_PYTHON = (
    "Reverse rewriting exists for this comparison only and is written in Python, so EDRR and LDRR are "
    "further behind than theirs; IDDR is a reference engine in Python and has no comparable time (see "
    "fig-6-10b for what its sharing gains in the kernel)."
)


def line(routers: int) -> Network:
    """Routers in line."""
    _check_simpy()
    from twigcast import simulator

    return simulator.line(routers)


def binary_tree(levels: int) -> Network:
    """A complete binary tree of routers."""
    _check_simpy()
    from twigcast import simulator

    return simulator.balanced_tree(2, levels)


@dataclass(frozen=True, slots=True)
class Setting:
    """One point of a figure."""

    network: Network
    mbps: float = SPEED
    patterns: int = PATTERNS
    at_leaves: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The mean response time of one approach, in ms."""

    processing: float
    transmission: float
    bytes: int
    header_bytes: int
    wrong: int

    @property
    def total(self) -> float:
        return self.processing + self.transmission


def responses(setting: Setting, feed: Sequence[FeedDocument]) -> dict[str, Outcome]:
    """SDR, NDDR (with announced mappings), NDDR_data, EDRR and LDRR."""
    for each in feed:
        _rewriter(each.dialect.name, each)
    found = {name: _run(setting, feed, approach) for name, approach in _APPROACHES.items()}
    image = _run(setting, feed, None)
    start = time.thread_time()
    for each in feed:
        _rewriter(each.dialect.name, each).reverse(each.image)
    back = 1000 * (time.thread_time() - start) / len(feed)
    found["EDRR"] = replace(image, processing=image.processing + back, transmission=found["SDR"].transmission)
    found["LDRR"] = replace(image, processing=image.processing + back)
    return found


def gain(found: dict[str, Outcome], over: str = "SDR") -> float:
    """By how many per cent NDDR is better than another approach."""
    return 100 * (1 - found["NDDR"].total / found[over].total)


def table(title: str, column: str, rows: dict[str, dict[str, Outcome]], paper: dict[str, str]) -> Table:
    """T_q and T_t of each approach, and the gain of NDDR over SDR beside the paper's."""
    cells: list[tuple[Cell, ...]] = []
    for name, found in rows.items():
        for approach, outcome in found.items():
            cells.append(
                (
                    name,
                    approach,
                    outcome.processing,
                    outcome.transmission,
                    outcome.total,
                    gain(found) if approach == "SDR" else None,
                    paper.get(name) if approach == "SDR" else None,
                )
            )
    columns = (column, "approach", "T_q ms", "T_t ms", "T ms", "NDDR better by %", "paper %")
    return Table(title, columns, tuple(cells), (WHY_FASTER, WHY_PYTHON))


def gain_chart(title: str, column: str, rows: dict[str, dict[str, Outcome]], paper: dict[str, str]) -> Chart:
    """The gain of NDDR over SDR at each point, beside the paper's where it prints a number."""
    return Chart(
        f"{title}: gain of NDDR over SDR",
        column,
        "%",
        {"ours": tuple((name, gain(found)) for name, found in rows.items())},
        {"paper": numbers} if (numbers := printed_numbers(paper)) else {},
    )


_APPROACHES: dict[str, Approach] = {"SDR": "SDR", "NDDR": "NDDR_router", "NDDR_data": "NDDR_data"}
_REVERSING: dict[str, ReverseRewriter] = {}


def _rewriter(name: str, document: FeedDocument) -> ReverseRewriter:
    if name not in _REVERSING:
        _REVERSING[name] = ReverseRewriter(document.dialect.mapping)
    return _REVERSING[name]


def _run(setting: Setting, feed: Sequence[FeedDocument], approach: Approach | None) -> Outcome:
    """Without an approach, only images travel."""
    from twigcast.simulator.cost import CostModel

    runs = [_simulated(setting, feed, approach, None) for _ in range(2)]  # the machine has other work, too
    transmission, free = _simulated(setting, feed, approach, CostModel(0.0, 0.0, 0.0))
    processing = max(0.0, min(delay for delay, _ in runs) - transmission)
    delivered = sum(len(each.image if approach is None else each.body) for each in feed) / len(feed)
    transmission -= 1000 * delivered / (setting.mbps * 1e6 / 8)
    wrong = sum(each.missing + each.extra for each in (free, *(report for _, report in runs)))
    return Outcome(processing, transmission, free.bytes, free.header_bytes, wrong)


def _simulated(
    setting: Setting, feed: Sequence[FeedDocument], approach: Approach | None, cost: CostModel | None
) -> tuple[float, Report]:
    """The mean delay in ms, and the report; all documents are sent once before any is measured."""
    from twigcast.simulator.cost import LinkModel
    from twigcast.simulator.load import Load
    from twigcast.simulator.simulation import Simulation

    routers = setting.network.leaves if setting.at_leaves else setting.network.routers
    users = {f"user {router}": router for router in routers}
    parsed = cache(lambda text: parse(text, dict(catalogue().namespaces)))
    load = Load(
        {},
        {
            user: [
                (f"{user}/{number}", parsed(text))
                for number, text in enumerate(subscriptions(setting.patterns, seed, 0.0))
            ]
            for seed, user in enumerate(users)
        },
        [("publisher", _envelope(number, each, approach)) for number, each in enumerate([*feed, *feed])],
        mappings={"publisher": [each.dialect.mapping for each in _one_each(feed)]} if approach else {},
    )
    simulation = Simulation(
        setting.network.with_clients(users | {"publisher": setting.network.routers[0]}),
        load,
        FLOODING,
        cost=cost,
        link=LinkModel(0.0, setting.mbps * 1e6 / 8),
        mediation=NetworkMediation(approach) if approach else None,
    )
    warm = None
    for step, _ in enumerate(simulation.steps(), 1):
        if step == simulation.length - len(feed):
            warm = simulation.report()
    report = simulation.report()
    assert warm is not None
    counted = max(1, report.deliveries - warm.deliveries)
    delay = (report.delay.mean * report.deliveries - warm.delay.mean * warm.deliveries) / counted
    return 1000 * delay, report


def _one_each(feed: Sequence[FeedDocument]) -> list[FeedDocument]:
    return list({each.dialect.name: each for each in feed}.values())


def _envelope(number: int, each: FeedDocument, approach: Approach | None) -> Envelope:
    name = f"document {number}"
    if approach is None:
        return Envelope(name, each.image)
    if approach == "SDR":
        headers = ((MAPPING, each.dialect.mapping.reference),)
        return Envelope(name, each.body, each.dialect.name, headers, each.image)
    return Envelope(name, each.body, each.dialect.name)


def _check_simpy() -> None:
    if find_spec("simpy") is None:
        raise ExtraError("simpy", extra="simulator")

"""Cut-through: one subscription on each of four links, a document whole and in fragments.

    publisher ──► router ──► router ──► router ──► subscriber

A router that stores documents sends one on when all of it has come: four transmissions.  By fragments a
document takes one transmission, and at each router as long as the match is not certain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from benchmarks.workloads import data
from experiments.findings import Bar, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.fragments.documents import xmark
from twigcast.errors import ExtraError
from twigcast.filtering import Index
from twigcast.pattern import parse
from twigcast.routing import FLOODING, Envelope
from twigcast.schema import read_dtd
from twigcast.simulator import Report, line, simulate
from twigcast.simulator.fragment_traffic import FragmentOptions
from twigcast.simulator.load import Load
from twigcast.workload import SubscriptionOptions, generate_subscriptions

if TYPE_CHECKING:
    from twigcast.simulator import Report

SUBSCRIPTIONS = 60
DRAWN = 2_000
"""Those that are drawn, of which the first that match the document are taken."""
SIZES = (65_536, 16_384)
ORDERS: tuple[tuple[str, Literal["document", "novelty", "random"]], ...] = (
    ("in order", "document"),
    ("N, new label paths first", "novelty"),
    ("at random", "random"),
)
BARS = {"document": 0.65, "novelty": 0.35}
WHY = (
    "No paper has this figure; the document is XMark's published one.",
    "Each subscription is alone in the network, so that each link has one; they are linear and match.",
    "Delays are those of the simulator: links of 12.5 MB/s with 0.5 ms, 50 µs for each fragment at a router.",
)


def run(scale: float, watch: Watch) -> Findings:
    """Simulate each subscription by itself, with each way to send the document."""
    if find_spec("simpy") is None:
        raise ExtraError("simpy", extra="simulator")
    from twigcast.simulator.cost import CostModel

    body = xmark(0.1 * scale).body
    chosen = matching(body, scaled(SUBSCRIPTIONS, scale))
    network = line(3).with_clients({"publisher": "b1", "subscriber": "b3"})
    stored: list[Report] = []
    sent: dict[tuple[str, int], list[Report]] = {}
    for text in watch("subscriptions", chosen, len(chosen)):
        load = Load({}, {"subscriber": [("s", parse(text))]}, [("publisher", Envelope("auction", body))])
        stored.append(simulate(network, load, FLOODING, cost=CostModel()))
        for _, order in ORDERS:
            for size in SIZES:
                options = FragmentOptions(bytes=size, order=order, delivery="fragments")
                by_fragments = replace(FLOODING, publication="fragments")
                report = simulate(network, load, by_fragments, cost=CostModel(), fragments=options)
                sent.setdefault((order, size), []).append(report)
    whole = mean(each.delay.mean for each in stored)
    rows: list[tuple[int | float | str | None, ...]] = [("whole", None, None, None, 1000 * whole, 1.0, None)]
    ratios: dict[tuple[str, int], float] = {}
    for name, order in ORDERS:
        for size in SIZES:
            reports = sent[order, size]
            figures = [each.fragments for each in reports if each.fragments is not None]
            delay = mean(each.delay.mean for each in reports)
            ratios[order, size] = delay / whole
            rows.append(
                (
                    f"{name}, {size // 1024} KB",
                    1000 * mean(each.first.mean for each in figures),
                    1000 * mean(each.certain.mean for each in figures),
                    mean(each.earliness for each in figures),
                    1000 * delay,
                    delay / whole,
                    mean(each.held_bytes for each in figures) / 1000,
                )
            )
    title = f"{len(body):,} bytes over four links, {len(chosen)} subscriptions, one at a time"
    columns = ("sent", "first ms", "certain ms", "earliness", "end ms", "of whole", "most held KB")
    series = {
        f"{size // 1024} KB": tuple((name, ratios[order, size]) for name, order in ORDERS) for size in SIZES
    }
    bars = tuple(
        Bar(f"{name}, {SIZES[-1] // 1024} KB, of store and forward", ratios[order, SIZES[-1]], "≤", limit)
        for name, order in ORDERS
        if (limit := BARS.get(order)) is not None
    )
    return Findings(
        (Table(title, columns, tuple(rows), WHY),),
        (Chart("Delay, as a part of store and forward", "order", "ratio", series),),
        bars,
        tuple(
            f"{text}: {report.missing} deliveries are missing, {report.extra} superfluous"
            for reports in (stored, *sent.values())
            for text, report in zip(chosen, reports, strict=True)
            if not report.correct or report.deliveries != 1
        ),
    )


def matching(body: bytes, count: int) -> list[str]:
    """The first distinct subscriptions of XMark's schema that match a document."""
    schema = read_dtd(data("xmark/auction.dtd"), "site")
    texts = dict.fromkeys(generate_subscriptions(schema, DRAWN, SubscriptionOptions(seed=8)))
    index = Index()
    index.add_all((text, parse(text)) for text in texts)
    return [str(id) for id in index.match(body).ids][:count]


def mean(values: Iterable[float]) -> float:
    """The mean, or 0 of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0


EXPERIMENT = Experiment(
    "routing/cut-through", "Delay of a document in fragments over four links", run, minutes=5
)

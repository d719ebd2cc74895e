"""Throughput at the slowest router: modelled as in the papers, and measured with real routers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch, printed_numbers, scaled
from experiments.piggyback.comparing import Reports, Variant, found, simulate_all
from experiments.piggyback.networks import LOAD, LONG, MODEL, PARTS, ROWS, USUAL, schema, setting
from experiments.piggyback.pairs import RouterPair
from twigcast.pattern import Pattern, parse
from twigcast.routing import Strategy
from twigcast.workload import generate_documents, generate_subscriptions
from twigcast.workload.presets import NITF_MEDIUM, THESIS_4_2

if TYPE_CHECKING:
    from twigcast.simulator import Report

PRINTED = {0.25: "72", 1.0: "88"}
MEASURED = (None, LONG, "L+t", "L+a")
DOCUMENTS = 20
ROUNDS = 7
SAMPLE = 64
LABEL = "NITF"


def run(scale: float, watch: Watch) -> Findings:
    """Simulate the tree of 15, then measure two routers."""
    reports = simulate_all([Variant(LABEL, setting(scale))], watch, ("ES", "L", LONG, "L+t"))
    table, ratios, wrong = _measured(scaled(ROWS, scale), watch)
    made = found(
        [_modelled(reports), table],
        [
            Chart(
                "Throughput at the slowest router, model PAPER",
                "f",
                "% of ES",
                {
                    each: tuple((part, _ratio(reports, "paper", each, part)) for part in PARTS)
                    for each in (LONG, "L+t")
                },
                {LONG: printed_numbers(PRINTED)},
            )
        ],
        list(reports.values()),
        [Bar("throughput of L+t against plain at the slowest router, measured", ratios["L+t"], "≥", 0.9)],
    )
    return replace(made, wrong=(*made.wrong, *wrong))


def _slowest(report: Report) -> float:
    """The time of a document at the slowest router."""
    return max(each.seconds / each.documents for each in report.work.by_router.values() if each.documents)


def _ratio(reports: Reports, name: str, strategy: str, part: float) -> float:
    """The throughput of a strategy in per cent of that of ES."""
    eager, other = (_slowest(reports[LABEL, name, each, part]) for each in ("ES", strategy))
    return 100 * eager / other


def _modelled(reports: Reports) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            part,
            1 / _slowest(reports[LABEL, "paper", "ES", part]),
            *(_ratio(reports, "paper", each, part) for each in ("L", LONG, "L+t")),
            _ratio(reports, "even", LONG, part),
            PRINTED.get(part),
        )
        for part in PARTS
    ]
    columns = ("f", "ES, documents/s", "L %", f"{LONG} %", "L+t %", f"EVEN: {LONG} %", f"papers: {LONG} %")
    why = (
        LOAD,
        MODEL,
        "The slowest router is the root, which reads no annotations and writes them for two routers.",
        "The papers' ES does less work at a small f, so that L+s-sd has only 72 % of its throughput at 0.25; "
        "here every router has users, who are owed all of their matching subscriptions, so that ES reads "
        "each document to its end and f makes no difference.",
        "In the papers 464 bytes of annotations cost 14 % of the root's time; ours are smaller.",
    )
    return Table("Throughput at the slowest of 15 routers, of that of ES", columns, tuple(rows), why)


def _measured(rows: int, watch: Watch) -> tuple[Table, dict[str, float], list[str]]:
    """The CPU time of two real routers, each with its own pool and as many rows."""
    graph = schema("NITF")
    bodies = list(generate_documents(graph, DOCUMENTS, replace(NITF_MEDIUM, seed=1)))
    sample = list(generate_documents(graph, SAMPLE, replace(NITF_MEDIUM, seed=2)))
    pair = RouterPair(graph, _subscriptions(rows, 1), Strategy(), at_first=_subscriptions(rows, 2))
    seconds: dict[str, tuple[float, float]] = {}
    delivered: dict[str, list[Sequence[str]]] = {}
    for piggyback in watch("measuring two routers", MEASURED, len(MEASURED)):
        name = piggyback or "plain"
        pair.use(Strategy(piggyback=piggyback), sample)
        delivered[name] = [
            passed.ids if (passed := pair.send(number, body)) else () for number, body in enumerate(bodies)
        ]
        seconds[name] = pair.seconds(bodies, ROUNDS)
    slowest = {name: max(each) for name, each in seconds.items()}
    ratios = {name: slowest["plain"] / each for name, each in slowest.items()}
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (
            name,
            1e6 * first,
            1e6 * second,
            second / seconds["plain"][1],
            1 / slowest[name],
            ratios[name],
        )
        for name, (first, second) in seconds.items()
    )
    why = (
        f"Two real routers in a row, {rows:,} subscriptions at each, covering and advertising, NITF "
        "documents of about 7 KB: CPU time, the best of several rounds.",
        "The first router is the slower one as soon as the second need not parse.",
        "The papers have no such table.",
    )
    columns = ("", "first: µs", "second: µs", "second, of plain", "slowest: documents/s", "of plain")
    wrong = [
        f"{name}: deliveries are not those of plain routers"
        for name in delivered
        if delivered[name] != delivered["plain"]
    ]
    return Table("Two real routers, measured", columns, cells, why), ratios, wrong


def _subscriptions(count: int, seed: int) -> list[tuple[str, Pattern]]:
    texts = generate_subscriptions(schema("NITF"), count, replace(THESIS_4_2, seed=seed))
    return [(f"{seed}/{number}", parse(text)) for number, text in enumerate(texts)]


EXPERIMENT = Experiment(
    "piggyback/throughput", "Throughput at the slowest router", run, minutes=2, usual=USUAL
)

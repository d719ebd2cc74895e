"""Figure 4.4: the response of the lazy strategies and of the eager ones by f.

The papers print no times; they give the order in which the kinds of annotations gain, and the shares of rows
that they decide.  There are two loads here, since what NS and PS can do depends on the forwarded patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch
from experiments.piggyback.comparing import Reports, Variant, found, simulate_all
from experiments.piggyback.networks import (
    LONG,
    MODEL,
    MODELS,
    PARTS,
    SUBSCRIPTIONS,
    USUAL,
    improvement,
    setting,
    tree,
)

if TYPE_CHECKING:
    from twigcast.simulator import Report

LAZY = ("L", "L+s", "L+d", "L-s", "L-d", "L-sd", LONG)
EAGER = ("ES", "ES+s", "ES+d")
KINDS = {"ND": "L-d", "PS": "L+s", "NS": "L-s", "PD": "L+d"}
"""The strategies with one kind of annotations, in the papers' order of gain."""
PAPERS_REFUTED = {"L-s": 37.0, "L-d": 70.0}
LOADS = ("3–8 steps", "4–8 steps")


def run(scale: float, watch: Watch) -> Findings:
    """Simulate all strategies on two loads."""
    longer = replace(SUBSCRIPTIONS, min_steps=4)
    variants = [
        Variant(LOADS[0], setting(scale)),
        Variant(LOADS[1], setting(scale, subscriptions=longer)),
    ]
    reports: dict[tuple[str, str, str, float], Report] = {}
    told: dict[str, list[int]] = {}
    for variant in variants:
        reports |= simulate_all([variant], watch, (*LAZY, *EAGER))
        told[variant.label] = tree(variant.setting, watch).told
    tables: list[Table] = []
    charts: list[Chart] = []
    bars: list[Bar] = []
    for label in told:
        tables += [_responses(label, reports), _kinds(label, reports, told[label])]
        charts.append(_chart(label, reports))
        bars += _bars(label, reports)
    return found(tables, charts, list(reports.values()), bars)


def _responses(label: str, reports: Reports) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for strategy in (*LAZY, *EAGER):
        row: list[Cell] = [strategy]
        for name in MODELS:
            row += [1000 * reports[label, name, strategy, part].delay.mean for part in PARTS]
        rows.append(tuple(row))
    columns = tuple(f"{name.upper()}: f = {part:g}" for name in MODELS for part in PARTS)
    why = (
        f"Load: subscriptions of {label}, p(*) = p(//) = 0.1, p(nested) = 0.2, skew 0.5.",
        MODEL,
        "The papers have this figure as a drawing without numbers.",
        "Lazy strategies do not depend on f but for PD, whose positions move with the <test/>.",
    )
    return Table(f"Response in ms, {label}", ("", *columns), tuple(rows), why)


def _kinds(label: str, reports: Reports, told: Sequence[int]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for strategy in LAZY[1:]:
        report = reports[label, "paper", strategy, 0.5]
        down = report.work.downstream
        rows.append(
            (
                strategy,
                _gain(label, strategy, reports),
                100 * down.refuted / down.rows,
                PAPERS_REFUTED.get(strategy),
                100 * down.proven / down.rows,
                report.work.total.annotation_bytes / max(1, report.work.total.sent),
            )
        )
    gains = {kind: _gain(label, strategy, reports) for kind, strategy in KINDS.items()}
    ours = ", ".join(sorted(gains, key=lambda kind: -gains[kind]))
    why = (
        f"Routers forward {min(told):,} to {max(told):,} patterns; 10 % of the papers' rows match.",
        f"Order of gain here: {ours}; in the papers: ND, PS, NS, PD.",
        "The gain is that of PAPER at f = 0.5 over L; EVEN gives the same, as lazy strategies find no first "
        "match.",
        "The papers' shares are of all rows, and ours too.",
    )
    columns = ("", "gain over L %", "rows refuted %", "papers %", "rows proven %", "bytes a document")
    return Table(f"What each kind of annotations gains, {label}", columns, tuple(rows), why)


def _gain(label: str, strategy: str, reports: Reports) -> float:
    return improvement(*(reports[label, "paper", each, 0.5] for each in ("L", strategy)))


def _chart(label: str, reports: Reports) -> Chart:
    return Chart(
        f"Figure 4.4: {label}, model PAPER",
        "f",
        "response, ms",
        {
            each: tuple((part, 1000 * reports[label, "paper", each, part].delay.mean) for part in PARTS)
            for each in (*LAZY, *EAGER)
        },
    )


def _bars(label: str, reports: Reports) -> list[Bar]:
    gains = {kind: _gain(label, strategy, reports) for kind, strategy in KINDS.items()}
    lazy = {each: reports[label, "paper", each, 0.5].delay.mean for each in LAZY}
    return [
        Bar(f"{label}: gain of ND less that of PS, points", gains["ND"] - gains["PS"], "≥", 0),
        Bar(f"{label}: gain of PS less that of NS, points", gains["PS"] - gains["NS"], "≥", 0),
        Bar(f"{label}: gain of NS less that of PD, points", gains["NS"] - gains["PD"], "≥", 0),
        Bar(f"{label}: {LONG} against the best lazy strategy", lazy[LONG] / min(lazy.values()), "≤", 1.0),
    ]


EXPERIMENT = Experiment(
    "piggyback/fig-4-4", "Response of lazy and eager strategies by f", run, minutes=3, usual=USUAL
)

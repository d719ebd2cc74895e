"""Compares ES with L+s-sd, and with others, by the part of a document before the first match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from experiments.findings import Bar, Cell, Chart, Findings, Table, Watch, printed_numbers
from experiments.piggyback.networks import (
    BANDWIDTH,
    LONG,
    MODELS,
    PARTS,
    Setting,
    improvement,
    model,
    tree,
    wrong,
)

if TYPE_CHECKING:
    from twigcast.simulator import Report


@dataclass(frozen=True, slots=True)
class Variant:
    """A setting with a bandwidth, and the improvements that the papers print for it, in per cent by f."""

    label: str
    setting: Setting
    bandwidth: float = BANDWIDTH
    printed: Mapping[float, str] = field(default_factory=dict)
    bytes: float = 1.0
    """The scale of documents: at 0.1 a byte costs ten times as much to parse and to send."""


Reports = Mapping[tuple[str, str, str, float], "Report"]
"""Reports by label, model, strategy and part."""


def simulate_all(
    variants: Sequence[Variant],
    watch: Watch,
    strategies: Sequence[str] = ("ES", LONG),
    models: Sequence[str] = MODELS,
) -> dict[tuple[str, str, str, float], Report]:
    """Simulate strategies on variants for each model and part; plans are made once for each strategy."""
    reports = {}
    for variant in variants:
        routers = tree(variant.setting, watch)
        for strategy in strategies:
            for name in models:
                cost = model(name, variant.setting.scale)
                cost = replace(cost, parse=cost.parse / variant.bytes)
                for part in PARTS:
                    report = routers.report(strategy, part, cost, variant.bandwidth * variant.bytes)
                    reports[variant.label, name, strategy, part] = report
    return reports


def comparison(title: str, variants: Sequence[Variant], reports: Reports, why: Sequence[str]) -> Table:
    """The response of ES and L+s-sd under both models, and the improvement beside the papers'."""
    rows: list[tuple[Cell, ...]] = []
    for variant in variants:
        for part in PARTS:
            row: list[Cell] = [variant.label, part]
            for name in MODELS:
                eager, lazy = (reports[variant.label, name, each, part] for each in ("ES", LONG))
                row += [1000 * eager.delay.mean, 1000 * lazy.delay.mean, improvement(eager, lazy)]
            refuted = reports[variant.label, MODELS[0], LONG, part].work.downstream
            row += [variant.printed.get(part), 100 * refuted.refuted / max(1, refuted.rows)]
            rows.append(tuple(row))
    columns = ["", "f"]
    for name in MODELS:
        columns += [f"{name.upper()}: ES ms", f"{name.upper()}: {LONG} ms", f"{name.upper()}: saved %"]
    return Table(title, (*columns, "papers: saved %", "rows refuted %"), tuple(rows), tuple(why))


def charts(title: str, variants: Sequence[Variant], reports: Reports) -> tuple[Chart, ...]:
    """The improvement by f for each variant, one chart for each model."""
    return tuple(
        Chart(
            f"{title}, model {name.upper()}",
            "f",
            f"response saved by {LONG} against ES, %",
            {
                variant.label: tuple(
                    (
                        part,
                        improvement(*(reports[variant.label, name, each, part] for each in ("ES", LONG))),
                    )
                    for part in PARTS
                )
                for variant in variants
            },
            {each.label: points for each in variants if (points := printed_numbers(each.printed))},
        )
        for name in MODELS
    )


def found(
    tables: Sequence[Table], charts: Sequence[Chart], reports: Sequence[Report], bars: Sequence[Bar] = ()
) -> Findings:
    """The findings, with the bar that every experiment has; unlike deliveries are wrong answers."""
    unlike = sum(each.missing + each.extra for each in reports)
    return Findings(
        tuple(tables),
        tuple(charts),
        (Bar("deliveries unlike flooding's", unlike, "=", 0), *bars),
        wrong(reports),
    )


def said(reports: Reports, label: str, part: float, name: str = "paper") -> str:
    """The improvement of one point as a text for sentences."""
    eager, lazy = (reports[label, name, each, part] for each in ("ES", LONG))
    return f"{improvement(eager, lazy):.0f}"

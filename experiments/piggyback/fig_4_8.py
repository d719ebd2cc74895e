"""Figure 4.8: aggregation to other shares (k), and element names without skew.

The papers print no numbers: they say that the trend is the same, and PS a little less effective.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.findings import Cell, Experiment, Findings, Table, Watch
from experiments.piggyback.comparing import Reports, Variant, charts, comparison, found, simulate_all
from experiments.piggyback.networks import LOAD, LONG, MODEL, SUBSCRIPTIONS, USUAL, setting, tree

if TYPE_CHECKING:
    from twigcast.simulator import Report

SHARES = (0.25, 0.125, 0.04, 0.02)
STRATEGIES = ("ES", LONG, "L+s", "L-s")


def run(scale: float, watch: Watch) -> Findings:
    """Simulate four shares, then element names without skew."""
    variants = [Variant(f"k = {100 * share:g} %", setting(scale, share=share)) for share in SHARES]
    even = replace(SUBSCRIPTIONS, skew=0.0)
    variants.append(Variant("skew 0", setting(scale, subscriptions=even)))
    reports: dict[tuple[str, str, str, float], Report] = {}
    told: dict[str, list[int]] = {}
    for variant in variants:
        reports |= simulate_all([variant], watch, STRATEGIES)
        told[variant.label] = tree(variant.setting, watch).told
    why = (
        LOAD,
        MODEL,
        "The papers print no numbers for these; they say that the trend is the same.",
    )
    return found(
        [comparison("By k, and without skew", variants, reports, why), _kinds(told, reports)],
        charts("Figure 4.8", variants, reports),
        list(reports.values()),
    )


def _kinds(told: dict[str, list[int]], reports: Reports) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label, counts in told.items():
        positive, negative = (reports[label, "paper", each, 0.5].work.downstream for each in ("L+s", "L-s"))
        rows.append(
            (
                label,
                min(counts),
                max(counts),
                100 * positive.proven / positive.rows,
                100 * negative.refuted / negative.rows,
            )
        )
    columns = ("", "forwarded, least", "forwarded, most", "PS: rows proven %", "NS: rows refuted %")
    why = (
        "Covered subscriptions are never forwarded, which at full scale goes far below k = 12.5 % of "
        "the steps: there k = 25 and 12.5 are the same, and only k of a few per cent has an effect.",
        "The papers say that both kinds are a little less effective at k = 12.5 and at skew 0.",
    )
    return Table("What aggregation leaves for PS and NS", columns, tuple(rows), why)


EXPERIMENT = Experiment(
    "piggyback/fig-4-8", "ES and L+s-sd by aggregation, and without skew", run, minutes=4, usual=USUAL
)

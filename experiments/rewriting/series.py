"""Figures 6.8 and 6.9: the response time of all approaches at several points."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from experiments.findings import Bar, Chart, Experiment, Findings, Watch
from experiments.rewriting.feeds import OF_DIALECTS, FeedDocument
from experiments.rewriting.networks import (
    Outcome,
    Setting,
    gain,
    gain_chart,
    responses,
    table,
)

if TYPE_CHECKING:
    from experiments.findings import Measurement


Point = tuple[Setting, list[FeedDocument]]


def figure(
    name: str,
    title: str,
    column: str,
    points: Callable[[float], dict[str, Point]],
    paper: dict[str, str],
    bars: dict[str, float],
    minutes: float,
) -> Experiment:
    """An experiment that has one row for each point; ``bars`` are the gains that are asked for."""

    def run(scale: float, watch: Watch) -> Findings:
        found: dict[str, dict[str, Outcome]] = {}
        chosen = points(scale)
        for point, (setting, documents) in watch(title, chosen.items(), len(chosen)):
            found[point] = responses(setting, documents)
        wrong = sum(outcome.wrong for each in found.values() for outcome in each.values())
        return Findings(
            (table(f"{title}: {OF_DIALECTS}", column, found, paper),),
            (
                Chart(
                    title,
                    column,
                    "ms",
                    {
                        name: tuple((point, each[name].total) for point, each in found.items())
                        for name in ("SDR", "NDDR", "EDRR", "LDRR")
                    },
                ),
                gain_chart(title, column, found, paper),
            ),
            (
                *(Bar(f"NDDR better than SDR, {p}, %", gain(found[p]), "≥", bars[p]) for p in bars),
                Bar("deliveries unlike flooding's", wrong, "=", 0),
            ),
            (f"{wrong} deliveries are not those of flooding on images",) if wrong else (),
        )

    measurement: Measurement = run
    return Experiment(f"rewriting/{name}", title, measurement, minutes)

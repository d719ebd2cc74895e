"""Figures 6.8, 6.9 and H 5(b), 5(c): response time by size, subscriptions, routers, and kind of network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from experiments.findings import Bar, Chart, Experiment, Findings, Watch, scaled
from experiments.rewriting.feeds import OF_DIALECTS, FeedDocument, feed
from experiments.rewriting.networks import (
    DOCUMENTS,
    PATTERNS,
    ROUTERS,
    SIZE,
    Outcome,
    Setting,
    gain,
    responses,
    table,
)
from twigcast.simulator import balanced_tree, line

if TYPE_CHECKING:
    from experiments.findings import Measurement

SIZES = {"10K": 10_000, "20K": 20_000, "40K": 40_000, "1M": 1_000_000}
LARGE = 4
"""How many documents of 1 MB are sent."""
COUNTS = (1000, 2000, 4000)
LENGTHS = (2, 4, 8)

Point = tuple[Setting, list[FeedDocument]]


def by_size(scale: float) -> dict[str, Point]:
    """Documents of 10 KB to 1 MB."""
    setting = Setting(line(ROUTERS), patterns=scaled(PATTERNS, scale))
    return {
        name: (setting, feed(scaled(size, scale), scaled(LARGE if size > 10**5 else DOCUMENTS, scale)))
        for name, size in SIZES.items()
    }


def by_patterns(scale: float) -> dict[str, Point]:
    """1,000 to 4,000 subscriptions at each router."""
    documents = feed(SIZE, scaled(DOCUMENTS, scale))
    return {
        f"P = {count}": (Setting(line(ROUTERS), patterns=scaled(count, scale)), documents) for count in COUNTS
    }


def by_length(scale: float) -> dict[str, Point]:
    """Lines of 2 to 8 routers."""
    documents = feed(SIZE, scaled(DOCUMENTS, scale))
    return {
        f"N = {length}": (Setting(line(length), patterns=scaled(PATTERNS, scale)), documents)
        for length in LENGTHS
    }


def by_network(scale: float) -> dict[str, Point]:
    """Subscribers at all routers of a line, at its ends only, and in a binary tree of 15 routers."""
    documents = feed(SIZE, scaled(DOCUMENTS, scale))
    patterns = scaled(PATTERNS, scale)
    return {
        "all": (Setting(line(8), patterns=patterns), documents),
        "leaves only": (Setting(line(8), patterns=patterns, at_leaves=True), documents),
        "tree": (Setting(balanced_tree(2, 4), patterns=patterns), documents),
    }


def _experiment(
    name: str,
    title: str,
    column: str,
    points: Callable[[float], dict[str, Point]],
    paper: dict[str, str],
    bars: dict[str, float],
    minutes: float,
) -> Experiment:
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
            ),
            (
                *(Bar(f"NDDR better than SDR, {p}, %", gain(found[p]), "≥", bars[p]) for p in bars),
                Bar("deliveries unlike flooding's", wrong, "=", 0),
            ),
            (f"{wrong} deliveries are not those of flooding on images",) if wrong else (),
        )

    measurement: Measurement = run
    return Experiment(f"rewriting/{name}", title, measurement, minutes)


SIZE_OF_DOCUMENTS = _experiment(
    "fig-6-8a",
    "Response time by document size",
    "size",
    by_size,
    {"10K": "20", "40K": "25", "1M": "28"},
    {"10K": 20.0, "40K": 25.0, "1M": 28.0},
    3,
)
SUBSCRIPTIONS = _experiment(
    "fig-6-8b",
    "Response time by subscriptions at each router",
    "subscriptions",
    by_patterns,
    dict.fromkeys((f"P = {count}" for count in COUNTS), "none: the gap is constant"),
    {},
    3,
)
LENGTH = _experiment(
    "fig-6-9a",
    "Response time by routers in line",
    "routers",
    by_length,
    {"N = 2": "10", "N = 8": "31"},
    {"N = 2": 10.0, "N = 8": 31.0},
    3,
)
NETWORKS = _experiment(
    "fig-6-9b",
    "Response time by kind of network",
    "network",
    by_network,
    {"all": "none", "leaves only": "none: the gap grows", "tree": "none: and grows"},
    {},
    4,
)
EXPERIMENTS = (SIZE_OF_DOCUMENTS, SUBSCRIPTIONS, LENGTH, NETWORKS)

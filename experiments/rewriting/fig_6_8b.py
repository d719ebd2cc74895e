"""Figure 6.8(b): response time by subscriptions at each router."""

from __future__ import annotations

from experiments.findings import scaled
from experiments.rewriting.feeds import feed
from experiments.rewriting.networks import DOCUMENTS, ROUTERS, SIZE, Setting, line
from experiments.rewriting.series import Point, figure

COUNTS = (1000, 2000, 4000)


def by_patterns(scale: float) -> dict[str, Point]:
    """1,000 to 4,000 subscriptions at each router."""
    documents = feed(SIZE, scaled(DOCUMENTS, scale))
    return {
        f"P = {count}": (Setting(line(ROUTERS), patterns=scaled(count, scale)), documents) for count in COUNTS
    }


EXPERIMENT = figure(
    "fig-6-8b",
    "Response time by subscriptions at each router",
    "subscriptions",
    by_patterns,
    dict.fromkeys((f"P = {count}" for count in COUNTS), "none: the gap is constant"),
    {},
    3,
)

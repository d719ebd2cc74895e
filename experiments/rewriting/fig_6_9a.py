"""Figure 6.9(a): response time by routers in line."""

from __future__ import annotations

from experiments.findings import scaled
from experiments.rewriting.feeds import feed
from experiments.rewriting.networks import DOCUMENTS, PATTERNS, SIZE, Setting, line
from experiments.rewriting.series import Point, figure

LENGTHS = (2, 4, 8)


def by_length(scale: float) -> dict[str, Point]:
    """Lines of 2 to 8 routers."""
    documents = feed(SIZE, scaled(DOCUMENTS, scale))
    return {
        f"N = {length}": (Setting(line(length), patterns=scaled(PATTERNS, scale)), documents)
        for length in LENGTHS
    }


EXPERIMENT = figure(
    "fig-6-9a",
    "Response time by routers in line",
    "routers",
    by_length,
    {"N = 2": "10", "N = 8": "31"},
    {"N = 2": 10.0, "N = 8": 31.0},
    3,
)

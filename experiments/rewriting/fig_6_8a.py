"""Figure 6.8(a) and H 5(b): response time by document size."""

from __future__ import annotations

from experiments.findings import scaled
from experiments.rewriting.feeds import feed
from experiments.rewriting.networks import DOCUMENTS, PATTERNS, ROUTERS, Setting, line
from experiments.rewriting.series import Point, figure

SIZES = {"10K": 10_000, "20K": 20_000, "40K": 40_000, "1M": 1_000_000}
LARGE = 4
"""How many documents of 1 MB are sent."""


def by_size(scale: float) -> dict[str, Point]:
    """Documents of 10 KB to 1 MB."""
    setting = Setting(line(ROUTERS), patterns=scaled(PATTERNS, scale))
    return {
        name: (setting, feed(scaled(size, scale), scaled(LARGE if size > 10**5 else DOCUMENTS, scale)))
        for name, size in SIZES.items()
    }


EXPERIMENT = figure(
    "fig-6-8a",
    "Response time by document size",
    "size",
    by_size,
    {"10K": "20", "40K": "25", "1M": "28"},
    {"10K": 20.0, "40K": 25.0, "1M": 28.0},
    3,
)

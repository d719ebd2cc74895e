"""Figure 6.9(b) and H 5(c): response time by kind of network."""

from __future__ import annotations

from experiments.findings import scaled
from experiments.rewriting.feeds import feed
from experiments.rewriting.networks import DOCUMENTS, PATTERNS, SIZE, Setting, binary_tree, line
from experiments.rewriting.series import Point, figure


def by_network(scale: float) -> dict[str, Point]:
    """Subscribers at all routers of a line, at its ends only, and in a binary tree of 15 routers."""
    documents = feed(SIZE, scaled(DOCUMENTS, scale))
    patterns = scaled(PATTERNS, scale)
    return {
        "all": (Setting(line(8), patterns=patterns), documents),
        "leaves only": (Setting(line(8), patterns=patterns, at_leaves=True), documents),
        "tree": (Setting(binary_tree(4), patterns=patterns), documents),
    }


EXPERIMENT = figure(
    "fig-6-9b",
    "Response time by kind of network",
    "network",
    by_network,
    {"all": "none", "leaves only": "none: the gap grows", "tree": "none: and grows"},
    {},
    4,
)

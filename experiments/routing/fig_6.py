"""Figure 6: the size of a routing table, with and without covering, as the number of XPEs grows.

It also measures the time to build the covering tree, and to add one more XPE to the full tree.
"""

from __future__ import annotations

import time
from itertools import islice

from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.routing.schemas import nitf
from experiments.routing.sets import SETS, SIZE, subscriptions
from experiments.routing.tables import Growing, grow

PAPER = {"A": 10.0, "B": 50.0}
"""Rows left of 100, by the covering rates that the paper gives its sets."""
POINTS = 10
MORE = 1000
"""XPEs that are put one by one into the full tree."""


def run(scale: float, watch: Watch) -> Findings:
    """Grow the tables of both sets."""
    size = scaled(SIZE, scale)
    grown = {name: grow(name, nitf(), size, POINTS, watch) for name in SETS}
    inserting = {name: _inserting(each, scaled(MORE, scale), watch) for name, each in grown.items()}
    rows: list[tuple[Cell, ...]] = []
    for here in zip(*(each.sizes for each in grown.values()), strict=True):
        count = here[0][0]
        cells: list[Cell] = [count]
        for name, (_, left, _) in zip(grown, here, strict=True):
            cells += [left, 100 * left / count, PAPER[name] if count == SIZE else None]
        rows.append(tuple(cells))
    last = grown["A"].sizes[-1]
    milliseconds = {name: [1000 * each for each in seconds] for name, seconds in inserting.items()}
    return Findings(
        (
            Table(
                "Rows of a routing table with covering",
                ("XPEs", "A", "A left %", "paper A %", "B", "B left %", "paper B %"),
                tuple(rows),
                (
                    "The text has no numbers of the figure but the covering rates, 90 % and 50 %: from them "
                    "the paper's percentages here.",
                    "It does not give p(*) and p(//); our recipes were chosen for these rates at this size.",
                ),
            ),
            Table(
                "What the subscription tree costs",
                ("set", "XPEs", "build s", "CPU s", "one more: mean ms", "99 % ms", "most ms"),
                tuple(
                    (
                        name,
                        size,
                        each.covering.wall,
                        each.covering.cpu,
                        sum(milliseconds[name]) / len(milliseconds[name]),
                        sorted(milliseconds[name])[int(0.99 * len(milliseconds[name]))],
                        max(milliseconds[name]),
                    )
                    for name, each in grown.items()
                ),
                ("The paper does not time this.",),
            ),
        ),
        (
            Chart(
                "Figure 6: routing table size with covering",
                "XPEs",
                "rows",
                {
                    "no covering": tuple((count, count) for count, *_ in grown["A"].sizes),
                    **{
                        f"set {name}": tuple((count, left) for count, left, _ in each.sizes)
                        for name, each in grown.items()
                    },
                },
                {f"set {name}": ((SIZE, PAPER[name] / 100 * SIZE),) for name in SETS} if size == SIZE else {},
            ),
        ),
        (
            Bar("set A: rows taken away by covering, %", 100 - 100 * last[1] / last[0], "≥", 90),
            Bar("set A: seconds to build the tree", grown["A"].covering.wall, "≤", 60),
            Bar(
                "set A: ms to put in one more, mean", sum(milliseconds["A"]) / len(milliseconds["A"]), "≤", 5
            ),
        ),
    )


def _inserting(growing: Growing, count: int, watch: Watch) -> list[float]:
    """The seconds that each of so many more XPEs takes, one by one."""
    taken = []
    size = len(growing.tree)
    more = islice(subscriptions(growing.name, growing.graph, size + count), size, None)
    for id, pattern in watch(f"set {growing.name}, one more", more, count):
        start = time.perf_counter()
        growing.tree.add(id, pattern)
        taken.append(time.perf_counter() - start)
    return taken


EXPERIMENT = Experiment("routing/fig-6", "Routing table size with covering, sets A and B", run, minutes=3)

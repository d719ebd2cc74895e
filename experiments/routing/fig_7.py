"""Figure 7: the size of a routing table with perfect mergers, and with mergers up to degree 0.1."""

from __future__ import annotations

from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.routing.schemas import nitf
from experiments.routing.sets import SETS, SIZE
from experiments.routing.tables import Growing, merged

BUDGETS = {"perfect": 0.0, "D ≤ 0.1": 0.1}
PAPER = {"perfect": 87.0, "D ≤ 0.1": 67.0}
"""Rows left of 100 that covering leaves."""


def run(scale: float, watch: Watch) -> Findings:
    """Grow the tables of both sets, through covering and then merging."""
    size = scaled(SIZE, scale)
    grown = {name: merged(name, nitf(), size, watch) for name in SETS}
    count, covered, rows = grown["A"].sizes[-1]
    return Findings(
        tuple(_table(each) for each in grown.values()),
        tuple(_chart(each) for each in grown.values()),
        (
            Bar("set A: rows taken away by covering, %", 100 - 100 * covered / count, "≥", 90),
            Bar("set A: rows with D ≤ 0.1, of those with covering", rows[0.1] / covered, "<", 1),
            *(
                Bar(
                    f"set {name}: rows with D ≤ 0.1, of those with perfect merging",
                    each.sizes[-1][2][0.1] / each.sizes[-1][2][0.0],
                    "<",
                    1,
                )
                for name, each in grown.items()
            ),
        ),
    )


def _table(growing: Growing) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for count, covered, left in growing.sizes:
        cells: list[Cell] = [count, covered]
        for kind, budget in BUDGETS.items():
            paper = PAPER[kind] if count == SIZE else None
            cells += [left[budget], 100 * left[budget] / covered, paper]
        rows.append(tuple(cells))
    columns = ["XPEs", "covering"]
    for kind in BUDGETS:
        columns += [kind, f"{kind}: of covering %", f"paper, {kind}: %"]
    times = ", ".join(f"{kind} {growing.merging[budget].wall:.0f} s" for kind, budget in BUDGETS.items())
    return Table(
        f"Rows of a routing table with merging, set {growing.name}",
        tuple(columns),
        tuple(rows),
        (
            "The paper does not say which set its percentages are of; in the picture they are taken of our "
            "rows with covering.",
            f"Time for merging, after {growing.covering.wall:.0f} s for covering: {times}.",
            *WHY[growing.name],
        ),
    )


WHY = {
    "A": (
        "Set A is merged far more than the paper's: its XPEs name most of what NITF has at their depth, and "
        "a merger is perfect here if, at any depth, every path of the schema that it selects is one that a "
        "part selects, not only if the parts list all names of one step.",
        "Where perfect mergers have taken nearly everything, little is left for imperfect ones.",
    ),
    "B": (
        "Imperfect merging gains less than the paper's: few mergers stay within 0.1, their degree being "
        "counted from the patterns that a rule makes them of and not from all that they cover.",
    ),
}


def _chart(growing: Growing) -> Chart:
    count, covered, _ = growing.sizes[-1]
    return Chart(
        f"Figure 7: routing table size with merging, set {growing.name}",
        "XPEs",
        "rows",
        {
            "covering": tuple((count, covered) for count, covered, _ in growing.sizes),
            **{
                kind: tuple((count, left[budget]) for count, _, left in growing.sizes)
                for kind, budget in BUDGETS.items()
            },
        },
        {kind: ((count, PAPER[kind] / 100 * covered),) for kind in BUDGETS} if count == SIZE else {},
    )


EXPERIMENT = Experiment(
    "routing/fig-7", "Routing table size with perfect and imperfect merging", run, minutes=8
)

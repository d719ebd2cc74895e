"""Figure 5.12: the dynamic optimizations + and −, by query, and the gain by the size of the document."""

from __future__ import annotations

from experiments.engines.fragments import Eliminate
from experiments.findings import Bar, Cell, Experiment, Findings, Table, Watch
from experiments.fragments.documents import MADE, xmark
from experiments.fragments.fig_5_11 import POLICIES
from experiments.fragments.trials import NF, Method, Trial, Trials, by_query, chart

ELIMINATIONS: tuple[Eliminate, ...] = ("", "+", "-", "+-")
LARGE = 6
"""Factor 0.6 in place of 0.1, with as many fragments."""


def run(scale: float, watch: Watch) -> Findings:
    """Match each query with S and C with each combination, with all schedules with both, and on two sizes."""
    trials = Trials()
    feed = xmark(scale)
    parts = feed.parts()
    methods = [
        *(Method(f"S{each}", "S", each) for each in ELIMINATIONS),
        *(Method(f"C{each}", "C", each) for each in ELIMINATIONS),
        *(Method(f"{policy}+", policy, "+") for policy in POLICIES if policy not in "SC"),
        *(Method(f"{policy}+-", policy, "+-") for policy in POLICIES if policy not in "SC"),
    ]
    found = {
        method.name: trials.each(feed, parts, method) for method in watch("methods", methods, len(methods))
    }
    why = (*MADE[:1], "The thesis prints no times.")
    groups = {
        "Schedule S with + and −": [f"S{each}" for each in ELIMINATIONS],
        "Schedule C with + and −": [f"C{each}" for each in ELIMINATIONS],
        "All schedules with +": [f"{policy}+" for policy in POLICIES],
        "All schedules with + and −": [f"{policy}+-" for policy in POLICIES],
    }
    tables = [by_query(title, {name: found[name] for name in names}, why) for title, names in groups.items()]
    charts = [chart(title, {name: found[name] for name in names}) for title, names in groups.items()]
    sizes = {1: feed, LARGE: xmark(scale, LARGE)}
    by_size = {
        factor: (
            trials.each(each, each.whole(), Method(NF)),
            trials.each(each, each.parts(), Method("PL_S+-", "S", "+-")),
        )
        for factor, each in sizes.items()
    }
    tables.append(_sizes(by_size, {factor: len(each.body) for factor, each in sizes.items()}))
    best = found["S+"]["Q4"].share
    better = sum(found[f"{policy}+"]["Q4"].share < best for policy in POLICIES)
    bars = (
        Bar("S+ on Q4: elements parsed, %", 100 * best, "≤", 10),
        Bar("schedules with + that parse less than S+ on Q4", better, "=", 0),
        Bar("answers unlike the whole document's", len(trials.wrong), "=", 0),
    )
    return Findings(tuple(tables), tuple(charts), bars, tuple(trials.wrong))


def _sizes(by_size: dict[int, tuple[dict[str, Trial], dict[str, Trial]]], sizes: dict[int, int]) -> Table:
    columns = ["query"]
    for factor, size in sizes.items():
        label = f"{size / 1e6:.1f} MB ({factor / 10:g})"
        columns += [f"{label}: NF ms", "PL_S+- ms", "against NF %", "parsed %"]
    rows: list[tuple[Cell, ...]] = []
    for query in by_size[1][0]:
        row: list[Cell] = [query]
        for whole, parts in by_size.values():
            ratio = 100 * parts[query].milliseconds / whole[query].milliseconds
            row += [whole[query].milliseconds, parts[query].milliseconds, ratio, 100 * parts[query].share]
        rows.append(tuple(row))
    why = (
        "The thesis says that the gain over NF grows with the size; as many fragments are parsed at both.",
    )
    return Table("Two sizes of the document", tuple(columns), tuple(rows), why)


EXPERIMENT = Experiment("fragments/fig-5-12", "Dynamic optimizations and document size", run, minutes=8)

"""Figure 5.13: many queries at once: by their number, and by the share of them that have no match."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch
from experiments.fragments.documents import MADE, Feed, xmark
from experiments.fragments.fig_5_11 import POLICIES
from experiments.fragments.query_sets import query_set
from experiments.fragments.trials import NF, Method, Trial, Trials

COUNTS = (10, 20, 40, 80)
USUAL = 40
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def run(scale: float, watch: Watch) -> Findings:
    """Match sets of queries on the whole document and with each schedule, with both optimizations."""
    trials = Trials()
    feed = xmark(scale)
    by_count = {
        count: _measured(trials, feed, query_set(feed, count))
        for count in watch("numbers of queries", COUNTS, len(COUNTS))
    }
    by_share = {
        round(100 * share): _measured(trials, feed, query_set(feed, USUAL, share))
        for share in watch("shares without a match", SHARES, len(SHARES))
    }
    why = (
        *MADE[:1],
        "The queries are generated from XMark's DTD with p(//) = 0.1, 3 to 8 steps and nested paths at 0.2.",
        "Milliseconds are for one query, the time of a set divided by its size.",
        "The thesis says that fragments win at 10 and 20 queries, S and C also at 80, and all of them where "
        "no query has a match.",
        "Here a query such as /site//text/emph/emph, with // near its root and no match, is relevant for "
        "every fragment: a set that has one parses all of them, at more cost than the whole.",
        "paths_N is ours: label paths in headers show that such a query has no match.",
    )
    tables = (
        _table("By the number of queries", "queries", by_count, why),
        _table(f"By the share of {USUAL} queries without a match", "without a match %", by_share, why),
    )
    charts = (
        _chart("By the number of queries", "queries", by_count),
        _chart(f"{USUAL} queries", "without a match, %", by_share),
    )
    bars = (Bar("answers unlike the whole document's", len(trials.wrong), "=", 0),)
    return Findings(tables, charts, bars, tuple(trials.wrong))


def _measured(trials: Trials, feed: Feed, queries: Mapping[str, str]) -> dict[str, tuple[Trial, int]]:
    """The trial of each method, with the number of queries."""
    parts = feed.parts()
    methods = [Method(f"PL_{policy}+-", policy, "+-") for policy in POLICIES]
    found = {method.name: trials.run(feed, parts, queries, method) for method in methods}
    found["paths_N"] = trials.run(feed, feed.parts("prefix+paths"), queries, Method("paths_N", "N", "+-"))
    whole = {NF: trials.run(feed, feed.whole(), queries, Method(NF))}
    return {name: (trial, len(queries)) for name, trial in (whole | found).items()}


def _table(
    title: str, across: str, measured: Mapping[int, Mapping[str, tuple[Trial, int]]], why: tuple[str, ...]
) -> Table:
    names = list(next(iter(measured.values())))
    columns = [across]
    for name in names:
        columns += [f"{name} ms a query"]
        if name != NF:
            columns += ["parsed %", "headers ms"]
    rows: list[tuple[Cell, ...]] = []
    for key, found in measured.items():
        row: list[Cell] = [key]
        for name, (trial, count) in found.items():
            row.append(trial.milliseconds / count)
            if name != NF:
                row += [100 * trial.share, trial.headers]
        rows.append(tuple(row))
    return Table(title, tuple(_distinct(columns)), tuple(rows), why)


def _distinct(columns: list[str]) -> list[str]:
    """Column names that are repeated get the name of the method before them."""
    made, method = [], ""
    for column in columns:
        if column.endswith("ms a query"):
            method = column.removesuffix(" ms a query")
        made.append(f"{method}: {column}" if column in ("parsed %", "headers ms") else column)
    return made


def _chart(title: str, across: str, measured: Mapping[int, Mapping[str, tuple[Trial, int]]]) -> Chart:
    names = next(iter(measured.values()))
    return Chart(
        title,
        across,
        "CPU ms a query",
        {
            name: tuple(
                (float(key), found[name][0].milliseconds / found[name][1]) for key, found in measured.items()
            )
            for name in names
        },
    )


EXPERIMENT = Experiment("fragments/fig-5-13", "Many queries at once", run, minutes=6)

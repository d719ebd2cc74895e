"""Figure 8: the time that a router takes for an XPE, with covering and without.

With covering, an XPE goes into the tree, and only if nothing covers it is it compared with what is
advertised; without, each is.  Advertisements are taken in two ways: the whole schema as one, as twigcast has
it, and as a list of paths that are compared one by one, as the paper has it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import islice
from statistics import mean

from experiments.engines.routing.expression_automaton import advertisement_of
from experiments.engines.routing.label_paths import count_label_paths, label_paths
from experiments.engines.routing.path_expression import Label, Series
from experiments.findings import Cell, Chart, Experiment, Findings, Points, Table, Watch, scaled
from experiments.routing.schemas import PSD_SUBSCRIPTIONS, RECONSTRUCTED, nitf, psd
from experiments.routing.sets import SET_A
from twigcast.analysis import overlaps
from twigcast.pattern import NameTest, Pattern, parse
from twigcast.routing import Advertisement, SubscriptionTree, advertisement
from twigcast.schema import ElementGraph
from twigcast.workload import SubscriptionOptions, generate_subscriptions

XPES = 5000
POINT = 500
"""XPEs of which a point is the average."""
DEPTH = 10
FACTOR = 35
"""So many times more advertisements has NITF in the paper than PSD."""
SAMPLED = 10
"""Of so many XPEs one is compared with the list of paths: it takes the same for all, and takes long."""
SCHEMAS = {"NITF": (nitf, SET_A), "PSD": (psd, PSD_SUBSCRIPTIONS)}
PAPER = {"NITF": 49.2}
"""Per cent of the time that covering saves at best."""


def run(scale: float, watch: Watch) -> Findings:
    """Put XPEs through one router, each stage timed."""
    point = scaled(POINT, scale)
    tables, charts = [], []
    saved: dict[str, Points] = {}
    for name, (schema, options) in SCHEMAS.items():
        graph = schema()
        listed = _listed(graph, None if name == "PSD" else FACTOR * count_label_paths(psd(), DEPTH))
        rows = _rows(name, graph, options, listed, point, scaled(XPES, scale), watch)
        tables.append(_table(name, rows, len(listed)))
        charts.append(_chart(name, rows))
        saved[name] = tuple((row[0], 100 - 100 * row[5] / row[4]) for row in rows)
    ends = tuple((saved["NITF"][place][0], PAPER["NITF"]) for place in (0, -1))
    title = "Figure 8: time saved by covering, list of paths"
    charts.append(Chart(title, "XPEs", "%", saved, {"paper: NITF, up to": ends}))
    return Findings(tuple(tables), tuple(charts))


def _rows(
    name: str,
    graph: ElementGraph,
    options: SubscriptionOptions,
    listed: list[Advertisement],
    point: int,
    count: int,
    watch: Watch,
) -> list[tuple[float, ...]]:
    """For each part of the XPEs: how many so far, how many covered, µs without and with covering, twice."""
    whole = advertisement(name, graph)
    texts = generate_subscriptions(graph, count, replace(options, seed=1))
    patterns = [(str(number), parse(text, dict(graph.namespaces))) for number, text in enumerate(texts)]
    tree = SubscriptionTree()
    rows: list[tuple[float, ...]] = []
    for first in watch(f"{name}, XPEs one by one", range(0, len(patterns), point), -(-count // point)):
        part = patterns[first : first + point]
        start = time.perf_counter()
        changes = [tree.add(id, pattern) for id, pattern in part]
        inserting = (time.perf_counter() - start) / len(part)
        forwarded = sum(bool(change.forward) for change in changes) / len(part)
        comparing = _comparing([whole], [pattern for _, pattern in part])
        one_by_one = _comparing(listed, [pattern for _, pattern in part[::SAMPLED]])
        rows.append(
            (
                len(tree),
                100 - 100 * forwarded,
                1e6 * comparing,
                1e6 * (inserting + forwarded * comparing),
                1e6 * one_by_one,
                1e6 * (inserting + forwarded * one_by_one),
            )
        )
    return rows


def _comparing(advertisements: list[Advertisement], patterns: list[Pattern]) -> float:
    """The seconds that one XPE takes to be compared with all advertisements."""
    start = time.perf_counter()
    for pattern in patterns:
        for each in advertisements:
            overlaps(each.automaton, pattern)
    return (time.perf_counter() - start) / len(patterns)


def _listed(graph: ElementGraph, most: int | None) -> list[Advertisement]:
    """Label paths of a schema, an advertisement for each: all, or every so many of them."""
    apart = 1 if most is None else max(1, count_label_paths(graph, DEPTH) // most)
    paths = islice(label_paths(graph, DEPTH), 0, None, apart)
    return [
        advertisement_of(
            str(number), [Series(tuple(Label(NameTest(*graph.expanded(name))) for name in path))]
        )
        for number, path in enumerate(islice(paths, most))
    ]


def _table(name: str, rows: list[tuple[float, ...]], listed: int) -> Table:
    cells: list[tuple[Cell, ...]] = []
    for count, covered, plain, covering, plain_listed, covering_listed in rows:
        percent = 100 - 100 * covering_listed / plain_listed
        cells.append((int(count), covered, plain, covering, plain_listed, covering_listed, percent))
    saved = [100 - 100 * covering / plain for *_, plain, covering in rows]
    paper = f"up to {PAPER[name]} %" if name in PAPER else "less than for NITF"
    why = [
        f"The paper prints no times; covering saves it {paper}, here {mean(saved):.0f} % on average and "
        f"{max(saved):.0f} % at most where "
        f"advertisements are {listed:,} paths compared one by one.",
        "Compared with a schema as one automaton an XPE takes microseconds, less than its place in the tree "
        "does; covering is then worth its time for the tables and messages it saves, not here.",
        f"One XPE in {SAMPLED} was compared with the list of paths.",
    ]
    if name == "NITF":
        why.append(f"The list is an even selection of its paths, {FACTOR} times as many as PSD has.")
    else:
        why.append(RECONSTRUCTED)
    return Table(
        f"Time for an XPE, {name} (µs)",
        (
            "XPEs",
            "covered %",
            "one automaton",
            "with covering",
            f"{listed:,} paths",
            "with covering ",
            "saved %",
        ),
        tuple(cells),
        tuple(why),
    )


def _chart(name: str, rows: list[tuple[float, ...]]) -> Chart:
    names = ("one automaton", "one automaton, covering", "list of paths", "list of paths, covering")
    return Chart(
        f"Figure 8: time for an XPE, {name}",
        "XPEs",
        "µs",
        {series: tuple((row[0], row[place]) for row in rows) for place, series in enumerate(names, 2)},
    )


EXPERIMENT = Experiment("routing/fig-8", "Processing time for an XPE, NITF and PSD", run, minutes=2)

"""Figure 9: how many publications travel in vain, by the degree that mergers may have.

At one router: paths of documents that the merged table asks for and no XPE does.
In a network: paths that a broker receives and nobody behind it asked for, the same as the paper's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.routing.networks import SEVEN, of_nitf, run_all
from experiments.routing.schemas import NITF_DOCUMENTS, nitf, publications
from experiments.routing.tables import grow
from twigcast.pattern import Pattern
from twigcast.routing import Pool, Strategy

DEGREES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
SIZE = 10_000
DOCUMENTS = 500


def run(scale: float, watch: Watch) -> Findings:
    """Merge by several degrees, and route documents."""
    router = _at_a_router(scale, watch)
    network, wrong = _in_a_network(scale, watch)
    limit = [row for row in (*router, *network) if row[0] == 0.1]
    return Findings(
        (
            Table(
                "At one router: NITF, set A",
                ("D", "rows", "publications matched", "in vain", "in vain %", "paper %"),
                tuple(router),
                (
                    "The paper prints its figure without numbers; it says that less than 0.1 keeps false "
                    "positives within 2 %.",
                    f"{scaled(SIZE, scale):,} XPEs, not 100,000: of so many, perfect merging leaves nothing "
                    "for imperfect merging to do.",
                ),
            ),
            Table(
                "In a network of 7 brokers: NITF, set A, 1,000 XPEs for each subscriber",
                ("D", "rows", "publications received", "in vain", "in vain %", "wrong deliveries"),
                tuple(network),
                ("None reaches a subscriber: at the last broker its own XPEs decide.",),
            ),
        ),
        (
            Chart(
                "Figure 9: false positives by the degree of mergers",
                "imperfect degree",
                "% of publications",
                {
                    "one router": tuple((float(row[0] or 0), float(row[4] or 0)) for row in router),
                    "7 brokers": tuple((float(row[0] or 0), float(row[4] or 0)) for row in network),
                },
            ),
        ),
        (
            Bar("false positives at D ≤ 0.1, %", max(float(row[4] or 0) for row in limit), "<", 2),
            Bar("false positives delivered", sum(int(row[5] or 0) for row in network), "=", 0),
            Bar(
                "rows at D ≤ 0.1, of those with perfect merging",
                float(_row(router, 0.1)[1] or 0) / float(_row(router, 0.0)[1] or 1),
                "<",
                1,
            ),
        ),
        wrong,
    )


def _at_a_router(scale: float, watch: Watch) -> list[tuple[Cell, ...]]:
    growing = grow("A", nitf(), scaled(SIZE, scale), 1, watch, DEGREES)
    bodies = publications(nitf(), scaled(DOCUMENTS, scale), NITF_DOCUMENTS)
    asked = _asked(growing.tree.uncovered.values(), bodies)
    rows: list[tuple[Cell, ...]] = []
    for degree, merging in growing.merged.items():
        matched = _asked(merging.patterns.values(), bodies)
        in_vain = sum(now and not was for was, now in zip(asked, matched, strict=True))
        share = 100 * in_vain / max(1, sum(matched))
        rows.append(
            (degree, len(merging.patterns), sum(matched), in_vain, share, 2.0 if degree == 0.1 else None)
        )
    return rows


def _asked(patterns: Iterable[Pattern], bodies: list[bytes]) -> list[bool]:
    """Of each publication, whether some pattern matches it."""
    pool = Pool()
    for pattern in patterns:
        pool.hold(pattern)
    return [bool(pool.match(body)) for body in bodies]


def _in_a_network(scale: float, watch: Watch) -> tuple[list[tuple[Cell, ...]], tuple[str, ...]]:
    scenario = of_nitf(SEVEN, scale)
    strategies = {f"D ≤ {degree}": Strategy(merging=degree, publication="paths") for degree in DEGREES}
    reports = run_all(replace(scenario, strategies=strategies), watch)
    rows: list[tuple[Cell, ...]] = [
        (
            degree,
            report.rows,
            report.messages.get("publication", 0),
            report.false_positives,
            100 * report.false_positive_rate,
            report.missing + report.extra,
        )
        for degree, report in zip(DEGREES, reports, strict=True)
    ]
    return rows, tuple(
        f"{each.name}: deliveries are not those of flooding" for each in reports if not each.correct
    )


def _row(rows: list[tuple[Cell, ...]], degree: float) -> tuple[Cell, ...]:
    return next(row for row in rows if row[0] == degree)


EXPERIMENT = Experiment("routing/fig-9", "False positives by the degree of mergers", run, minutes=3)

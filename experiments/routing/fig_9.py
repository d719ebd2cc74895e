"""Figure 9: the false positives by the imperfect degree that mergers may have.

At one router: paths of documents that match the merged table but no XPE.
In a network: paths that a router receives although no subscriber behind it asked for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from experiments.findings import Bar, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.routing.networks import SEVEN, XPES, of_nitf, run_all
from experiments.routing.schemas import NITF_DOCUMENTS, nitf, publications
from experiments.routing.tables import grow
from twigcast.pattern import Pattern
from twigcast.routing import Pool, Strategy

DEGREES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
ASKED = 0.1
SIZE = 10_000
DOCUMENTS = 500
PAPER = 2.0
"""Per cent at most, at a degree below 0.1."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The results for one degree: table rows, forwarded publications, false positives, wrong deliveries."""

    degree: float
    rows: int
    publications: int
    false_positives: int
    wrong: int = 0

    @property
    def percent(self) -> float:
        """The percentage of publications that are false positives."""
        return 100 * self.false_positives / max(1, self.publications)


def run(scale: float, watch: Watch) -> Findings:
    """Merge by several degrees, and route documents."""
    router = _at_a_router(scale, watch)
    network = _in_a_network(scale, watch)
    at_ten = [each for each in (*router, *network) if each.degree == ASKED]
    return Findings(
        (
            Table(
                f"At one router: NITF, {scaled(SIZE, scale):,} XPEs of set A",
                ("D", "rows", "publications matched", "false positives", "false positives %", "paper %"),
                tuple(
                    (
                        each.degree,
                        each.rows,
                        each.publications,
                        each.false_positives,
                        each.percent,
                        PAPER if each.degree == ASKED else None,
                    )
                    for each in router
                ),
                (
                    "The text has no numbers of the figure; it says that below 0.1 at most 2 % are false.",
                    "Ours are fewer: few mergers stay within such a degree, which is also kept by how likely "
                    "documents are to have the paths that a merger adds.",
                    "There are no 100,000 XPEs here, since perfect merging leaves of so many nothing for "
                    "imperfect merging to do.",
                ),
            ),
            Table(
                f"In a network of 7 routers: NITF, {scaled(XPES, scale):,} XPEs of set A for each subscriber",
                (
                    "D",
                    "rows",
                    "publications received",
                    "false positives",
                    "false positives %",
                    "wrong deliveries",
                ),
                tuple(
                    (
                        each.degree,
                        each.rows,
                        each.publications,
                        each.false_positives,
                        each.percent,
                        each.wrong,
                    )
                    for each in network
                ),
                (
                    "The paper has no such table.",
                    "None reaches a subscriber: at the last router its own XPEs decide.",
                ),
            ),
        ),
        (
            Chart(
                "Figure 9: false positives by the degree of mergers",
                "imperfect degree",
                "% of publications",
                {
                    "one router": tuple((each.degree, each.percent) for each in router),
                    "7 routers": tuple((each.degree, each.percent) for each in network),
                },
                {"paper: at most": ((ASKED, PAPER),)},
            ),
        ),
        (
            Bar("false positives at D ≤ 0.1, %", max(each.percent for each in at_ten), "<", 2),
            Bar("false positives delivered", sum(each.wrong for each in network), "=", 0),
            Bar("rows at D ≤ 0.1, of those with perfect merging", at_ten[0].rows / router[0].rows, "<", 1),
        ),
        tuple(f"D ≤ {each.degree}: deliveries are not those of flooding" for each in network if each.wrong),
    )


def _at_a_router(scale: float, watch: Watch) -> list[Merged]:
    growing = grow("A", nitf(), scaled(SIZE, scale), 1, watch, DEGREES)
    bodies = publications(nitf(), scaled(DOCUMENTS, scale), NITF_DOCUMENTS)
    exact = _asked(growing.tree.uncovered.values(), bodies)
    found = []
    for degree, merging in growing.merged.items():
        asked = _asked(merging.patterns.values(), bodies)
        false_positives = sum(now and not was for was, now in zip(exact, asked, strict=True))
        found.append(Merged(degree, len(merging.patterns), sum(asked), false_positives))
    return found


def _asked(patterns: Iterable[Pattern], bodies: list[bytes]) -> list[bool]:
    """Of each publication, whether some pattern matches it."""
    pool = Pool()
    for pattern in patterns:
        pool.hold(pattern)
    return [len(pool.match(body)) > 0 for body in bodies]


def _in_a_network(scale: float, watch: Watch) -> list[Merged]:
    strategies = {f"D ≤ {degree}": Strategy(merging=degree, publication="paths") for degree in DEGREES}
    reports = run_all(replace(of_nitf(SEVEN, scale), strategies=strategies), watch)
    return [
        Merged(
            degree,
            report.rows,
            report.messages.get("publication", 0),
            report.false_positives,
            report.missing + report.extra,
        )
        for degree, report in zip(DEGREES, reports, strict=True)
    ]


EXPERIMENT = Experiment("routing/fig-9", "False positives by the degree of mergers", run, minutes=3)

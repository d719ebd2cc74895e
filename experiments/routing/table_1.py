"""Table 1: the time to route a publication against 100,000 XPEs, and against the reduced tables."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

import numpy as np

from experiments.findings import Cell, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.routing.schemas import NITF_DOCUMENTS, nitf, publications
from experiments.routing.sets import SETS, SIZE
from experiments.routing.tables import Growing, merged
from twigcast.pattern import Pattern
from twigcast.routing import Pool, PublicationTable, carry

DOCUMENTS = 500
PAPER = {
    "No Covering": {"A": 13.96, "B": 14.23},
    "Covering": {"A": 2.15, "B": 7.47},
    "Perfect Merging": {"A": 1.87, "B": 6.88},
    "Imperfect Merging": {"A": 1.27, "B": 6.38},
}


def run(scale: float, watch: Watch) -> Findings:
    """Route all paths of the documents by each of the tables."""
    size = scaled(SIZE, scale)
    bodies = publications(nitf(), scaled(DOCUMENTS, scale), NITF_DOCUMENTS)
    found: dict[str, dict[str, tuple[int, float, int]]] = {method: {} for method in PAPER}
    wrong: list[str] = []
    for name in SETS:
        answers: dict[str, list[bool]] = {}
        for method, patterns in _tables(merged(name, nitf(), size, watch)).items():
            seconds, answers[method] = _routing(patterns, bodies, watch, f"set {name}, {method}")
            found[method][name] = len(patterns), 1000 * seconds, sum(answers[method])
        wrong += _wrong(name, answers)
    rows: list[tuple[Cell, ...]] = []
    for method, by_set in found.items():
        cells: list[Cell] = [method]
        for name, (count, milliseconds, matched) in by_set.items():
            whole = found["No Covering"][name][1]
            cells += [
                count, matched, milliseconds, 100 * milliseconds / whole, PAPER[method][name],
                100 * PAPER[method][name] / PAPER["No Covering"][name],
            ]  # fmt: skip
        rows.append(tuple(cells))
    columns = ["method"]
    for name in SETS:
        columns += [f"{name} rows", f"{name} matched", f"{name} ms", f"{name} %", f"paper {name} ms",
                    f"paper {name} %"]  # fmt: skip
    return Findings(
        (
            Table(
                f"Routing time of {len(bodies):,} publications against {size:,} XPEs",
                tuple(columns),
                tuple(rows),
                (
                    "Ours is the mean of one pass: the index of the table finds what a path matches, and the "
                    "link decides; each path is parsed as a document of its own.",
                    "The paper's time follows the rows of its table; our index shares their steps, so its "
                    "time follows the matches, and 100,000 rows cost it little more than few.",
                    "One pass on a busy machine is not repeated here: differences of some microseconds "
                    "between tables of about the same rows are noise.",
                ),
            ),
        ),
        (
            Chart(
                "Table 1: routing time of a publication",
                "",
                "% of the time without covering",
                {
                    f"set {name}": tuple(
                        (method, 100 * by_set[name][1] / found["No Covering"][name][1])
                        for method, by_set in found.items()
                    )
                    for name in SETS
                },
                {
                    f"set {name}": tuple(
                        (method, 100 * by_set[name] / PAPER["No Covering"][name])
                        for method, by_set in PAPER.items()
                    )
                    for name in SETS
                },
            ),
        ),
        wrong=tuple(wrong),
    )


def _tables(growing: Growing) -> dict[str, Mapping[str, Pattern]]:
    return {
        "No Covering": growing.all,
        "Covering": growing.tree.uncovered,
        "Perfect Merging": growing.merged[0.0].patterns,
        "Imperfect Merging": growing.merged[0.1].patterns,
    }


def _routing(
    patterns: Mapping[str, Pattern], bodies: list[bytes], watch: Watch, what: str
) -> tuple[float, list[bool]]:
    """The seconds for a publication on average, and whether each was asked for."""
    pool, asked = Pool(), PublicationTable("here", ["neighbour"])
    asked.change("neighbour", {id: pool.hold(pattern) for id, pattern in patterns.items()}, ())
    table = asked.forwarding(pool.capacity)
    pool.match(bodies[0])  # the index is built now
    here = np.zeros(1, dtype=np.int64)
    answers = []
    seconds = 0.0
    for body in watch(what, bodies, len(bodies)):
        start = time.perf_counter()
        answer = pool.match(body)
        wanted = bool(carry(table, here, np.zeros_like(answer), answer).taken[0, 0])
        seconds += time.perf_counter() - start
        answers.append(wanted)
    return seconds / len(bodies), answers


def _wrong(name: str, answers: Mapping[str, list[bool]]) -> Iterable[str]:
    """Decisions that differ from those without covering although they must not."""
    exact = answers["No Covering"]
    for method, decided in answers.items():
        lost = sum(was and not now for was, now in zip(exact, decided, strict=True))
        gained = sum(now and not was for was, now in zip(exact, decided, strict=True))
        if lost:
            yield f"set {name}, {method}: {lost:,} publications are not routed any more"
        if gained and method != "Imperfect Merging":
            yield f"set {name}, {method}: {gained:,} publications are false positives"


EXPERIMENT = Experiment("routing/table-1", "Publication routing time against 100,000 XPEs", run, minutes=6)

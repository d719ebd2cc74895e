"""Ours: elements that no subscription can see are skipped while a document is rewritten (T 7.3)."""

from __future__ import annotations

import time

from experiments.findings import Bar, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.rewriting.feeds import OF_DIALECTS, catalogue, feed
from experiments.rewriting.networks import SIZE
from twigcast.filtering import Index, Tuning

DOCUMENTS = 40
REPEATS = 9
PATTERNS = 1000
SHARES = (0.1, 0.33, 0.66, 1.0)


def run(scale: float, watch: Watch) -> Findings:
    """Match with subscriptions that look at a share of the places, with and without skipping."""
    documents = feed(SIZE, scaled(DOCUMENTS, scale))
    rows = []
    for share in watch("shares", SHARES, len(SHARES)):
        patterns = _patterns(share, scaled(PATTERNS, scale))
        indexes = []
        for switch in (False, True):
            index = Index(tuning=Tuning(dead_places=switch))
            index.add_all(enumerate(patterns))
            indexes.append(index)
        answers = [[index.match(d.body, d.dialect.mapping).ids for d in documents] for index in indexes]
        best = [float("inf"), float("inf")]
        for _ in range(REPEATS):
            for number, index in enumerate(indexes):
                start = time.thread_time()
                for each in documents:
                    index.match(each.body, each.dialect.mapping)
                best[number] = min(best[number], 1000 * (time.thread_time() - start) / len(documents))
        rows.append((100 * share, *best, best[1] / best[0], answers[0] == answers[1]))
    third = next(row for row in rows if row[0] == 33)
    return Findings(
        (
            Table(
                f"Documents of 20 KB: {OF_DIALECTS}",
                ("places seen %", "all read ms", "unseen skipped ms", "of it", "paper"),
                tuple((*row[:4], "none") for row in rows),
                ("The thesis names it as future work (7.3) and has no numbers.",),
            ),
        ),
        (
            Chart(
                "Time by the share of the schema that is seen",
                "% of the places",
                "of the time without skipping",
                {"ours": tuple((row[0], row[3]) for row in rows)},
            ),
        ),
        (
            Bar("a third seen, of the time without", third[3], "≤", 0.8),
            Bar("all seen, of the time without", rows[-1][3], "≤", 1.03),
        ),
        tuple(f"{row[0]:g} %: skipping changes an answer" for row in rows if not row[4]),
    )


def _patterns(share: float, count: int) -> list[str]:
    """Absolute subscriptions to a share of the children of a course, with and without values."""
    children = [child.name for child in catalogue().children("course")]
    seen = children[: max(1, round(share * len(children)))]
    found = []
    for number in range(count):
        name = seen[number % len(seen)]
        below = [child.name for child in catalogue().children(name)]
        turn = number // len(seen)
        leaf = f"{name}/{below[turn % len(below)]}" if below else name
        condition = f"[{leaf}='word {number}']" if turn // 4 % 2 else f"[{leaf}]"
        found.append(f"/catalogue/course{condition}")
    return found


EXPERIMENT = Experiment("rewriting/seeing", "Skipping what nobody sees", run, minutes=1)

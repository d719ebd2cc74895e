"""Appendix A1: the sizes of the chunks of the university, with five, four and three prefixes."""

from __future__ import annotations

from experiments.chunking.scenarios import (
    KILOBYTES,
    MEMBER_KILOBYTES,
    Order,
    Scenario,
    member_queries,
    university_scenario,
)
from experiments.chunking.trials import ALGORITHMS, Trial, Trials, without_chunks
from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch

ORDERS: tuple[Order, ...] = ("mixed", "in sequence")
QUERIES = 100
CHUNKS = (5, 4, 3)
TAGS = 130_000


def run(scale: float, watch: Watch) -> Findings:
    """Cut both documents by both algorithms."""
    trials = Trials()
    tables, found = [], {}
    for order in ORDERS:
        scenario = university_scenario(scale, order)
        texts = member_queries(scenario, QUERIES, 1.0)
        cases = [(chunks, algorithm) for algorithm in ALGORITHMS for chunks in CHUNKS]
        for case in watch(f"records {order}", cases, len(cases)):
            found[order, *case] = trials.cut(scenario, texts, *case)
        tables.append(_table(scenario, {case: found[order, *case] for case in cases}, scale))
    wholes, indexes = {QUERIES: trials.whole(scenario, texts)}, {QUERIES: trials.index(scenario, texts)}
    tables.append(without_chunks(wholes, indexes))
    size = len(university_scenario(scale, "mixed").body)
    (rest,) = found["mixed", 3, "ours"].potpourri()
    bars = (
        Bar("mixed, 3 of 5 chunks: bytes of the potpourri, of the document", rest.bytes / size, "≤", 0.6),
        Bar("5 chunks: bytes of the potpourri", _potpourri(found["mixed", 5, "ours"]), "=", 0),
        Bar("queries with other answers", len(trials.wrong), "=", 0),
    )
    chart = Chart(
        "The potpourri of a mixed document",
        "",
        "KB",
        {
            algorithm: tuple(
                (f"{chunks} chunks", _potpourri(found["mixed", chunks, algorithm]) / 1024)
                for chunks in CHUNKS
            )
            for algorithm in ALGORITHMS
        },
        {"paper": tuple((f"{chunks} chunks", 0.0 if chunks == 5 else KILOBYTES) for chunks in CHUNKS)},
    )
    return Findings(tuple(tables), (chart,), bars, tuple(trials.wrong))


def _potpourri(trial: Trial) -> int:
    return sum(each.bytes for each in trial.potpourri())


def _table(scenario: Scenario, found: dict[tuple[int, str], Trial], scale: float) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for kind in (*scenario.kinds, "potpourri"):
        paper = MEMBER_KILOBYTES.get(kind)
        row: list[Cell] = [kind, paper * scale if paper else KILOBYTES * scale]
        for trial in found.values():
            sizes = [each.bytes / 1024 for each in trial.chunks if each.name == kind]
            row.append(sum(sizes) if sizes else None)
        rows.append(tuple(row))
    columns = (f"{algorithm}, {chunks} chunks" for chunks, algorithm in found)
    why = (
        f"The document has {len(scenario.body) / 1024:,.0f} KB and {scenario.body.count(b'<'):,} tags, the "
        f"paper's {KILOBYTES * scale:,.0f} KB and {TAGS * scale:,.0f}; its appendix does not say which size "
        "is of which kind.",
        "The five chunks of the paper add up to 4,291 KB; the 678 KB in none of them are white space between "
        "records here, which is kept only between neighbours of one kind.",
        "The paper's potpourri is the whole document; with our algorithm it is what its queries look at.",
    )
    return Table(f"KB of the chunks, records {scenario.name}", ("chunk", "paper", *columns), tuple(rows), why)


EXPERIMENT = Experiment("chunking/table-a1", "Sizes of the chunks of the university", run, minutes=2)

"""Figure 11: the time to cut the university and to evaluate its queries on the chunks, against the whole."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.chunking.scenarios import COUNTS, member_queries, university_scenario
from experiments.chunking.trials import ALGORITHMS, IN_PARTS, Trial, Trials, without_chunks
from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Points, Table, Watch

CHUNKS = (3, 4, 5)
MOST = max(CHUNKS)
SLOWEST = {
    (100, 5): (13_059 + 10_325) / 30_624,
    (100, 3): 0.75,
    (2000, 3): (7_491 + 160_981) / 289_365,
    (2000, 5): (12_829 + 74_126) / 298_980,
}
"""Cutting and the slowest chunk in times of the original, as far as the paper's text has them."""
SUMS = {(100, 5): "> 1", (500, 5): "< 1", (2000, 5): "< 1"}
Found = Mapping[tuple[int, int, str], Trial]


def run(scale: float, watch: Watch) -> Findings:
    """Evaluate 100, 500 and 2,000 queries on three, four and five chunks."""
    trials = Trials()
    scenario = university_scenario(scale, "mixed")
    found: dict[tuple[int, int, str], Trial] = {}
    wholes, indexes = {}, {}
    for amount in COUNTS:
        texts = member_queries(scenario, amount, scale)
        wholes[amount], indexes[amount] = trials.whole(scenario, texts), trials.index(scenario, texts)
        cases = [(chunks, algorithm) for chunks in CHUNKS for algorithm in (*ALGORITHMS, IN_PARTS)]
        for chunks, algorithm in watch(f"{amount} queries", cases, len(cases)):
            found[amount, chunks, algorithm] = trials.cut(scenario, texts, chunks, algorithm)
    ratios = {
        case: (trial.sum / wholes[case[0]], trial.slowest / wholes[case[0]]) for case, trial in found.items()
    }
    bars = (
        *(
            Bar(f"{amount} queries, 5 chunks: cutting and all chunks", ratios[amount, 5, "ours"][0], "≤", 0.5)
            for amount in COUNTS
        ),
        *(
            Bar(f"the same in parts of 256 KB, {amount} queries", ratios[amount, 5, IN_PARTS][0], "≤", 0.5)
            for amount in COUNTS
        ),
        Bar("100 queries, 5 chunks: cutting and the slowest chunk", ratios[100, 5, "ours"][1], "≤", 0.76),
        Bar("2000 queries, 5 chunks: cutting and the slowest chunk", ratios[2000, 5, "ours"][1], "≤", 0.29),
        Bar("the same in parts of 256 KB, 2000 queries", ratios[2000, 5, IN_PARTS][1], "≤", 0.29),
        Bar("queries with other answers", len(trials.wrong), "=", 0),
    )  # fmt: skip
    return Findings(
        (_table(found, wholes), without_chunks(wholes, indexes)),
        (*(_chart(amount, found, wholes, indexes) for amount in COUNTS), _slowest_chart(ratios)),
        bars,
        tuple(trials.wrong),
    )


def _table(found: Found, wholes: Mapping[int, float]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (amount, chunks, algorithm), trial in found.items():
        prefixed = sorted((each.seconds for each in trial.prefixed()), reverse=True)
        row: list[Cell] = [amount, chunks, algorithm, 1000 * trial.cutting]
        row += [1000 * seconds for seconds in prefixed] + [None] * (MOST - len(prefixed))
        row.append(sum(1000 * each.seconds for each in trial.potpourri()) or None)
        whole = wholes[amount]
        row += [1000 * trial.sum, 1000 * whole, trial.sum / whole, SUMS.get((amount, chunks))]
        row += [trial.slowest / whole, SLOWEST.get((amount, chunks))]
        rows.append(tuple(row))
    columns = (
        *("queries", "chunks", "algorithm", "cutting ms", *(f"chunk {n} ms" for n in range(1, MOST + 1))),
        *("potpourri ms", "sum ms", "whole ms", "sum / whole", "paper"),
        *("cutting + slowest / whole", "paper "),
    )
    why = (
        "CPU time; chunks from the slowest to the fastest.  lxml takes the place of Jaxen, and parsing is in "
        "the time of each chunk and of the whole.",
        "The paper draws all other bars; it gives the original of 2,000 queries twice, with 289,365 and with "
        "298,980 ms.",
        "The paper's cutting takes 43 % of the original of 100 queries, and therefore its sum "
        "is above the original.",
        "lxml takes time that is quadratic in the nodes found for some paths with //, most of the time here; "
        "ours in parts divides each chunk into parts of 256 KB.",
        "printed keeps the whole document as the potpourri, as the paper does; ours only what is looked at.",
    )
    return Table("Cutting and evaluating by lxml", columns, tuple(rows), why)


def _chart(amount: int, found: Found, wholes: Mapping[int, float], indexes: Mapping[int, float]) -> Chart:
    series = {
        f"{chunks} chunks, {algorithm}": (
            ("cutting", trial.cutting),
            ("slowest chunk", trial.slowest - trial.cutting),
            ("potpourri", sum(each.seconds for each in trial.potpourri())),
            ("sum", trial.sum),
            ("lxml, whole", wholes[amount]),
            ("Index, whole", indexes[amount]),
        )
        for (count, chunks, algorithm), trial in found.items()
        if count == amount
    }
    return Chart(f"{amount:,} queries", "", "CPU s", series)


def _slowest_chart(ratios: Mapping[tuple[int, int, str], tuple[float, float]]) -> Chart:
    series = {
        f"{amount:,} queries": tuple((float(chunks), ratios[amount, chunks, "ours"][1]) for chunks in CHUNKS)
        for amount in COUNTS
    }
    paper: dict[str, Points] = {}
    for (amount, chunks), part in sorted(SLOWEST.items()):
        name = f"{amount:,} queries"
        paper[name] = (*paper.get(name, ()), (float(chunks), part))
    return Chart("Cutting and the slowest chunk", "chunks", "time, of lxml on the whole", series, paper)


EXPERIMENT = Experiment("chunking/fig-11", "Queries on the chunks of the university", run, minutes=8)

"""Figure 10: how the queries are distributed over the kinds of records, and which kinds are the potpourri."""

from __future__ import annotations

from experiments.chunking.scenarios import COUNTS, LIGHTEST_LAST, member_queries, university_scenario
from experiments.chunking.trials import ALGORITHMS, Trials, planned, without_chunks
from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch
from twigcast.chunking import Scheme

PAPER = {(100, 4): "student", (500, 4): "secretary", (2000, 4): "professor"}
TWO = "two kinds"


def run(scale: float, watch: Watch) -> Findings:
    """Plan for 100, 500 and 2,000 queries with three and with four prefixes."""
    trials = Trials()
    scenario = university_scenario(min(scale, 0.1), "mixed")
    shares: list[tuple[Cell, ...]] = []
    rests: list[tuple[Cell, ...]] = []
    series, unlike = {}, 0
    wholes, indexes = {}, {}
    for amount in watch("queries", COUNTS, len(COUNTS)):
        texts = member_queries(scenario, amount, 1.0)
        five = planned(scenario, texts, 5, "ours")
        by_kind = dict(sorted(_shares(five).items()))
        deep, filtered = (100 * sum(mark in text for text in texts) / len(texts) for mark in ("//", "["))
        shares.append((amount, *by_kind.values(), deep, filtered, len(set(texts))))
        series[f"{amount:,} queries"] = tuple(by_kind.items())
        for chunks in (4, 3):
            row: list[Cell] = [amount, chunks, PAPER.get((amount, chunks), TWO)]
            for algorithm in ALGORITHMS:
                left = sorted(set(scenario.kinds) - set(_shares(planned(scenario, texts, chunks, algorithm))))
                row.append(", ".join(left))
                unlike += sorted(LIGHTEST_LAST[amount][chunks:]) != left
            rests.append(tuple(row))
        trials.cut(scenario, texts[:100], 4, "ours")
        wholes[amount], indexes[amount] = trials.whole(scenario, texts), trials.index(scenario, texts)
    columns = ("queries", *sorted(scenario.kinds), "with // %", "with a filter %", "different")
    return Findings(
        (
            Table(
                "Queries on each kind, %",
                columns,
                tuple(shares),
                (
                    "The paper only draws the shares; ours fall by the same steps in each set, and the kind "
                    "with the fewest queries is the one that the paper names.",
                    "It has 30 % of the queries with // and 30 % with a filter.",
                ),
            ),
            Table(
                "Kinds in the potpourri",
                ("queries", "chunks", "paper", *ALGORITHMS),
                tuple(rests),
            ),
            without_chunks(wholes, indexes),
        ),
        (Chart("Queries on each kind", "", "%", series),),
        (
            Bar("potpourris that are not the lightest kinds", unlike, "=", 0),
            Bar("queries with other answers", len(trials.wrong), "=", 0),
        ),
        tuple(trials.wrong),
    )


def _shares(scheme: Scheme) -> dict[str, float]:
    """The share of the queries at each prefix, in per cent."""
    whole = sum(each.weight for each in scheme.chunks)
    return {each.name: 100 * each.weight / whole for each in scheme.chunks if each.prefix is not None}


EXPERIMENT = Experiment("chunking/fig-10", "Distribution of the queries on the university", run, minutes=1)

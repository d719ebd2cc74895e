"""Appendix A3: the chunks of the deployment descriptor, their shares of the queries and their elements."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.chunking.scenarios import deployment_queries, deployment_scenario
from experiments.chunking.trials import ALGORITHMS, Trial, Trials, without_chunks
from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch

QUERIES = 2000
AD, EB = "/ejb-jar/assembly-descriptor", "/ejb-jar/enterprise-beans"
CT, MP, SR = f"{AD}/container-transaction", f"{AD}/method-permission", f"{AD}/security-role"
SESSION, MESSAGE, ENTITY = f"{EB}/session", f"{EB}/message-driven", f"{EB}/entity"
ELEMENTS = {AD: 3972, EB: 681, CT: 1351, MP: 2583, SR: 41, SESSION: 162, MESSAGE: 44, ENTITY: 497}
PAPER: Mapping[int, Mapping[str, int]] = {
    2: {AD: 54, EB: 46},
    3: {CT: 19, AD: 35, EB: 46},
    4: {CT: 19, MP: 18, SR: 17, EB: 46},
    5: {CT: 19, MP: 18, SR: 17, SESSION: 16, EB: 30},
    6: {CT: 19, MP: 18, SR: 17, SESSION: 16, MESSAGE: 15, ENTITY: 14},
}
"""By the number of chunks, each prefix with its share of the queries in per cent."""


def run(scale: float, watch: Watch) -> Findings:
    """Cut the descriptor into two to six chunks by both algorithms."""
    trials = Trials()
    scenario = deployment_scenario(scale)
    texts = deployment_queries(scenario, QUERIES, scale)
    tables, same, off = [], 0, 0.0
    elements: dict[str, int] = {}
    for algorithm in ALGORITHMS:
        rows: list[tuple[Cell, ...]] = []
        for chunks in watch(algorithm, PAPER, len(PAPER)):
            found = _by_prefix(trials.cut(scenario, texts, chunks, algorithm), len(texts))
            if algorithm == "printed":
                elements |= {prefix: count for prefix, (_, count) in found.items()}
                same += set(found) == set(PAPER[chunks])
            for prefix in (*PAPER[chunks], *(each for each in found if each not in PAPER[chunks])):
                share, count = found.get(prefix, (None, None))
                paper = PAPER[chunks].get(prefix)
                if share is not None and paper is not None and algorithm == "printed":
                    off = max(off, abs(share - paper))
                rows.append((chunks, prefix, share, paper, count, ELEMENTS[prefix] if paper else None))
        tables.append(_table(algorithm, rows))
    wholes, indexes = {QUERIES: trials.whole(scenario, texts)}, {QUERIES: trials.index(scenario, texts)}
    tables.append(without_chunks(wholes, indexes))
    bars = (
        Bar("printed: numbers of chunks with the prefixes of the paper, of 5", same, "=", 5),
        Bar("printed: largest difference of a share from the paper's, points", off, "≤", 1.5),
        Bar("queries with other answers", len(trials.wrong), "=", 0),
    )
    chart = Chart(
        "Elements of the chunks",
        "",
        "elements",
        {"printed": tuple((prefix.rsplit("/", 1)[1], float(count)) for prefix, count in elements.items())},
        {"paper": tuple((prefix.rsplit("/", 1)[1], float(ELEMENTS[prefix])) for prefix in elements)},
    )
    return Findings(tuple(tables), (chart,), bars, tuple(trials.wrong))


def _by_prefix(trial: Trial, queries: int) -> dict[str, tuple[float, int]]:
    """The share of the queries at each prefix, and the elements of its larger chunk."""
    found: dict[str, tuple[float, int]] = {}
    for each in trial.prefixed():
        share, elements = found.get(each.prefix, (0.0, 0))
        found[each.prefix] = share + 100 * each.weight / queries, max(elements, each.elements)
    return found


def _table(algorithm: str, rows: list[tuple[Cell, ...]]) -> Table:
    why = [
        "The paper's elements of three chunks below one prefix add up to one more or less than it gives for "
        "the prefix; 497 for entity does not fit into 681, 479 would.",
        "A message-driven element does not repeat: its queries look at single elements, which are a second "
        "chunk of the same prefix, and the elements given are those of the larger of the two.",
    ]
    if algorithm == "ours":
        why.append("Our chunks have the records of their own queries, not all that is below the prefix.")
    columns = ("chunks", "prefix", "queries %", "paper %", "elements", "paper")
    return Table(f"Prefixes, {algorithm}", columns, tuple(rows), tuple(why))


EXPERIMENT = Experiment("chunking/table-a3", "Chunks of a deployment descriptor", run, minutes=2)

"""Beyond the paper: parse trees of sentences, whose elements contain each other to any depth.

The paper resolves ``//`` by the schema.  In a schema where nearly everything contains everything a query has
as many label paths as one likes to count, so targets stay open where a name comes again on its own path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from benchmarks.workloads import data
from experiments.chunking.scenarios import Scenario
from experiments.chunking.trials import Trials, planned, timed
from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch, scaled
from twigcast.chunking import Scheme, profile
from twigcast.document import elements, read
from twigcast.schema import read_dtd
from twigcast.workload import generate_subscriptions, presets

QUERIES = 400
KINDS = ("linear", "branching", "values")
COPIES = 1
"""lxml takes quadratic time for paths with several ``//``, so more copies would take hours."""
CHUNKS = 8


def run(scale: float, watch: Watch) -> Findings:
    """Plan, cut and evaluate queries of three kinds on all parse trees as one document."""
    trials = Trials()
    scenario = treebank(scale)
    label_paths = profile([scenario.body]).paths
    depths = Counter(map(len, label_paths))
    rows: list[tuple[Cell, ...]] = []
    opens = []
    for kind in watch("kinds of queries", KINDS, len(KINDS)):
        options = replace(presets.SUBSCRIPTIONS[kind], seed=3, distinct=False)
        texts = list(generate_subscriptions(scenario.graph, scaled(QUERIES, scale), options))
        planning, scheme = timed(partial(planned, scenario, texts, CHUNKS, "ours"))
        whole, index = trials.whole(scenario, texts), trials.index(scenario, texts)
        trial = trials.cut(scenario, texts, CHUNKS, "ours")
        counts = targets(scheme)
        opens.append(counts["open"] / max(1, counts["all"]))
        rows.append(
            (
                *(kind, len(texts), counts["all"] / len(texts), counts["most"], 100 * opens[-1]),
                *(1000 * planning / len(texts), len(scheme.chunks), sum(each.bytes for each in trial.chunks)),
                *(1000 * trial.cutting, 1000 * trial.sum, 1000 * whole, trial.sum / whole, 1000 * index),
            )
        )
    columns = (
        *("queries", "number", "targets of one", "at most", "of them open %", "plan ms for one", "chunks"),
        *("bytes", "cutting ms", "sum ms", "lxml, whole ms", "sum / whole", "Index, whole ms"),
    )
    return Findings(
        (
            Table(
                f"Parse trees: {len(scenario.body):,} bytes, {len(label_paths):,} label paths, "
                f"depth {max(depths)}",
                columns,
                tuple(rows),
                (
                    "An open target is a label path with all below it, so that its chunk has whole "
                    "subtrees there; "
                    "chunks overlap, and together they are larger than the document.",
                    "There is nothing to win by cutting such a document for such queries: the sum says so.",
                ),
            ),
        ),
        (
            Chart(
                "Label paths by depth",
                "depth",
                "different label paths",
                {"parse trees": tuple((float(depth), float(depths[depth])) for depth in sorted(depths))},
            ),
        ),
        (Bar("queries with other answers", len(trials.wrong), "=", 0),),
        tuple(trials.wrong),
    )


@cache
def treebank(scale: float) -> Scenario:
    """The sentences of all documents of the treebank in one, several times over."""
    bodies = [path.read_bytes() for path in sorted(data("treebank").glob("*.xml"))]
    inner = b"".join(_sentences(bodies[: scaled(len(bodies), scale)]))
    body = b"<FILE>" + inner * max(1, round(COPIES * scale)) + b"</FILE>"
    return Scenario("treebank", body, read_dtd(data("treebank/treebank.dtd"), "FILE"), ())


def _sentences(bodies: Sequence[bytes]) -> list[bytes]:
    return [body[each.start : each.end] for body in bodies for each in elements(read(body).root)]


def targets(scheme: Scheme) -> Mapping[str, int]:
    """How many targets the queries of a scheme have: in all, open ones, and the most of one query."""
    found = [[target.target for target in each.targets] for each in scheme.queries]
    return {
        "all": sum(map(len, found)),
        "open": sum(target.is_open for each in found for target in each),
        "most": max(map(len, found), default=0),
    }


EXPERIMENT = Experiment(
    "chunking/recursion", "A schema in which everything contains everything", run, minutes=8
)

"""Figure 5.9: the kinds of headers, Edge, Prefix and Prefix+Level, by query.

The text says both T and R for the schedule, so both are run; Edge has to wait for the names above a fragment,
so that its order is topological under any schedule.
"""

from __future__ import annotations

from experiments.findings import Bar, Experiment, Findings, Watch
from experiments.fragments.documents import MADE, dblp, xmark
from experiments.fragments.trials import Method, Trials, by_query, chart
from twigcast.fragmenting import HeaderKind, PolicyName

KINDS: dict[str, HeaderKind] = {"E": "edge", "P": "prefix", "PL": "prefix+level"}
POLICIES: tuple[PolicyName, ...] = ("T", "R")


def run(scale: float, watch: Watch) -> Findings:
    """Match each query with each kind of header, under both schedules."""
    trials = Trials()
    tables, charts = [], []
    not_worst = longer = 0
    for feed in watch("documents", (xmark(scale), dblp(scale)), 2):
        parts = {name: feed.parts(kind) for name, kind in KINDS.items()}
        for policy in POLICIES:
            found = {
                f"{name}_{policy}": trials.each(feed, parts[name], Method(f"{name}_{policy}", policy))
                for name in KINDS
            }
            title = f"Header kinds on {feed.name}, schedule {policy}, {len(parts['PL'])} fragments"
            tables.append(by_query(title, found, MADE[:1] if feed.name == "XMark" else MADE[1:]))
            edge, prefix, level = found.values()
            if policy == "T":
                charts.append(chart(f"Header kinds on {feed.name}, schedule T", found))
                not_worst += sum(
                    edge[query].share < max(prefix[query].share, level[query].share) for query in edge
                )
                longer += sum(edge[query].milliseconds < level[query].milliseconds for query in edge)
    bars = (
        Bar("queries on which E parses less than P or PL, schedule T", not_worst, "=", 0),
        Bar("queries on which E takes less time than PL, schedule T", longer, "=", 0),
        Bar("answers unlike the whole document's", len(trials.wrong), "=", 0),
    )
    return Findings(tuple(tables), tuple(charts), bars, tuple(trials.wrong))


EXPERIMENT = Experiment("fragments/fig-5-9", "Kinds of headers, by query", run, minutes=4)

"""Figure 5.9: the kinds of headers, Edge, Prefix and Prefix+Level, by query.

The text says both T and R for the schedule, so both are run; Edge has to wait for the names above a fragment,
so that its order is topological under any schedule.
"""

from __future__ import annotations

from experiments.findings import Bar, Experiment, Findings, Watch
from experiments.fragments.documents import MADE, dblp, xmark
from experiments.fragments.trials import Method, Trials, by_query, chart
from twigcast.fragmenting import HeaderKind
from twigcast.fragmenting.scheduling.policies import PolicyName

KINDS: dict[str, HeaderKind] = {"E": "edge", "P": "prefix", "PL": "prefix+level"}
POLICIES: tuple[PolicyName, ...] = ("T", "R")
WHY = (
    "The thesis prints no times; it says that E is worst and PL never worse than P.",
    "E is evaluated in topological order under both schedules, which on Q1 is the better one.",
)


def run(scale: float, watch: Watch) -> Findings:
    """Match each query with each kind of header, under both schedules."""
    trials = Trials()
    tables, charts = [], []
    not_worst = dict.fromkeys(POLICIES, 0)
    faster = dict.fromkeys(POLICIES, 0)
    for feed in watch("documents", (xmark(scale), dblp(scale)), 2):
        parts = {name: feed.parts(kind) for name, kind in KINDS.items()}
        for policy in POLICIES:
            found = {
                f"{name}_{policy}": trials.each(feed, parts[name], Method(f"{name}_{policy}", policy))
                for name in KINDS
            }
            title = f"Header kinds on {feed.name}, schedule {policy}, {len(parts['PL'])} fragments"
            tables.append(by_query(title, found, (*(MADE[:1] if feed.name == "XMark" else MADE[1:]), *WHY)))
            edge, prefix, level = found.values()
            if policy == "T":
                charts.append(chart(f"Header kinds on {feed.name}, schedule T", found))
            for query, trial in edge.items():
                not_worst[policy] += trial.share < max(prefix[query].share, level[query].share)
                faster[policy] += trial.milliseconds < level[query].milliseconds
    bars = (
        *(
            Bar(f"queries on which E parses less than P or PL, schedule {policy}", count, "=", 0)
            for policy, count in not_worst.items()
        ),
        *(
            Bar(f"queries on which E takes less time than PL, schedule {policy}", count, "=", 0)
            for policy, count in faster.items()
        ),
        Bar("answers unlike the whole document's", len(trials.wrong), "=", 0),
    )
    return Findings(tuple(tables), tuple(charts), bars, tuple(trials.wrong))


EXPERIMENT = Experiment("fragments/fig-5-9", "Kinds of headers, by query", run, minutes=4)

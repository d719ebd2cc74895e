"""Figure 5.11: the five schedules of the thesis, by query, and N of ours beside them."""

from __future__ import annotations

from experiments.findings import Bar, Experiment, Findings, Watch
from experiments.fragments.documents import MADE, dblp, xmark
from experiments.fragments.trials import Method, Trials, by_query, chart
from twigcast.fragmenting.scheduling.policies import PolicyName

POLICIES: tuple[PolicyName, ...] = ("R", "T", "M", "S", "C")


def run(scale: float, watch: Watch) -> Findings:
    """Match each query with each schedule."""
    trials = Trials()
    tables, charts = [], []
    bars = []
    for feed in watch("documents", (xmark(scale), dblp(scale)), 2):
        parts = feed.parts()
        found = {
            f"PL_{policy}": trials.each(feed, parts, Method(f"PL_{policy}", policy)) for policy in POLICIES
        }
        charts.append(chart(f"Schedules on {feed.name}", found))
        novelty = trials.each(feed, feed.parts("prefix+paths"), Method("paths_N", "N"))
        why = (
            *(MADE[:1] if feed.name == "XMark" else MADE[1:]),
            "The thesis prints no times; it says that S is best where there is a match, but not on Q4, and C "
            "where there is none.",
            "paths_N is ours: headers with label paths often show at once that there is no match.",
        )
        tables.append(by_query(f"Schedules on {feed.name}", found | {"paths_N": novelty}, why))
        if "Q1" in feed.queries:
            most = max(found["PL_S"][query].share for query in ("Q1", "Q2", "Q3"))
            trials_of = [(query, found[f"PL_{policy}"]) for query in ("Q6−", "Q7−") for policy in POLICIES]
            critical = found["PL_C"]
            fewer = sum(by_name[query].fragments < critical[query].fragments for query, by_name in trials_of)
            less = sum(by_name[query].share < critical[query].share for query, by_name in trials_of)
            bars += [
                Bar("S on Q1 to Q3: elements parsed, %, most", 100 * most, "≤", 6),
                Bar("schedules that evaluate fewer fragments than C on Q6− or Q7−", fewer, "=", 0),
                Bar("schedules that parse fewer elements than C on Q6− or Q7−", less, "=", 0),
            ]
    bars.append(Bar("answers unlike the whole document's", len(trials.wrong), "=", 0))
    return Findings(tuple(tables), tuple(charts), tuple(bars), tuple(trials.wrong))


EXPERIMENT = Experiment("fragments/fig-5-11", "Five schedules, by query", run, minutes=3)

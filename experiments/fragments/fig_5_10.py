"""Figure 5.10: fragments against the whole document, by query: PL_R and NF."""

from __future__ import annotations

from dataclasses import replace

from experiments.findings import Bar, Experiment, Findings, Watch
from experiments.fragments.documents import MADE, dblp, xmark
from experiments.fragments.trials import NF, Method, Trials, by_query, chart

PAPER_SAVED = 0.95
"""What PL_R saves of the time of NF on Q2."""


def run(scale: float, watch: Watch) -> Findings:
    """Match each query on the whole document and on its fragments."""
    trials = Trials()
    tables, charts = [], []
    bars = []
    for feed in watch("documents", (xmark(scale), dblp(scale)), 2):
        parts = feed.parts()
        found = {
            NF: trials.each(feed, feed.whole(), Method(NF)),
            "PL_R": trials.each(feed, parts, Method("PL_R", "R")),
        }
        why = (
            *(MADE[:1] if feed.name == "XMark" else MADE[1:]),
            "The thesis prints no times; it says that PL_R wins on every query, on Q2 by 95 %.",
            "Both are the reference engine in Python; NF evaluates the whole document as one fragment.",
        )
        title = (
            f"Whole document and fragments: {feed.name}, {feed.elements:,} elements, {len(parts)} fragments"
        )
        tables.append(by_query(title, found, why, base=NF))
        drawn = chart(f"NF and PL_R on {feed.name}", found)
        if "Q2" in feed.queries:
            saved = (("Q2", (1 - PAPER_SAVED) * found[NF]["Q2"].milliseconds),)
            drawn = replace(drawn, paper={"PL_R": saved})
        charts.append(drawn)
        slower = sum(
            found["PL_R"][query].milliseconds > found[NF][query].milliseconds for query in feed.queries
        )
        bars.append(Bar(f"{feed.name}: queries on which PL_R takes longer than NF", slower, "=", 0))
        if "Q2" in feed.queries:
            ratio = 100 * found["PL_R"]["Q2"].milliseconds / found[NF]["Q2"].milliseconds
            bars += [
                Bar("Q2 with PL_R: elements parsed, %", 100 * found["PL_R"]["Q2"].share, "≤", 5),
                Bar("Q2 with PL_R: time against NF, %", ratio, "≤", 10),
                Bar("fragments of XMark, difference from 34", abs(len(parts) - 34), "≤", 2),
            ]
    bars.append(Bar("answers unlike the whole document's", len(trials.wrong), "=", 0))
    return Findings(tuple(tables), tuple(charts), tuple(bars), tuple(trials.wrong))


EXPERIMENT = Experiment("fragments/fig-5-10", "Whole documents against fragments, by query", run, minutes=2)

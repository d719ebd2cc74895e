"""Figure 6.7(a): mappings at the routers or in headers, by bandwidth."""

from __future__ import annotations

from experiments.findings import Bar, Experiment, Findings, Table, Watch, scaled
from experiments.rewriting.bandwidths import bandwidth_chart, by_bandwidth, wrong_sentences, wrong_total
from experiments.rewriting.feeds import OF_DIALECTS, feed
from experiments.rewriting.networks import (
    DOCUMENTS,
    ROUTERS,
    SIZE,
)


def run(scale: float, watch: Watch) -> Findings:
    """Mappings known to the routers, and mappings in headers."""
    found = by_bandwidth(scale, watch)
    rows = tuple(
        (
            name,
            each["NDDR"].total,
            each["NDDR_data"].total,
            100 * (each["NDDR_data"].total / each["NDDR"].total - 1),
            None,
        )
        for name, each in found.items()
    )
    documents = feed(SIZE, scaled(DOCUMENTS, scale))
    headers = [len(each.dialect.mapping.canonical.encode()) + 60 for each in documents]
    share = [100 * size / len(each.body) for size, each in zip(headers, documents, strict=True)]
    worst = max(each["NDDR_data"].transmission / each["NDDR"].transmission for each in found.values())
    return Findings(
        (
            Table(
                f"A line of {ROUTERS} routers, documents of 20 KB: {OF_DIALECTS}",
                ("bandwidth", "NDDR_router ms", "NDDR_data ms", "more %", "paper"),
                rows,
                (
                    'The text has no numbers of this figure; both are "similar" at each bandwidth.',
                    f"The rules of a mapping take {min(headers):,} to {max(headers):,} bytes with their "
                    f"name, {max(share):.1f} % of a document at most; each mapping is compiled once.",
                ),
            ),
        ),
        (bandwidth_chart("Figure 6.7(a)", found, ("NDDR", "NDDR_data")),),
        (
            Bar("largest header, bytes", max(headers), "≤", 1024),
            Bar("largest header, % of its document", max(share), "≤", 3),
            Bar("transmission with NDDR_data over NDDR_router, %", 100 * (worst - 1), "≤", 2),
            Bar("deliveries unlike flooding's", wrong_total(found), "=", 0),
        ),
        wrong_sentences(found),
    )


EXPERIMENT = Experiment(
    "rewriting/fig-6-7a", "Mappings at the routers or in headers, by bandwidth", run, minutes=2
)

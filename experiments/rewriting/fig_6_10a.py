"""Figure 6.10(a): what is cached while a document is rewritten."""

from __future__ import annotations

from statistics import median

from experiments.findings import Bar, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.rewriting.feeds import OF_DIALECTS, feed, subscriptions
from experiments.rewriting.networks import DOCUMENTS, PATTERNS, SIZE
from twigcast.filtering import Index


def run(scale: float, watch: Watch) -> Findings:
    """The largest number of bytes that were held back, for each document."""
    index = Index()
    index.add_all(enumerate(subscriptions(scaled(PATTERNS, scale))))
    shares = sorted(
        100 * index.match(each.body, each.dialect.mapping).cached_bytes / len(each.body)
        for each in watch("documents", feed(SIZE, max(10, scaled(DOCUMENTS, scale))))
    )
    above = sum(share > 20 for share in shares)
    return Findings(
        (
            Table(
                f"Documents of 20 KB: {OF_DIALECTS}",
                ("what", "ours", "paper"),
                (
                    ("median, % of the document", median(shares), "most about 5"),
                    ("largest, %", shares[-1], "32"),
                    ("documents above 20 %", above, "3"),
                    ("documents", len(shares), None),
                ),
                (
                    "Cached are the elements that an operator moves, from their start to the end of the "
                    "element that it works on; a renamed element is never cached.",
                ),
            ),
        ),
        (
            Chart(
                "Figure 6.10(a): cached share of each document",
                "document, by share",
                "% of its bytes",
                {"ours": tuple((number, share) for number, share in enumerate(shares, 1))},
                {
                    "paper: the largest": ((len(shares), 32.0),),
                    "paper: most are about": ((1, 5.0), (len(shares) - 3, 5.0)),
                },
            ),
        ),
        (
            Bar("largest cached share, %", shares[-1], "≤", 32),
            Bar("median cached share, %", median(shares), "≤", 5),
        ),
    )


EXPERIMENT = Experiment("rewriting/fig-6-10a", "Cached share of each document", run, minutes=1)

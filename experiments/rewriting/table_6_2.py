"""Table 6.2: documents for each user, with and without rewriting; and true recall and precision."""

from __future__ import annotations

import re

from experiments.findings import Bar, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.rewriting.feeds import OF_DIALECTS, small_feed, subscriptions
from twigcast.filtering import Index

INNER = re.compile(r"(?:\*|course|instructor|schedule|place|catalogue)\[(?:[a-z-]+\()?\.[^/\]][^\]]*\]")
COUNTS = (1000, 2000, 4000)
DOCUMENTS = 100
PAPER = {1000: (9.13, 1.47), 2000: (9.20, 1.54), 4000: (9.37, 1.59)}


def run(scale: float, watch: Watch) -> Findings:
    """Match 100 documents against users with one subscription each."""
    documents = small_feed(DOCUMENTS)
    rows = []
    for count in watch("subscriptions", COUNTS, len(COUNTS)):
        users = scaled(count, scale)
        index = Index()
        index.add_all(enumerate(_subscriptions(users)))
        found = right = wanted = without = 0
        for each in documents:
            ids = set(index.match(each.body, each.dialect.mapping).ids)
            true = set(index.match(each.original).ids)
            found, wanted, right = found + len(ids), wanted + len(true), right + len(ids & true)
            without += len(index.match(each.body).ids)
        their = PAPER[count]
        rows.append(
            (
                count,
                found / users,
                their[0],
                without / users,
                their[1],
                found / max(1, without),
                their[0] / their[1],
                right / max(1, wanted),
                right / max(1, found),
            )
        )
    return Findings(
        (
            Table(
                f"Documents of {DOCUMENTS} for each user: {OF_DIALECTS}",
                (
                    "P",
                    "with",
                    "paper",
                    "without",
                    "paper ",
                    "times",
                    "paper  ",
                    "recall",
                    "precision",
                ),
                tuple(rows),
                (
                    'The papers call the number of documents for each user "recall"; beside it are true '
                    "recall and precision, against the same documents written in the global schema.",
                    "p(//) and the share of conditions on values are not in the papers: 0.05 and 0.3 give "
                    "numbers of their order; over p(//) from 0 to 0.1 and values from 0.3 to 0.6 the factor "
                    "is 5.5 to 7.8, and 3.4 with p(//) = 0.2 and without values, since //name finds "
                    "what a dialect has not renamed.",
                    "Conditions on the string-value of an element with children are left out: an operator "
                    "cannot restore the order of siblings, so such values differ by definition.",
                ),
            ),
        ),
        (
            Chart(
                "Table 6.2: documents for each user",
                "subscriptions",
                f"documents of {DOCUMENTS}",
                {
                    name: tuple((f"P = {row[0]:,}", row[place]) for row in rows)
                    for name, place in (("with rewriting", 1), ("without", 3))
                },
                {
                    name: tuple((f"P = {row[0]:,}", row[place]) for row in rows)
                    for name, place in (("with rewriting", 2), ("without", 4))
                },
            ),
        ),
        (
            Bar("times the documents, smallest", min(row[5] for row in rows), "≥", 6),
            Bar("recall, smallest", min(row[7] for row in rows), "=", 1.0),
            Bar("precision, smallest", min(row[8] for row in rows), "=", 1.0),
        ),
        tuple(
            f"P = {row[0]}: answers differ from those on the global documents"
            for row in rows
            if row[7] != 1 or row[8] != 1
        ),
    )


def _subscriptions(count: int) -> list[str]:
    """So many subscriptions that compare no string-value of an element with children."""
    return [text for text in subscriptions(2 * count) if not INNER.search(text)][:count]


EXPERIMENT = Experiment("rewriting/table-6-2", "Documents for each user, of 100", run, minutes=1)

"""Ours: one index for all publishers, or one translated index for each of them (QRA)."""

from __future__ import annotations

import time
from dataclasses import replace

from experiments.engines.mapping.translating import QueryTranslator
from experiments.findings import Bar, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.rewriting.feeds import OF_DIALECTS, FeedDocument, dialects, small_feed, subscriptions
from twigcast.filtering import Index
from twigcast.pattern import parse

SOURCES = (1, 7, 40)
PATTERNS = 1000
DOCUMENTS = 40


def run(scale: float, watch: Watch) -> Findings:
    """Build both for 1, 7 and 40 publishers."""
    texts = subscriptions(scaled(PATTERNS, scale))
    patterns = [parse(text) for text in texts]
    documents = small_feed(DOCUMENTS)
    rows = []
    for count in watch("sources", SOURCES, len(SOURCES)):
        start = time.perf_counter()
        index = Index()
        index.add_all(enumerate(texts))
        built = time.perf_counter() - start
        for each in documents[:count]:
            index.match(each.body, each.dialect.mapping)
        start = time.perf_counter()
        translated = {}
        exact = total = 0
        for dialect in dialects()[:count]:
            translator = QueryTranslator(dialect.mapping)
            found = [translator.translate(pattern) for pattern in patterns]
            total += len(found)
            exact += sum(each.exact for each in found)
            own = Index()
            own.add_all((n, each.pattern) for n, each in enumerate(found) if each.pattern is not None)
            translated[dialect.name] = own
        translating = time.perf_counter() - start
        rows.append(
            (
                count,
                _bytes(index),
                built,
                sum(map(_bytes, translated.values())),
                translating,
                translating / count,
                100 * exact / total,
            )
        )
    adding = _adding(texts, documents)
    return Findings(
        (
            Table(
                f"{len(texts):,} subscriptions: {OF_DIALECTS}",
                (
                    "sources",
                    "index bytes",
                    "build s",
                    "QRA index bytes",
                    "QRA build s",
                    "QRA, for one more source s",
                    "QRA exact %",
                ),
                tuple(rows),
                (
                    "The papers compare with query rewriting in words only.",
                    f"One more source takes {1000 * adding:.1f} ms with rewriting: its mapping is compiled "
                    "when its first document comes.",
                    "Bytes are those of the compiled segments; QRA leaves out what a publisher cannot match.",
                ),
            ),
        ),
        (
            Chart(
                "Index bytes by sources",
                "sources",
                "bytes",
                {
                    "one index": tuple((row[0], row[1]) for row in rows),
                    "QRA": tuple((row[0], row[3]) for row in rows),
                },
            ),
        ),
        (
            Bar("index bytes at 40 sources, of those at 1", rows[-1][1] / rows[0][1], "=", 1),
            Bar("QRA's bytes at 40 sources, of those at 1", rows[-1][3] / rows[0][3], "≥", 5),
            Bar("seconds to add a source", adding, "<", 1),
        ),
    )


def _adding(texts: list[str], documents: list[FeedDocument]) -> float:
    """The time until the first document of a new publisher is matched."""
    index = Index()
    index.add_all(enumerate(texts))
    index.match(documents[0].body, documents[0].dialect.mapping)
    body, mapping = documents[1].body, replace(documents[1].dialect.mapping)  # nothing of it is compiled yet
    start = time.perf_counter()
    index.match(body, mapping)
    return time.perf_counter() - start


def _bytes(index: Index) -> int:
    return index.stats().bytes


EXPERIMENT = Experiment("rewriting/query", "One index, or one for each publisher", run, minutes=2)

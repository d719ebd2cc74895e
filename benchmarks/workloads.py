"""The workloads: documents and subscriptions that never change, so that results can be compared over time.

    nitf-branching-10k
     │       │      └── how many subscriptions: 1k, 5k, 10k, 100k, 1m
     │       └── what they look like: linear, branching, values
     └── where documents and subscriptions come from: nitf, medline, news, dblp, xmark, treebank

A document is *unseen* if the index was not warmed on it.  Unseen documents cost more only if they have label
paths that no earlier document had, so every run counts new label paths:

| | warm-up | measured on | new label paths per document |
|---|---|---|---|
| nitf | 400 | the next 400 | 2.4 |
| medline | 125 records, 4 times | the other 125 | 0.04 |
| news | 400 | the next 400 | 0.45 |
| treebank | 15 | the other 15 | 563 |
| dblp, xmark | one large document, twice | the same | 0 |

The seeds are part of the workload.  A change of a generator changes the workload, which then needs a new
name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from lxml import etree

from twigcast.errors import SourceError
from twigcast.schema import ElementGraph, read_dtd
from twigcast.workload import (
    DocumentOptions,
    SubscriptionOptions,
    generate_documents,
    generate_subscriptions,
    infer,
    news,
    presets,
)

MISSING_DATA = "not-found"
DOCUMENTS_SEED = 7
SUBSCRIPTIONS_SEED = 3
WARM = 400
UNSEEN = 400
NITF = DocumentOptions(seed=DOCUMENTS_SEED, skew=1.9)
"""7.5 KB and 117 elements; with the generator's default skew of 2.1 there are only 1.8 new label paths."""
NEWS = DocumentOptions(seed=DOCUMENTS_SEED)
PASSES = 4
"""How often the index is warmed on the same MEDLINE records, since there are only 125 of them."""

KINDS: dict[str, SubscriptionOptions] = {
    "linear": presets.LINEAR,
    "branching": presets.BRANCHING,
    "values": presets.VALUES,
}
SIZES: dict[str, int] = {"1k": 1_000, "5k": 5_000, "10k": 10_000, "100k": 100_000, "1m": 1_000_000}


@dataclass(frozen=True, slots=True)
class Feed:
    """Documents to warm on, documents to measure on, and the graph that subscriptions are drawn from."""

    warm: tuple[bytes, ...]
    unseen: tuple[bytes, ...]
    graph: ElementGraph


@dataclass(frozen=True, slots=True)
class Workload:
    """A feed and the subscriptions that it is matched against."""

    name: str
    feed: Feed
    subscriptions: tuple[str, ...]


def workload(name: str) -> Workload:
    """The workload of a name such as ``nitf-branching-10k``; raises ``SourceError`` if data is missing."""
    source, kind, size = name.split("-")
    return Workload(name, feed(source), subscriptions(source, kind, SIZES[size]))


@cache
def feed(source: str) -> Feed:
    """The documents of a source such as ``nitf``."""
    return FEEDS[source]()


@cache
def subscriptions(source: str, kind: str, count: int) -> tuple[str, ...]:
    """Distinct subscriptions of a kind, as text."""
    options = replace(KINDS[kind], seed=SUBSCRIPTIONS_SEED)
    return tuple(generate_subscriptions(feed(source).graph, count, options))


def schema(source: str) -> tuple[ElementGraph, DocumentOptions]:
    """The schema and options from which the documents of ``nitf`` or ``news`` are generated."""
    if source == "nitf":
        return read_dtd(data("nitf/nitf-2-5.dtd"), "nitf"), NITF
    return news(), NEWS


def data_folder() -> Path:
    """The folder of published data, whether it is there or not."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("TWIGCAST_DATA") or beside)


def data(name: str) -> Path:
    """A file or folder of the published data; raises ``SourceError`` where it is missing."""
    path = data_folder() / name
    if not path.exists():
        raise SourceError(
            f"no {name} in the folder of published data; set TWIGCAST_DATA to that folder (news-* need none)",
            code=MISSING_DATA,
            path=str(path),
        )
    return path


def new_label_paths(seen: Iterable[bytes], unseen: Iterable[bytes]) -> float:
    """How many label paths an unseen document has, on average, that no document before it had."""
    known: set[str] = set()
    for body in seen:
        known |= label_paths(body)
    before, count = len(known), 0
    for body in unseen:
        known |= label_paths(body)
        count += 1
    return (len(known) - before) / count


def label_paths(body: bytes) -> set[str]:
    """The distinct paths of element names from the root of a document to its elements."""
    paths: set[str] = set()
    above = [""]
    for event, element in etree.iterwalk(etree.fromstring(body), events=("start", "end")):
        if not isinstance(element.tag, str):
            continue
        if event == "start":
            above.append(f"{above[-1]}/{element.tag}")
            paths.add(above[-1])
        else:
            above.pop()
    return paths


def _generated(source: str) -> Feed:
    graph, options = schema(source)
    documents = tuple(generate_documents(graph, WARM + UNSEEN, options))
    return Feed(documents[:WARM], documents[WARM:], graph)


def _medline() -> Feed:
    records = [path.read_bytes() for path in sorted(data("medline").glob("*.xml"))]
    half = len(records) // 2
    return Feed(tuple(records[:half] * PASSES), tuple(records[half:]), infer(records[:half]))


def _treebank() -> Feed:
    documents = [path.read_bytes() for path in sorted(data("treebank").glob("*.xml"))]
    half = len(documents) // 2
    graph = read_dtd(data("treebank/treebank.dtd"), "FILE")
    return Feed(tuple(documents[:half]), tuple(documents[half:]), graph)


def _one_large(name: str, graph: ElementGraph | None = None) -> Feed:
    """One large document, which is never unseen; the graph of its subscriptions, or else its own."""
    body = data(name).read_bytes()
    return Feed((body, body), (body,), graph or infer([body]))


FEEDS: dict[str, Callable[[], Feed]] = {
    "nitf": lambda: _generated("nitf"),
    "medline": _medline,
    "news": lambda: _generated("news"),
    "dblp": lambda: _one_large("dblp/dblp.xml"),
    "xmark": lambda: _one_large("xmark/auction.xml", read_dtd(data("xmark/auction.dtd"), "site")),
    "treebank": _treebank,
}

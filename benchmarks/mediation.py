"""What mediation costs a pipeline: documents of seven publishers, each with a schema of its own.

    mediated   the publishers' documents, with the seven mappings of ``examples/catalogues``
    images     the images of the documents, written out, without mappings: the same matches, as many bytes
    as is      the publishers' documents without mappings: exactly the same bytes, but nothing matches

All three match Parquet files of documents against the same index file on Spark and take turns; the best pass
of each counts.  Mediated documents must have exactly the matches of their images; some of both are compared
with the evaluator of one pattern on the rewritten tree.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.corpus import cache_folder
from benchmarks.files import folder
from benchmarks.results import Outcome, Progress
from benchmarks.sparking import glob, on_spark, require_spark
from benchmarks.workloads import DOCUMENTS_SEED, SUBSCRIPTIONS_SEED
from twigcast import Index
from twigcast.document import Document, Element, Text, read
from twigcast.pattern import matches, parse
from twigcast.rewriting import Mapping, Mappings
from twigcast.schema import read_dtd
from twigcast.workload import (
    DocumentOptions,
    SubscriptionOptions,
    generate_documents,
    generate_subscriptions,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from twigcast.spark import IndexVersion

CATALOGUES = Path(__file__).parents[1] / "examples" / "catalogues"
OPTIONS = DocumentOptions(seed=DOCUMENTS_SEED)
SUBSCRIPTIONS = SubscriptionOptions(
    max_steps=8, wildcard=0.1, descendant=0.1, nested=0.2, value=0.5, seed=SUBSCRIPTIONS_SEED
)
PART = 2_500
"""Documents in one file."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a run; ``documents`` are those of each publisher."""

    documents: int = 3_000
    subscriptions: int = 10_000
    warming: int = 3
    passes: int = 9
    checked: int = 4
    """Documents of each publisher that are compared with the evaluator."""
    checked_subscriptions: int = 500


OFFICIAL = Size()


class Found(NamedTuple):
    """What a pass found; ``answers`` is a hash of the matches of each document."""

    documents: int
    matches: int
    errors: int
    answers: int


@cache
def mediation(progress: Progress, size: Size = OFFICIAL) -> Outcome:
    """Documents a second with seven mappings, as a part of those of documents in one schema."""
    require_spark()
    mappings = catalogues()
    texts = subscriptions(size)
    sources, images = feeds(mappings, size, progress)
    wrong = check(mappings, texts, sources, size, progress)
    from twigcast.spark import IndexVersion

    index = Index((str(id), text) for id, text in enumerate(texts))
    version = IndexVersion.save(folder() / "versions", f"catalogues-{size.subscriptions}", index)
    outcome = on_spark(measure, progress, {}, sources, images, version, size)
    return Outcome(outcome.figures, (*wrong, *outcome.wrong))


def measure(
    spark: SparkSession,
    progress: Progress,
    sources: list[Path],
    images: list[Path],
    version: IndexVersion,
    size: Size,
) -> Outcome:
    """The three ways in turns, in one session."""
    from twigcast import spark as tc

    mappings = catalogues()
    feed = tc.read(spark, glob(sources), format="parquet")
    written = tc.read(spark, glob(images), format="parquet")
    ways: dict[str, Callable[[], Any]] = {
        "mediated": lambda: tc.match(feed, version, mediation=mappings),
        "as is": lambda: tc.match(feed, version),
        "images": lambda: tc.match(written, version),
    }
    best = dict.fromkeys(ways, math.inf)
    wrong: list[str] = []
    for number in range(1 - size.warming, size.passes + 1):
        found = {}
        for name, run in ways.items():
            progress(f"pipeline-mediation: {name}, {f'pass {number}' if number > 0 else 'warming'}")
            began = time.perf_counter()
            found[name] = _found(run())
            if number > 0:
                best[name] = min(best[name], time.perf_counter() - began)
        if found["mediated"] != found["images"] or any(each.errors for each in found.values()):
            wrong.append(f"mediated documents and their images disagree: {found}")
    documents = found["mediated"].documents
    speed = {name: documents / seconds for name, seconds in best.items()}
    return Outcome(
        {
            "of_images": speed["mediated"] / speed["images"],
            "of_as_is": speed["mediated"] / speed["as is"],
            "documents_per_second": speed["mediated"],
            "documents_per_second_as_is": speed["as is"],
            "documents_per_second_images": speed["images"],
            "matches_per_document": found["mediated"].matches / documents,
            "matches_per_document_as_is": found["as is"].matches / documents,
            "bytes_per_document": _bytes(sources) / documents,
            "bytes_per_image": _bytes(images) / documents,
        },
        tuple(wrong),
    )


def catalogues() -> Mappings:
    """The mappings of the seven publishers."""
    return Mappings.load(CATALOGUES, CATALOGUES / "catalogue.dtd")


def subscriptions(size: Size) -> list[str]:
    """Distinct subscriptions over the global schema."""
    graph = read_dtd(CATALOGUES / "catalogue.dtd")
    return list(generate_subscriptions(graph, size.subscriptions, SUBSCRIPTIONS))


def _found(hits: Any) -> Found:
    from pyspark.sql import functions as F

    answers = F.sum(F.xxhash64("doc_id", "matches").cast("decimal(38,0)"))
    columns = F.count(F.lit(1)), F.sum(F.size("matches")), F.count("error"), answers
    (row,) = hits.agg(*columns).collect()
    return Found(*map(int, row))


def feeds(mappings: Mappings, size: Size, progress: Progress) -> tuple[list[Path], list[Path]]:
    """Parquet files of the documents in turns of their publishers, and of the images, in the same order."""
    digest = blake2b(f"{OPTIONS} {mappings.hash}".encode(), digest_size=6)
    for mapping in mappings:
        for body in _documents(mapping, 5):
            digest.update(body)
    cached = cache_folder() / f"catalogues-{digest.hexdigest()}-{size.documents}"
    cached.mkdir(parents=True, exist_ok=True)
    rows = size.documents * len(mappings)
    firsts = range(0, rows, PART)
    paths = [[cached / f"{kind}-{first:07}.parquet" for first in firsts] for kind in ("source", "image")]
    if not all(path.is_file() for path in (*paths[0], *paths[1])):
        turns = zip(*(_documents(mapping, size.documents) for mapping in mappings), strict=True)
        pairs = [(mapping, body) for turn in turns for mapping, body in zip(mappings, turn, strict=True)]
        for number, first in enumerate(firsts):
            progress(f"pipeline-mediation: {first:,} of {rows:,} documents rewritten")
            some = pairs[first : first + PART]
            ids = [f"{mapping.name}-{first + row:07}" for row, (mapping, _) in enumerate(some)]
            _write(paths[0][number], ids, [body for _, body in some])
            _write(paths[1][number], ids, [image_text(mapping.apply(read(body))) for mapping, body in some])
    return paths[0], paths[1]


def _documents(mapping: Mapping, count: int) -> Iterator[bytes]:
    return iter(generate_documents(read_dtd(CATALOGUES / f"{mapping.name}.dtd"), count, OPTIONS))


def _write(path: Path, ids: list[str], bodies: list[bytes]) -> None:
    part = path.with_suffix(f".{os.getpid()}")
    pq.write_table(pa.table({"doc_id": pa.array(ids), "body": pa.array(bodies, pa.binary())}), part)
    part.replace(path)


def _bytes(paths: list[Path]) -> int:
    bodies = (pq.read_table(path, columns=["body"]).column("body") for path in paths)
    return sum(len(body.as_buffer()) for column in bodies for body in column)


def image_text(image: Document) -> bytes:
    """An image of the catalogues as a document: elements, attributes and text, without namespaces."""

    def written(element: Element) -> str:
        attributes = "".join(f" {each.local}={quoteattr(each.value)}" for each in element.attributes)
        inside = "".join(
            written(child) if isinstance(child, Element) else escape(child.value)
            for child in element.children
            if isinstance(child, Element | Text)
        )
        return f"<{element.local}{attributes}>{inside}</{element.local}>"

    return written(image.root).encode()


def check(
    mappings: Mappings, texts: list[str], sources: list[Path], size: Size, progress: Progress
) -> list[str]:
    """Compare the index with the evaluator of one pattern on the rewritten tree, on some pairs."""
    progress("pipeline-mediation: checking answers")
    chosen = random.Random(SUBSCRIPTIONS_SEED).sample(
        range(len(texts)), min(size.checked_subscriptions, len(texts))
    )
    patterns = {number: parse(texts[number]) for number in chosen}
    index = Index(enumerate(texts))
    bodies = pq.read_table(sources[0]).column("body").to_pylist()[: size.checked * len(mappings)]
    wrong = []
    for body, mapping in zip(bodies, list(mappings) * size.checked, strict=True):
        found = set(index.match(body, rewriting=mapping).ids) & patterns.keys()
        image = mapping.apply(read(body))
        expected = {number for number, pattern in patterns.items() if matches(pattern, image)}
        if found != expected:
            wrong.append(f"{mapping.name}: {sorted(found ^ expected)[:5]} differ from the evaluator")
    return wrong

"""Matches an archive again, for new subscriptions: from its column of structures, and from its bodies.

    body        Parquet: doc_id, body, structure ─► workers parse and match ─► matches counted
    structure   the same files ─► workers match structures; bodies stay unread ─► matches counted
    delivering  the same; the bodies of documents that match are read and passed on
    alone       ``match_structures`` over doc_id and structure, which Spark reads

All ways match the same files against the same index file, in turns, and the best pass of each counts.  The
answer is checked for every document: a hash of its id and its matches.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.corpus import available, cache_folder, corpus
from benchmarks.files import folder
from benchmarks.results import Outcome, Progress
from benchmarks.sparking import glob, index_version, on_spark, require_spark
from benchmarks.workloads import KINDS, data
from twigcast import Index
from twigcast.workload import generate_subscriptions, infer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from twigcast.spark import IndexVersion

ROW_GROUP = 32
"""Large documents in a row group."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a run."""

    documents: int = 20_000
    subscriptions: int = 5_000
    large_documents: int = 1_000
    large_bytes: int = 1_100_000
    large_subscriptions: int = 1_000
    warming: int = 2
    passes: int = 7
    large_passes: int = 3


OFFICIAL = Size()


class Run(NamedTuple):
    """The name of a benchmark, its documents, and its passes before and while it is timed."""

    name: str
    documents: int
    warming: int
    passes: int


class Found(NamedTuple):
    """What all ways must agree on; ``digest`` is over the ids and matches of all documents."""

    documents: int
    matches: int
    errors: int
    digest: int


@cache
def lake(progress: Progress, size: Size = OFFICIAL) -> Outcome:
    """Documents of a few kilobytes: documents a second from structures, in times of those from bodies."""
    require_spark()
    source = available()
    version = index_version(source, "branching", size.subscriptions)
    paths = corpus(source, size.documents, progress)
    run = Run("lake", size.documents, size.warming, size.passes)
    return on_spark(measure, progress, {}, run, paths, version)


@cache
def large_lake(progress: Progress, size: Size = OFFICIAL) -> Outcome:
    """Documents of a megabyte with a regular structure: parts of a bibliography."""
    require_spark()
    whole = data("dblp/dblp.xml").read_bytes()
    texts = generate_subscriptions(infer([whole]), size.large_subscriptions, KINDS["branching"])
    index = Index((str(id), text) for id, text in enumerate(texts))
    paths = [_written(whole, size, progress)]

    from twigcast.spark import IndexVersion

    version = IndexVersion.save(folder() / "versions", "dblp-branching", index)
    run = Run("lake-large", size.large_documents, 1, size.large_passes)
    return on_spark(measure, progress, {}, run, paths, version)


def measure(
    spark: SparkSession,
    progress: Progress,
    run: Run,
    paths: list[Path],
    version: IndexVersion,
) -> Outcome:
    """Write the archive, and match it in all ways."""
    from twigcast import spark as tc

    name, documents = run.name, run.documents
    progress(f"{name}: writing structures")
    place = folder() / name
    tc.structures(tc.read(spark, glob(paths), format="parquet")).write.mode("overwrite").parquet(str(place))
    archive = tc.read(spark, str(place), format="parquet")
    column = "structure"
    ways: dict[str, Callable[[], DataFrame]] = {
        "structure": lambda: tc.match(archive, version, structure=column, bodies="failed"),
        "delivering": lambda: tc.match(archive, version, structure=column),
        "alone": lambda: tc.match_structures(archive.select("doc_id", column), version),
        "body": lambda: tc.match(archive, version),
    }
    best = dict.fromkeys(ways, math.inf)
    wrong: list[str] = []
    for number in range(1 - run.warming, run.passes + 1):
        found = {}
        for way, hits in ways.items():
            progress(f"{name}: {way}, {f'pass {number}' if number > 0 else 'warming'}")
            began = time.perf_counter()
            found[way] = counted(hits())
            if number > 0:
                best[way] = min(best[way], time.perf_counter() - began)
        expected = found["body"]
        for way, each in found.items():
            if each != expected or each.documents != documents or each.errors:
                wrong.append(f"{way}: {each}, but from bodies {expected}")
    stored, plain = column_bytes(place)
    speed = {way: documents / seconds for way, seconds in best.items()}
    return Outcome(
        {
            "of_bodies": speed["structure"] / speed["body"],
            "delivering_of_bodies": speed["delivering"] / speed["body"],
            "alone_of_bodies": speed["alone"] / speed["body"],
            "documents_per_second": speed["structure"],
            "documents_per_second_from_bodies": speed["body"],
            "matches_per_document": expected.matches / documents,
            "bytes_per_document": plain["body"] / documents,
            "structure_percent": 100 * plain[column] / plain["body"],
            "stored_structure_percent": 100 * stored[column] / stored["body"],
        },
        tuple(wrong),
    )


def counted(hits: DataFrame) -> Found:
    """Count documents, matches and errors, and add up the hashes of all answers."""
    from pyspark.sql import functions as F

    digest = F.sum(F.hash("doc_id", "matches").cast("long"))
    (row,) = hits.agg(F.count(F.lit(1)), F.sum(F.size("matches")), F.count("error"), digest).collect()
    return Found(*row)


def column_bytes(place: Path) -> tuple[dict[str, int], dict[str, int]]:
    """The bytes of each column of a folder of Parquet files: as they are stored, and uncompressed."""
    stored: dict[str, int] = {}
    plain: dict[str, int] = {}
    for path in place.glob("*.parquet"):
        metadata = pq.ParquetFile(path).metadata
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            for column in map(group.column, range(group.num_columns)):
                name = column.path_in_schema
                stored[name] = stored.get(name, 0) + column.total_compressed_size
                plain[name] = plain.get(name, 0) + column.total_uncompressed_size
    return stored, plain


def _written(whole: bytes, size: Size, progress: Progress) -> Path:
    """A Parquet file of large documents, which is kept between runs."""
    path = cache_folder() / f"dblp-{size.large_documents}-{size.large_bytes}" / "1.parquet"
    if not path.is_file():
        progress("lake-large: writing documents")
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        schema = pa.schema([("doc_id", pa.string()), ("body", pa.binary())])
        documents = large_documents(whole, size.large_documents, size.large_bytes)
        with pq.ParquetWriter(part, schema) as writer:
            for group in _groups(documents):
                ids = [f"{number:05}" for number, _ in group]
                table = pa.table({"doc_id": ids, "body": [body for _, body in group]}, schema)
                writer.write_table(table)
        part.replace(path)
    return path


def large_documents(whole: bytes, count: int, size: int) -> Iterator[bytes]:
    """Documents of at least ``size`` bytes, each with other records of the bibliography, in a circle."""
    content = whole.rstrip().removesuffix(b"</dblp>")
    head, *records = re.split(rb"^(?=<(?:in)?proceedings )", content, flags=re.MULTILINE)
    at = 0
    for _ in range(count):
        body, length = [head], 0
        while length < size:
            body.append(records[at % len(records)])
            length += len(body[-1])
            at += 1
        yield b"".join(body) + b"</dblp>"


def _groups(documents: Iterator[bytes]) -> Iterator[Sequence[tuple[int, bytes]]]:
    waiting = []
    for number, body in enumerate(documents):
        waiting.append((number, body))
        if len(waiting) == ROW_GROUP:
            yield waiting
            waiting = []
    if waiting:
        yield waiting

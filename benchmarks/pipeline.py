"""Compares the throughput of the pipeline with that of the kernel alone, in one run.

    pipeline   Parquet ─► workers ─► Arrow ─► Spark: documents and matches counted
    cached     a table that Spark has in memory ─► Arrow ─► workers ─► Arrow ─► Spark: the same
    threads    Arrow arrays of the same bytes in memory ─► two threads in plain Python ─► matches counted

All three match the same documents against the same index file, in batches of about the same number of
documents; each of the first two takes turns with the threads.  After some passes for warming up, the best
pass of each counts.  The difference is the cost of reading and of the transfer to the workers and back, with
the bodies, since a hit carries its document.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from benchmarks.corpus import available, bodies, corpus
from benchmarks.results import Outcome, Progress
from benchmarks.spark_rivals import Sample, by_lxml, by_xpath_boolean
from benchmarks.sparking import CORES, glob, index_version, on_spark, require_spark
from benchmarks.workloads import subscriptions
from twigcast import Index

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from twigcast.spark import IndexVersion


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a run."""

    documents: int = 50_000
    subscriptions: int = 10_000
    warming: int = 3
    """Passes before the first that counts: the JVM compiles for about a minute."""
    passes: int = 9
    """Timed passes; with only five, none may fall into a moment without other load."""
    partitions: int = 16
    """Partitions of the table in memory."""
    sample: int = 500
    """Documents for the rivals."""
    sample_passes: int = 5
    """How often the rivals are timed."""
    by_xpath: int = 20
    """Subscriptions for ``xpath_boolean``."""
    by_lxml: int = 2_000
    """Subscriptions for lxml: so many that the one parse of each document hardly counts."""


OFFICIAL = Size()


class Counts(NamedTuple):
    """The counts that all ways must agree on."""

    documents: int
    matches: int
    errors: int


@cache
def throughput(progress: Progress, size: Size = OFFICIAL) -> Outcome:
    """Documents a second: the pipeline on two cores, two threads, and the rivals on a sample."""
    require_spark()
    source = available()
    progress(f"pipeline-throughput: drawing subscriptions for {source} documents")
    texts = subscriptions(source, "branching", size.subscriptions)
    version = index_version(source, "branching", size.subscriptions)
    paths = corpus(source, size.documents, progress)
    return on_spark(measure, progress, {}, paths, version, texts, size)


def measure(
    spark: SparkSession,
    progress: Progress,
    paths: list[Path],
    version: IndexVersion,
    texts: Sequence[str],
    size: Size,
) -> Outcome:
    """The pipeline, the threads and the rivals, in one session."""
    from twigcast import spark as tc

    progress("pipeline-throughput: documents into memory")
    docs = tc.read(spark, glob(paths), format="parquet")
    arrays = list(bodies(paths))
    halves = in_halves(arrays, batch_rows(docs))
    index = version.open_index()
    threads = Way("threads", lambda: by_threads(index, halves))
    first = in_turns(progress, size, [Way("pipeline", lambda: by_pipeline(docs, version)), threads])
    kept = docs.repartition(size.partitions).persist()  # not before: it takes the heap that others use
    kept.count()
    second = in_turns(progress, size, [Way("cached", lambda: by_pipeline(kept, version)), threads])
    kept.unpersist()
    wrong = first.wrong + second.wrong
    speed = first.speed | {"cached": second.speed["cached"]}
    sample = Sample.of(pa.concat_arrays(arrays)[: size.sample], texts, index)
    progress(f"pipeline-throughput: xpath_boolean, {size.by_xpath} subscriptions on {len(sample)} documents")
    by_xpath = by_xpath_boolean(spark, sample, size.by_xpath, size.sample_passes)
    progress(f"pipeline-throughput: lxml, {size.by_lxml:,} subscriptions on {len(sample)} documents")
    of_lxml = by_lxml(spark, sample, size.by_lxml, size.sample_passes)
    return Outcome(
        {
            "of_threads": speed["pipeline"] / speed["threads"],
            "cached_of_threads": second.speed["cached"] / second.speed["threads"],
            "documents_per_second": speed["pipeline"],
            "documents_per_second_cached": speed["cached"],
            "documents_per_second_on_two": speed["threads"],
            "xpath_boolean_documents_per_second": by_xpath.documents_per_second,
            "lxml_documents_per_second": of_lxml.documents_per_second,
            "times_xpath_boolean": speed["pipeline"] / by_xpath.documents_per_second,
            "times_lxml": speed["pipeline"] / of_lxml.documents_per_second,
            "matches_per_document": first.found.matches / size.documents,
            "pairs_checked": by_xpath.pairs + of_lxml.pairs,
            "documents_per_batch": max(map(len, halves[0])),
        },
        (*wrong, *by_xpath.wrong, *of_lxml.wrong),
    )


class Way(NamedTuple):
    """A way to match all documents."""

    name: str
    run: Callable[[], Counts]


@dataclass(frozen=True, slots=True)
class Turns:
    """The counts of ways that took turns, their differences, and the speed of the best pass of each."""

    found: Counts
    wrong: list[str]
    speed: dict[str, float]


def in_turns(progress: Progress, size: Size, ways: Sequence[Way]) -> Turns:
    """Run the ways in turns; the others must agree with the last one."""
    best = {way.name: math.inf for way in ways}
    wrong: list[str] = []
    for number in range(1 - size.warming, size.passes + 1):
        counts = {}
        for way in ways:
            what = f"pass {number}" if number > 0 else "warming"
            progress(f"pipeline-throughput: {way.name} beside {ways[-1].name}, {what}")
            began = time.perf_counter()
            counts[way.name] = way.run()
            if number > 0:
                best[way.name] = min(best[way.name], time.perf_counter() - began)
        expected = counts[ways[-1].name]
        for name, found in counts.items():
            if found != expected or found.documents != size.documents or found.errors:
                wrong.append(f"{name}: {found}, but two threads found {expected}")
    return Turns(expected, wrong, {name: size.documents / seconds for name, seconds in best.items()})


def by_pipeline(docs: DataFrame, version: IndexVersion) -> Counts:
    """Match the documents on Spark, and count documents, matches and errors."""
    from pyspark.sql import functions as F

    from twigcast import spark as tc

    counted = F.count(F.lit(1)), F.sum(F.size("matches")), F.count("error")
    (row,) = tc.match(docs, version).agg(*counted).collect()
    return Counts(*row)


def by_threads(index: Index, halves: Sequence[Sequence[pa.Array]]) -> Counts:
    """The same with one thread for each half."""
    found: list[Counts] = []

    def run(batches: Sequence[pa.Array]) -> None:
        documents = matches = errors = 0
        for batch in batches:
            answer = index.match_batch(batch)
            documents += len(batch)
            matches += len(answer.matches.flatten())
            errors += answer.matches.null_count
        found.append(Counts(documents, matches, errors))

    threads = [threading.Thread(target=run, args=(batches,)) for batches in halves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Counts(*(sum(numbers) for numbers in zip(*found, strict=True)))


def in_halves(arrays: Sequence[pa.Array], rows: int) -> list[list[pa.Array]]:
    """The documents in batches of that many rows, half of the batches for each thread."""
    batches = [array[start : start + rows] for array in arrays for start in range(0, len(array), rows)]
    return [batches[number::CORES] for number in range(CORES)]


def batch_rows(docs: DataFrame) -> int:
    """How many documents Spark puts into a batch for its workers."""
    return int(docs.mapInArrow(_rows, "rows long").agg({"rows": "max"}).collect()[0][0])


def _rows(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"rows": pa.array([batch.num_rows], pa.int64())})

"""How time for each document and memory of each worker grow with the number of subscriptions.

The workers map the index file.  Whether they share it is read from /proc after a pass, while they are idle
and have it mapped: the proportional set size (PSS) of the mapping, summed over the workers, is at most the
size of the file if the file is in memory once.  The resident size of the mapping in one worker is reported
beside it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpus import available, corpus
from benchmarks.pipeline import by_pipeline
from benchmarks.processes import descendants, mapping_bytes, proportional_bytes, resident_bytes
from benchmarks.results import Outcome, Progress
from benchmarks.sparking import CORES, glob, index_version, on_spark, require_spark, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from twigcast.spark import IndexVersion

DOCUMENTS = 5_000
PASSES = 3


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that has the index mapped: its memory, and that of the mapping in it, in bytes."""

    resident: int
    proportional: int
    mapped: int
    mapped_proportionally: int


@cache
def growth(
    subscriptions: int, progress: Progress, documents: int = DOCUMENTS, passes: int = PASSES
) -> Outcome:
    """Match the documents against that many linear subscriptions."""
    require_spark()
    source = available()
    progress(f"pipeline-growth: an index of {subscriptions:,} subscriptions for {source} documents")
    version = index_version(source, "linear", subscriptions)
    paths = corpus(source, documents, progress)
    return on_spark(measure, progress, {}, paths, version, documents, passes)


def measure(
    spark: SparkSession,
    progress: Progress,
    paths: list[Path],
    version: IndexVersion,
    documents: int,
    passes: int,
) -> Outcome:
    """The first pass, with empty caches in the workers, and the best of the later passes."""
    from twigcast import spark as tc

    docs = tc.read(spark, glob(paths), format="parquet").repartition(4 * CORES).persist()
    docs.count()
    times: list[float] = []
    wrong: list[str] = []
    with watched() as memory:
        for number in range(passes + 1):
            progress(f"pipeline-growth: {len(version):,} subscriptions, pass {number + 1} of {passes + 1}")
            began = time.perf_counter()
            found = by_pipeline(docs, version)
            times.append(time.perf_counter() - began)
            if found.documents != documents or found.errors:
                wrong.append(f"{found.documents} of {documents} documents, {found.errors} of them errors")
    (file,) = version.paths
    workers = workers_with(file)
    if len(workers) < CORES:
        wrong.append(f"{len(workers)} workers have the index mapped, not {CORES}")
    size = file.stat().st_size
    return Outcome(
        {
            "microseconds_per_document": min(times[1:]) / documents * 1e6,
            "first_microseconds_per_document": times[0] / documents * 1e6,
            "matches_per_document": found.matches / documents,
            "worker_megabytes": _most([each.resident for each in workers]),
            "worker_peak_megabytes": memory.one_worker / 1e6,
            "worker_proportional_megabytes": _most([each.proportional for each in workers]),
            "file_megabytes": size / 1e6,
            "mapped_megabytes_each": _most([each.mapped for each in workers]),
            "mapped_proportional_megabytes": sum(each.mapped_proportionally for each in workers) / 1e6,
            "mapped_percent": 100 * sum(each.mapped_proportionally for each in workers) / size,
            "workers": len(workers),
        },
        tuple(wrong),
    )


def workers_with(file: Path) -> list[Worker]:
    """The processes below this one that have the file mapped."""
    found = []
    for pid in descendants(os.getpid()):
        try:
            mapping = mapping_bytes(file, pid)
        except OSError:  # gone
            continue
        if mapping.get("Rss"):
            found.append(Worker(resident_bytes(pid), proportional_bytes(pid), mapping["Rss"], mapping["Pss"]))
    return found


def _most(sizes: Sequence[int]) -> float:
    return max(sizes, default=0) / 1e6

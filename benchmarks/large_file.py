"""Sends one large file of records through the pipeline, whose memory must not grow with the file.

    file ─► read(records) ─► match ─► deliveries, with their bytes ─► counted

The file is one element with a few thousand generated documents, repeated.  The JVM has a heap smaller than
the file, and the memory of all processes is measured throughout.  The numbers of records and deliveries must
equal those that were written and those that the index alone finds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow as pa

from benchmarks.corpus import available, bodies, corpus
from benchmarks.results import Outcome, Progress
from benchmarks.sparking import Memory, index_version, on_spark, require_spark, watched
from benchmarks.workloads import schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from twigcast.spark import IndexVersion

HEAP = "768m"
SAY_EVERY = 5.0
"""Seconds between two progress messages."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a run."""

    bytes: int = 1_000_000_000
    distinct: int = 2_500
    subscriptions: int = 100
    """So few that a document goes to about two subscribers: the output is twice as large as the input."""


OFFICIAL = Size()


@dataclass(frozen=True, slots=True)
class Written:
    """A file of records: how many, and how often each document is among them."""

    path: Path
    bytes: int
    repeats: Sequence[int]

    @property
    def records(self) -> int:
        return sum(self.repeats)


@cache
def large_file(progress: Progress, size: Size = OFFICIAL) -> Outcome:
    """Write a file of generated records, send it through the pipeline, and count the deliveries."""
    require_spark()
    source = available()
    progress(f"pipeline-records: drawing subscriptions for {source} documents")
    version = index_version(source, "branching", size.subscriptions)
    documents = pa.concat_arrays(list(bodies(corpus(source, size.distinct, progress))))
    root = schema(source)[0].root
    with TemporaryDirectory(prefix="twigcast-bench-") as folder:
        progress(f"pipeline-records: writing {size.bytes / 1e6:,.0f} MB of records")
        written = write_records(Path(folder) / "records.xml", documents.to_pylist(), size.bytes)
        matches = version.open_index().match_batch(documents).matches
        deliveries = sum(
            times * found
            for times, found in zip(written.repeats, matches.value_lengths().to_pylist(), strict=True)
        )
        conf = {"spark.driver.memory": HEAP}
        return on_spark(measure, progress, conf, written, root, version, deliveries)


def write_records(path: Path, documents: Sequence[bytes], size: int) -> Written:
    """Write the documents into one element, repeated until the file has that size."""
    repeats = [0] * len(documents)
    with path.open("wb") as file:
        total = file.write(b"<records>\n")
        for number, body in cycle(enumerate(documents)):
            if total >= size:
                break
            total += file.write(body)
            repeats[number] += 1
        total += file.write(b"</records>\n")
    return Written(path, total, repeats)


def measure(
    spark: SparkSession,
    progress: Progress,
    written: Written,
    record: str,
    version: IndexVersion,
    deliveries: int,
) -> Outcome:
    """Send the file through the pipeline and measure the memory."""
    from pyspark.sql import Observation

    from twigcast import spark as tc

    tracker = spark.sparkContext.statusTracker()
    began = said = time.perf_counter()

    def say(memory: Memory) -> None:
        nonlocal said
        now = time.perf_counter()
        if now - said < SAY_EVERY:
            return
        said = now
        stages = [
            info for id in tracker.getActiveStageIds() if (info := tracker.getStageInfo(id)) is not None
        ]
        tasks = ", ".join(f"{each.numCompletedTasks} of {each.numTasks} tasks" for each in stages)
        progress(f"pipeline-records: {now - began:.0f} s, {tasks}, {memory.now / 1e6:,.0f} MB of memory")

    with watched(say) as memory:
        docs = tc.read(spark, str(written.path), format="records", options={"record": record})
        seen = Observation("records")
        hits = tc.match(docs, version).observe(seen, *tc.measures())
        delivered = tc.deliveries(hits, version).count()
        seconds = time.perf_counter() - began
    counted = seen.get
    wrong = []
    if counted["documents"] != written.records or counted["errors"]:
        found = f"{counted['documents']:,} records, {counted['errors']:,} of them errors"
        wrong.append(f"{found}, but {written.records:,} were written")
    if delivered != deliveries:
        wrong.append(f"{delivered:,} deliveries, but the index alone finds {deliveries:,}")
    return Outcome(
        {
            "peak_megabytes": memory.total / 1e6,
            "driver_megabytes": memory.driver / 1e6,
            "jvm_megabytes": memory.jvm / 1e6,
            "workers_megabytes": memory.workers / 1e6,
            "worker_peak_megabytes": memory.one_worker / 1e6,
            "seconds": seconds,
            "megabytes_per_second": written.bytes / 1e6 / seconds,
            "file_megabytes": written.bytes / 1e6,
            "records": counted["documents"],
            "deliveries": delivered,
        },
        tuple(wrong),
    )

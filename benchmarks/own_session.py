"""The throughput of a Spark session that a user made, beside that of a session of twigcast.

    twigcast   twigcast.spark.session: batch sizes, worker daemon, sockets and logging are set
    plain      SparkSession.builder.master("local[2]").getOrCreate(), with no setting at all

Both match the same Parquet files of documents against the same subscriptions.  They take turns, each in a
process of its own, because a process has one session; the best pass of each counts.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpus import available, corpus
from benchmarks.pipeline import OFFICIAL, Counts, Size, by_pipeline
from benchmarks.results import Outcome, Progress
from benchmarks.sparking import glob, index_version, on_plain_spark, on_spark, require_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from twigcast.spark import IndexVersion

TURNS = 2


@cache
def own_session(progress: Progress, size: Size = OFFICIAL) -> Outcome:
    """Documents a second in a plain session, as a part of those in a session of twigcast."""
    require_spark()
    source = available()
    version = index_version(source, "branching", size.subscriptions)
    paths = corpus(source, size.documents, progress)
    best = {"twigcast": 0.0, "plain": 0.0}
    found: dict[str, Counts] = {}
    for turn in range(1, TURNS + 1):
        for name, run in (("twigcast", on_spark), ("plain", on_plain_spark)):
            progress(f"pipeline-own-session: {name} session, turn {turn}")
            counts, speed = run(measure, progress, {}, paths, version, size)
            best[name] = max(best[name], speed)
            found[name] = counts
    wrong = () if found["plain"] == found["twigcast"] else (f"the sessions disagree: {found}",)
    return Outcome(
        {
            "of_ours": best["plain"] / best["twigcast"],
            "documents_per_second_plain": best["plain"],
            "documents_per_second_ours": best["twigcast"],
        },
        wrong,
    )


def measure(
    spark: SparkSession, progress: Progress, paths: list[Path], version: IndexVersion, size: Size
) -> tuple[Counts, float]:
    """What was found, and the documents a second of the best pass."""
    from twigcast import spark as tc

    docs = tc.read(spark, glob(paths), format="parquet")
    seconds = []
    for number in range(size.warming + size.passes):
        progress(f"pipeline-own-session: pass {number + 1} of {size.warming + size.passes}")
        began = time.perf_counter()
        counts = by_pipeline(docs, version)
        seconds.append(time.perf_counter() - began)
    return counts, size.documents / min(seconds[size.warming :])

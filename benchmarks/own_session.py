"""The throughput of a Spark session that a user made, beside that of a session of twigcast.

    twigcast   twigcast.spark.session: batch sizes, worker daemon, sockets and logging are set
    plain      SparkSession.builder.master("local[2]").getOrCreate(), with no setting at all

Both match the same documents against the same subscriptions: Parquet files of many documents, or a directory
of small files.  They take turns, each in a process of its own, because a process has one session; the best
pass of each counts.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpus import available, corpus
from benchmarks.files import folder
from benchmarks.pipeline import OFFICIAL, Counts, Size, by_pipeline
from benchmarks.results import Outcome, Progress
from benchmarks.sparking import glob, index_version, on_plain_spark, on_spark, require_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from twigcast.spark import IndexVersion

TURNS = 2


SMALL_FILES = Size(documents=5000, subscriptions=1000, warming=2, passes=5)


@cache
def own_session(progress: Progress, size: Size = OFFICIAL) -> Outcome:
    """Documents a second from Parquet in a plain session, as a part of those in a session of twigcast."""
    require_spark()
    source = available()
    paths = corpus(source, size.documents, progress)
    best, wrong = _in_both("pipeline-own-session", progress, glob(paths), "parquet", {}, source, size)
    return Outcome(
        {
            "of_ours": best["plain"] / best["twigcast"],
            "documents_per_second_plain": best["plain"],
            "documents_per_second_ours": best["twigcast"],
        },
        wrong,
    )


@cache
def small_files(progress: Progress, size: Size = SMALL_FILES) -> Outcome:
    """The time of a directory of small files in a plain session, divided by that in a session of twigcast.

    twigcast lists a local directory itself; ``recursiveFileLookup`` is an option with which Spark lists it.
    """
    require_spark()
    source = available()
    directory = str(_directory(corpus(source, size.documents, progress), size.documents))
    figures: dict[str, float] = {}
    wrong: tuple[str, ...] = ()
    for by, options in (("listed_here", {}), ("listed_by_spark", {"recursiveFileLookup": "false"})):
        best, faults = _in_both(
            "pipeline-small-files", progress, directory, "binaryFile", options, source, size
        )
        figures[f"times_ours_{by}"] = best["twigcast"] / best["plain"]
        figures |= {f"documents_per_second_{name}_{by}": speed for name, speed in best.items()}
        wrong += faults
    figures["times_ours"] = max(figures["times_ours_listed_here"], figures["times_ours_listed_by_spark"])
    return Outcome(figures, wrong)


def _directory(paths: list[Path], count: int) -> Path:
    """Documents of Parquet files as files of one directory, each of a few kilobytes."""
    from pyarrow import parquet

    made = folder() / f"small-files-{count}"
    if not made.exists():
        made.mkdir()
        bodies = (body for path in paths for body in parquet.read_table(path).column("body").to_pylist())
        for number, body in zip(range(count), bodies, strict=False):
            (made / f"{number}.xml").write_bytes(body)
    return made


def _in_both(
    benchmark: str,
    progress: Progress,
    path: str,
    format: str,
    options: dict[str, str],
    source: str,
    size: Size,
) -> tuple[dict[str, float], tuple[str, ...]]:
    """The documents a second in each of the two sessions, and whether their answers differ."""
    version = index_version(source, "branching", size.subscriptions)
    best = {"twigcast": 0.0, "plain": 0.0}
    found: dict[str, Counts] = {}
    for turn in range(1, TURNS + 1):
        for name, run in (("twigcast", on_spark), ("plain", on_plain_spark)):
            progress(f"{benchmark}: {name} session, turn {turn}")
            counts, speed = run(measure, progress, {}, path, format, options, version, size)
            best[name] = max(best[name], speed)
            found[name] = counts
    agree = found["plain"] == found["twigcast"] and found["plain"].documents == size.documents
    return best, () if agree else (f"the sessions disagree, or documents are missing: {found}",)


def measure(
    spark: SparkSession,
    progress: Progress,
    path: str,
    format: str,
    options: dict[str, str],
    version: IndexVersion,
    size: Size,
) -> tuple[Counts, float]:
    """What was found, and the documents a second of the best pass, listing included."""
    from twigcast import spark as tc

    seconds = []
    for number in range(size.warming + size.passes):
        progress(f"pass {number + 1} of {size.warming + size.passes}")
        began = time.perf_counter()
        counts = by_pipeline(tc.read(spark, path, format=format, options=options), version)
        seconds.append(time.perf_counter() - began)
    return counts, size.documents / min(seconds[size.warming :])

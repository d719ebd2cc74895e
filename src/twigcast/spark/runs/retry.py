"""Runs dead letters through a pipeline again, as a batch of their own.

    1   write the list of letters          has no effect before step 2
    2   write the entry of the journal     now the letters are settled; retries are numbered -1, -2, …
    3   run the batch                      like any other: sinks, dead letters, metrics
    4   mark it as finished

If a retry is interrupted after step 2, the next retry finishes it first, with the same letters and the same
index version; if it is interrupted before, it has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.columns import CARRIED, ERROR, ONLY
from twigcast.spark.jvm.lock import lock
from twigcast.spark.jvm.workers import prepare_workers
from twigcast.spark.outputs.batch_folders import write_batch
from twigcast.spark.outputs.dead_letters import (
    letters_of_retry,
    open_letters,
    settled_path,
    with_unpacked_columns,
)
from twigcast.spark.outputs.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.batch import RunState, run_batch
from twigcast.spark.sources.whole_files import document
from twigcast.system import Links


def retry(
    spark: SparkSession,
    pipeline: Pipeline,
    select: str | Column | None = None,
    *,
    on_batch: Callable[[BatchMetrics], None] | None = None,
) -> list[BatchMetrics]:
    """Run open dead letters again; returns the metrics of the retries, an empty list if no letter was open.

    ``select`` is a condition on their columns, such as ``code = 'too-large'``.  Files that were too large or
    could not be opened are read again; other letters without a body, such as broken archives, stay open.
    """
    prepare_workers(spark)
    lock(spark, pipeline.work.path / "retry.lock")
    state = RunState.of(spark, pipeline)
    begun = [batch for batch in state.journal.batches() if batch < 0]
    done = [
        _finish(spark, state, batch, on_batch)
        for batch in reversed(begun)
        if not state.journal.is_finished(batch)
    ]
    batch = min(begun, default=0) - 1
    if _take(spark, pipeline, select, batch):
        state.begin(batch)
        done.append(_finish(spark, state, batch, on_batch))
    return done


def _take(spark: SparkSession, pipeline: Pipeline, select: str | Column | None, batch: int) -> bool:
    """Write the list of letters that the retry takes; false if there are none."""
    letters = open_letters(spark, pipeline).where(F.col("body").isNotNull() | _is_file(pipeline))
    if pipeline.source.kind in ("fragments", "huge", "chunks"):
        letters = letters.limit(0)
    if select is not None:
        letters = letters.where(select)
    taken = letters.select(F.col("batch").alias("letter_batch"), "doc_id").distinct()
    write_batch(taken.coalesce(1), settled_path(pipeline), batch)
    return not letters_of_retry(spark, pipeline, batch).isEmpty()


def _finish(
    spark: SparkSession, state: RunState, batch: int, on_batch: Callable[[BatchMetrics], None] | None
) -> BatchMetrics:
    letters = letters_of_retry(spark, state.pipeline, batch).withColumnsRenamed(
        {"subscription": ONLY.name, "columns": CARRIED.name}
    )
    again = letters.where(F.col("body").isNotNull()).withColumn("error", F.lit(None).cast(ERROR))
    unread = letters.where(F.col("body").isNull()).withColumn("error", F.struct(*ERROR.names))
    again, unread = again.select(*_DOCUMENTS), unread.select(*_DOCUMENTS)
    limits, links = state.pipeline.limits, state.pipeline.source.links
    reread = unread.mapInArrow(partial(_read_again, limit=limits.bytes, links=links), again.schema)
    documents = with_unpacked_columns(again.unionByName(reread), state.pipeline.deliveries.columns)
    metrics = run_batch(state, documents.drop("batch"), batch)
    state.journal.finish(batch)
    if on_batch is not None:
        on_batch(metrics)
    return metrics


_DOCUMENTS = ("doc_id", "body", "prolog", "error", "publisher", "mapping", ONLY.name, CARRIED.name, "batch")


def _is_file(pipeline: Pipeline) -> Column:
    """Whether a letter is a file that was not read, because it was too large or unreadable."""
    return F.lit(pipeline.source.kind == "directory") & F.col("code").isin("too-large", "unreadable")


def _read_again(batches: Iterator[Any], *, limit: int, links: Links) -> Iterator[Any]:
    """Read the files of letters without a body, one at a time; a letter keeps its error if that fails."""
    for batch in batches:
        for row in batch.to_pylist():
            _, body, _, error = document(row["doc_id"], 0, None, limit, links)
            if error is None:
                row |= {"body": body, "error": None}
            yield pa.RecordBatch.from_pylist([row], schema=batch.schema)

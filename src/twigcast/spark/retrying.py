"""Dead letters through the pipeline again, as a batch of their own.

    1   which letters are taken up     written, but void until
    2   the journal's entry            from here on they are settled, and the retry has a number: -1, -2, …
    3   the batch                      like any other: sinks, dead letters, metrics
    4   done

A retry that was cut off after 2 is finished by the next one before anything else, with the same letters and
the same index version; one that was cut off before has not happened.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.batches import Desk, run_batch
from twigcast.spark.letters import letters_of_retry, open_letters, settled_path
from twigcast.spark.locking import lock
from twigcast.spark.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.sinks import write_batch


def retry(
    spark: SparkSession,
    pipeline: Pipeline,
    select: str | Column | None = None,
    *,
    on_batch: Callable[[BatchMetrics], None] | None = None,
) -> list[BatchMetrics]:
    """Run open dead letters again; the figures of the retries that were run, none where no letter was open.

    ``select`` is a condition on their columns, such as ``code = 'too-large'``.  Letters without a body, of
    archives that could not be opened, stay open: there is nothing to run.
    """
    lock(spark, pipeline.work.path / "retry.lock")
    desk = Desk.of(spark, pipeline)
    begun = [batch for batch in desk.journal.batches() if batch < 0]
    done = [
        _finished(spark, desk, batch, on_batch)
        for batch in reversed(begun)
        if not desk.journal.is_finished(batch)
    ]
    batch = min(begun, default=0) - 1
    if _take_up(spark, pipeline, select, batch):
        desk.journal.begin(batch, desk.versions.newest())
        done.append(_finished(spark, desk, batch, on_batch))
    return done


def _take_up(spark: SparkSession, pipeline: Pipeline, select: str | Column | None, batch: int) -> bool:
    """Write which letters the retry is of; false where there are none."""
    letters = open_letters(spark, pipeline).where(F.col("body").isNotNull())
    if select is not None:
        letters = letters.where(select)
    taken = letters.select(F.col("batch").alias("letter_batch"), "doc_id").distinct()
    write_batch(taken.coalesce(1), settled_path(pipeline), batch)
    return not letters_of_retry(spark, pipeline, batch).isEmpty()


def _finished(
    spark: SparkSession, desk: Desk, batch: int, on_batch: Callable[[BatchMetrics], None] | None
) -> BatchMetrics:
    documents = letters_of_retry(spark, desk.pipeline, batch).select("doc_id", "body", "prolog")
    metrics = run_batch(desk, documents, batch)
    desk.journal.finish(batch)
    if on_batch is not None:
        on_batch(metrics)
    return metrics

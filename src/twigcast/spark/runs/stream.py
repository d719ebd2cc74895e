"""The pipeline as a query of Structured Streaming: each micro-batch is a batch, numbered by Spark.

Spark writes down which documents a batch has before it runs it, and runs it again with the same ones after a
kill; the journal does the same for the subscriptions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from twigcast.errors import PipelineError, RunError, StageError, TwigcastError
from twigcast.spark.jvm.filesystem import exists
from twigcast.spark.jvm.lock import lock
from twigcast.spark.outputs.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.batch import Desk, run_batch
from twigcast.spark.runs.failures import PipelineQuery, hold_back_log, release_log
from twigcast.spark.sources.pipeline_source import Request

OnBatch = Callable[[BatchMetrics], None]


def stream(spark: SparkSession, pipeline: Pipeline, *, on_batch: OnBatch | None = None) -> StreamingQuery:
    """Start the pipeline; it runs until the query is stopped, and goes on where it was when started again.

    ``on_batch`` is called with the figures of each batch that is done.
    Raises ``PipelineError`` where the source can be read as a batch only, and ``SourceError`` where the
    subscription table is not there.
    """
    try:
        return start(spark, pipeline, on_batch, processingTime=f"{pipeline.stream.interval_seconds} seconds")
    except StageError as error:
        if error.code != "no-stream":
            raise
        key = "source.table" if pipeline.source.table else "source.format"
        expected = "expected a source that can be a stream, or a run that ends (twigcast run --once, tc.run)"
        raise PipelineError(f"{key}: {error.message}: {expected}", key=key) from error


def start(
    spark: SparkSession, pipeline: Pipeline, on_batch: OnBatch | None, **trigger: Any
) -> StreamingQuery:
    """Start the pipeline with a trigger of Spark."""
    source = Request.of(pipeline)
    found = source.stream(spark)
    desk = take_desk(spark, pipeline)
    if desk.journal.is_finished(0):
        raise RunError(f"{pipeline.work.path} is the work folder of a source that is no stream: name another")

    failures: list[TwigcastError] = []
    release_log(spark)

    def run_each(some: DataFrame, batch: int) -> None:
        documents = source.documents(spark, some)
        try:
            metrics = run_batch(desk, documents, batch)
        except TwigcastError as error:
            failures.append(error)
            hold_back_log(spark)
            raise
        if on_batch is not None:
            on_batch(metrics)

    query = found.writeStream.foreachBatch(run_each).option("checkpointLocation", pipeline.work.checkpoint)
    return PipelineQuery(query.trigger(**trigger).start(), failures)


def take_desk(spark: SparkSession, pipeline: Pipeline) -> Desk:
    """The desk of a pipeline that no other process works on from now on, and whose outputs are its own."""
    lock(spark, pipeline.work.path / "stream.lock")
    desk = Desk.of(spark, pipeline)
    _refuse_foreign_batches(spark, desk)
    return desk


def _refuse_foreign_batches(spark: SparkSession, desk: Desk) -> None:
    """Batches are numbered by the work folder: a new one would overwrite what an earlier one delivered."""
    if any(batch >= 0 for batch in desk.journal.batches()):
        return
    pipeline = desk.pipeline
    outputs = [sink.path for sink in pipeline.sink if sink.kind in ("format", "jsonl") and sink.path]
    for path in [*outputs, pipeline.dead_letters.path, pipeline.metrics.path]:
        if exists(spark, f"{path.rstrip('/')}/batch=[0-9]*"):
            raise RunError(
                f"{path} has batches of another work folder than {pipeline.work.path}, which this run would"
                " overwrite: name that work folder, or other folders for the outputs"
            )

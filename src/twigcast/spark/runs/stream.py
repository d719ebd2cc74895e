"""Runs a pipeline as a query of Structured Streaming, in micro-batches that Spark numbers.

Spark's checkpoint stores which documents a batch has before the batch is run, so that after a kill it is run
again with the same documents; the journal does the same for the index version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from twigcast.errors import PipelineError, RunError, StageError, TwigcastError
from twigcast.spark.jvm.errors import JvmError
from twigcast.spark.jvm.filesystem import exists
from twigcast.spark.jvm.lock import lock
from twigcast.spark.jvm.stream_log import restore_stream_log, silence_stream_log
from twigcast.spark.jvm.workers import prepare_workers
from twigcast.spark.outputs.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.awaited_query import AwaitedQuery, awaits_documents
from twigcast.spark.runs.batch import RunState, run_batch
from twigcast.spark.runs.pipeline_query import PipelineQuery, as_run_error
from twigcast.spark.sources.pipeline_source import pipeline_source

OnBatch = Callable[[BatchMetrics], None]


def stream(spark: SparkSession, pipeline: Pipeline, *, on_batch: OnBatch | None = None) -> PipelineQuery:
    """Start a pipeline that runs until the query is stopped, and then continues there when started again.

    ``on_batch`` is called with the metrics of each finished batch.
    A site to which another pipeline has sent no document yet writes its plan, and waits for the first one.
    Raises ``PipelineError`` if the source can be read as a batch only, and ``SourceError`` if there is no
    subscription store.
    """
    if awaits_documents(spark, pipeline):
        state = open_site(spark, pipeline)
        return AwaitedQuery(spark, state, lambda: _start_stream(spark, pipeline, on_batch))
    return _start_stream(spark, pipeline, on_batch)


def _start_stream(spark: SparkSession, pipeline: Pipeline, on_batch: OnBatch | None) -> PipelineQuery:
    try:
        return start_query(
            spark, pipeline, on_batch, processingTime=f"{pipeline.stream.interval_seconds} seconds"
        )
    except StageError as error:
        if error.code != "no-stream":
            raise
        key = "source.table" if pipeline.source.table else "source.format"
        expected = "expected a source that can be a stream, or a run that ends (without --stream, or tc.run)"
        raise PipelineError(f"{key}: {error.message}: {expected}", key=key) from error


def start_query(
    spark: SparkSession, pipeline: Pipeline, on_batch: OnBatch | None, **trigger: Any
) -> PipelineQuery:
    """Start the query of a pipeline with a trigger of Spark; raises a ``TwigcastError`` of one sentence."""
    try:
        return _started(spark, pipeline, on_batch, trigger)
    except (PySparkException, JvmError, OSError) as error:
        raise as_run_error(error) from error


def _started(
    spark: SparkSession, pipeline: Pipeline, on_batch: OnBatch | None, trigger: dict[str, Any]
) -> PipelineQuery:
    prepare_workers(spark)
    source = pipeline_source(pipeline)
    places = source.stream(spark, pipeline.work.path)
    state = open_run(spark, pipeline)
    if state.journal.is_finished(0):
        raise RunError(
            f"{pipeline.work.path} is the work folder of a source that cannot be a stream: "
            "use another work folder"
        )
    _refuse_lost_checkpoint(spark, state)

    failures: list[TwigcastError] = []
    restore_stream_log(spark)

    def run_each(batch: DataFrame, number: int) -> None:
        try:
            metrics = run_batch(state, source.open(places.places(batch, number)), number)
        except Exception as error:  # Spark would log it at length, and lose its type
            failure = as_run_error(error)
            failure.__cause__ = None if failure is error else error
            failures.append(failure)
            silence_stream_log(spark)
            raise
        if on_batch is not None:
            on_batch(metrics)

    places.look()
    writer = places.frame.writeStream.foreachBatch(run_each)
    writer = writer.option("checkpointLocation", pipeline.work.checkpoint).trigger(**trigger)

    def look() -> bool:
        state.write_plan()
        return places.look()

    query = PipelineQuery(writer.start(), failures, look)
    if "availableNow" not in trigger:
        query.keep_looking(pipeline.stream.interval_seconds / 2)
    return query


def open_site(spark: SparkSession, pipeline: Pipeline) -> RunState:
    """Open the state of a site that has no documents yet, which writes its plan; raises as a query does."""
    try:
        return open_run(spark, pipeline)
    except (PySparkException, JvmError, OSError) as error:
        raise as_run_error(error) from error


def open_run(spark: SparkSession, pipeline: Pipeline) -> RunState:
    """Lock the work folder of a pipeline and open its state.

    Raises ``RunError`` if another process holds the lock, or if the outputs belong to another work folder.
    """
    lock(spark, pipeline.work.path / "stream.lock")
    state = RunState.of(spark, pipeline)
    _refuse_foreign_batches(spark, state)
    return state


def _refuse_lost_checkpoint(spark: SparkSession, state: RunState) -> None:
    """Raise if batches were begun and Spark does not know their documents any more.

    It would number batches from 0 again, with other documents, and replace some outputs and double others.
    """
    checkpoint = state.pipeline.work.checkpoint
    last = max(state.journal.batches(), default=-1)
    if last >= 0 and not exists(spark, checkpoint, "offsets"):
        raise RunError(
            f"{checkpoint} is gone or incomplete, and the journal has batches up to {last}: restore this "
            "folder, or begin anew with another work folder and other outputs, which get all documents again"
        )


def _refuse_foreign_batches(spark: SparkSession, state: RunState) -> None:
    """Raise if the outputs belong to another work folder.

    Each work folder numbers its batches from 0, so batches of a new one would overwrite earlier outputs.
    """
    if any(batch >= 0 for batch in state.journal.batches()):
        return
    pipeline = state.pipeline
    outputs = [sink.path for sink in pipeline.sink if sink.kind in ("format", "jsonl") and sink.path]
    if pipeline.network is not None:
        outputs += [str(each.to) for each in pipeline.network.remote.values()]
    for path in [*outputs, pipeline.dead_letters.path, pipeline.metrics.path]:
        if exists(spark, path, "batch=[0-9]*"):
            raise RunError(
                f"{path} has batches of another work folder than {pipeline.work.path}, which this run would"
                " overwrite: use that work folder, or other folders for the outputs"
            )

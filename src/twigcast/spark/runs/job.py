"""The pipeline as a job: the documents that are there, and then it ends.

A source that can be a stream is run as one, in batches, until nothing more is there: documents that an
earlier run took are not run again.  Any other, such as a table of a database, does not say what is new in it;
each run takes the whole of it, as one batch.
"""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from twigcast.errors import RunError, StageError
from twigcast.spark.jvm.filesystem import exists
from twigcast.spark.outputs.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.batch import run_batch
from twigcast.spark.runs.stream import OnBatch, start, take_desk
from twigcast.spark.sources.pipeline_source import Request


def run(spark: SparkSession, pipeline: Pipeline, on_batch: OnBatch | None = None) -> list[BatchMetrics]:
    """Run the pipeline on the documents that are there and were not run yet; the figures of its batches.

    Of a source that is no stream, all documents are run each time.
    """
    done: list[BatchMetrics] = []

    def note(metrics: BatchMetrics) -> None:
        done.append(metrics)
        if on_batch is not None:
            on_batch(metrics)

    query = begin(spark, pipeline, note)
    if query is not None:
        try:
            query.awaitTermination()
        finally:
            query.stop()
    return done


def begin(spark: SparkSession, pipeline: Pipeline, on_batch: OnBatch) -> StreamingQuery | None:
    """Start such a run, as a query to wait for; none where the source is no stream, and the run is over."""
    try:
        return start(spark, pipeline, on_batch, availableNow=True)
    except StageError as error:
        if error.code != "no-stream":
            raise
    on_batch(_run_whole(spark, pipeline))
    return None


def _run_whole(spark: SparkSession, pipeline: Pipeline) -> BatchMetrics:
    """All documents as one batch: the next, or again the last where that was cut off."""
    documents = Request.of(pipeline).batch(spark)
    desk = take_desk(spark, pipeline)
    if exists(spark, f"{pipeline.work.checkpoint.rstrip('/')}/offsets/[0-9]*"):
        raise RunError(
            f"{pipeline.work.path} is the work folder of a stream, and the source is none: name another"
        )
    last = max([-1, *desk.journal.batches()])
    batch = last if last >= 0 and not desk.journal.is_finished(last) else last + 1
    metrics = run_batch(desk, documents, batch)
    desk.journal.finish(batch)
    return metrics

"""Runs a pipeline on the documents that exist now, and then ends.

A source that can be a stream is read as a stream, in batches, until no document is left: documents of an
earlier run are not processed again.  Any other source, such as a table of a database, does not say which rows
are new; each run processes all of it, as one batch.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from twigcast.errors import RunError, StageError
from twigcast.spark.jvm.filesystem import exists
from twigcast.spark.outputs.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.awaited_query import awaits_documents
from twigcast.spark.runs.batch import run_batch
from twigcast.spark.runs.pipeline_query import PipelineQuery, as_run_error
from twigcast.spark.runs.stream import OnBatch, open_run, open_site, start_query
from twigcast.spark.sources.pipeline_source import pipeline_source


def run(spark: SparkSession, pipeline: Pipeline, on_batch: OnBatch | None = None) -> list[BatchMetrics]:
    """Run a pipeline on the documents that no earlier run has processed; returns the metrics of its batches.

    If the source is no stream, each run processes all its documents.
    ``on_batch`` is called with the metrics of each finished batch.
    """
    done: list[BatchMetrics] = []

    def note(metrics: BatchMetrics) -> None:
        done.append(metrics)
        if on_batch is not None:
            on_batch(metrics)

    query = start_run(spark, pipeline, note)
    if query is not None:
        try:
            query.awaitTermination()
        finally:
            query.stop()
    return done


def start_run(spark: SparkSession, pipeline: Pipeline, on_batch: OnBatch) -> PipelineQuery | None:
    """Start what ``run`` does, and return the query to wait for.

    If the source is no stream, the batch is run at once, and the result is none.  A site to which another
    pipeline has sent no document yet only writes its plan, and the result is none as well.
    """
    if awaits_documents(spark, pipeline):
        open_site(spark, pipeline)
        return None
    try:
        return start_query(spark, pipeline, on_batch, availableNow=True)
    except StageError as error:
        if error.code != "no-stream":
            raise
    on_batch(_run_whole(spark, pipeline))
    return None


def _run_whole(spark: SparkSession, pipeline: Pipeline) -> BatchMetrics:
    """Run all documents as one batch: the next one, or the last one again if it was interrupted."""
    source = pipeline_source(pipeline)
    documents = source.open(source.list(spark, streaming=False))
    state = open_run(spark, pipeline)
    if exists(spark, pipeline.work.checkpoint):  # only a stream has one
        raise RunError(
            f"{pipeline.work.path} is the work folder of a stream, but this source cannot be a stream: "
            "use another work folder"
        )
    last = max([-1, *state.journal.batches()])
    batch = last if last >= 0 and not state.journal.is_finished(last) else last + 1
    try:
        metrics = run_batch(state, documents, batch, ends=True)
        state.journal.finish(batch)
    except Exception as error:
        raise as_run_error(error) from error
    return metrics

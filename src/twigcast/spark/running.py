"""The pipeline as a job: all documents that are there, in batches, and then it ends."""

from __future__ import annotations

from pyspark.sql import SparkSession

from twigcast.spark.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.streaming import OnBatch, start


def run(spark: SparkSession, pipeline: Pipeline, on_batch: OnBatch | None = None) -> list[BatchMetrics]:
    """Run the pipeline on the documents that are there and were not run yet; the figures of its batches."""
    done: list[BatchMetrics] = []

    def note(metrics: BatchMetrics) -> None:
        done.append(metrics)
        if on_batch is not None:
            on_batch(metrics)

    query = start(spark, pipeline, note, availableNow=True)
    try:
        query.awaitTermination()
    finally:
        query.stop()
    return done

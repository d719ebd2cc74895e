"""The pipeline as a query of Structured Streaming: each micro-batch is a batch, numbered by Spark.

Spark writes down which documents a batch has before it runs it, and runs it again with the same ones after a
kill; the journal does the same for the subscriptions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from twigcast.errors import RunError
from twigcast.spark.batches import Desk, run_batch
from twigcast.spark.locking import lock
from twigcast.spark.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline, Source
from twigcast.spark.reading import read

FOREVER = "36500d"
BATCH_BYTES = str(512 << 20)

OnBatch = Callable[[BatchMetrics], None]


def stream(spark: SparkSession, pipeline: Pipeline, *, on_batch: OnBatch | None = None) -> StreamingQuery:
    """Start the pipeline; it runs until the query is stopped, and goes on where it was when started again.

    ``on_batch`` is called with the figures of each batch that is done.
    """
    return start(spark, pipeline, on_batch, processingTime=f"{pipeline.stream.interval_seconds} seconds")


def start(
    spark: SparkSession, pipeline: Pipeline, on_batch: OnBatch | None, **trigger: Any
) -> StreamingQuery:
    """Start the pipeline with a trigger of Spark."""
    lock(spark, pipeline.work.path / "stream.lock")
    desk = Desk.of(spark, pipeline)
    _refuse_foreign_batches(spark, desk)

    def run_each(documents: DataFrame, batch: int) -> None:
        metrics = run_batch(desk, documents, batch)
        if on_batch is not None:
            on_batch(metrics)

    return (
        documents_of(spark, pipeline)
        .writeStream.foreachBatch(run_each)
        .option("checkpointLocation", pipeline.work.checkpoint)
        .trigger(**trigger)
        .start()
    )


def documents_of(spark: SparkSession, pipeline: Pipeline) -> DataFrame:
    """The documents that a pipeline names, as a stream in batches of a bounded size."""
    source = pipeline.source
    formats = {"directory": "binaryFile", "archives": "archives", "records": "records"}
    options = dict(source.options)
    if source.kind in formats:
        options = {"maxBytes": str(pipeline.limits.bytes), **options}
    if source.record:
        options["record"] = source.record
    return read(
        spark,
        source.path,
        format=formats.get(source.kind) or source.format or "parquet",
        doc_id=source.doc_id,
        body=source.body,
        options=_bounds(source) | options,
        streaming=True,
    )


def _bounds(source: Source) -> dict[str, str]:
    """How much one batch takes, in the words of the source; what the options of the file say stands above it.

    Files have no age at which they are passed over: Spark would ignore one that is a week older than the
    newest, such as one that was moved in from elsewhere.
    """
    if source.kind == "format":
        return {"maxOffsetsPerTrigger": str(source.max_per_batch)} if source.format == "kafka" else {}
    bounds = {"maxFileAge": FOREVER}
    if not {"maxFilesPerTrigger", "maxBytesPerTrigger"} & set(source.options):
        if source.kind == "directory":
            bounds["maxFilesPerTrigger"] = str(source.max_per_batch)
        else:  # files of many documents
            bounds["maxBytesPerTrigger"] = BATCH_BYTES
    return bounds


def _refuse_foreign_batches(spark: SparkSession, desk: Desk) -> None:
    """Batches are numbered by the work folder: a new one would overwrite what an earlier one delivered."""
    if any(batch >= 0 for batch in desk.journal.batches()):
        return
    pipeline = desk.pipeline
    outputs = [sink.path for sink in pipeline.sink if sink.kind in ("format", "jsonl") and sink.path]
    for path in [*outputs, pipeline.dead_letters.path, pipeline.metrics.path]:
        if _has_batches(spark, path):
            raise RunError(
                f"{path} has batches of another work folder than {pipeline.work.path}, which this run would"
                " overwrite: name that work folder, or other folders for the outputs"
            )


def _has_batches(spark: SparkSession, path: str) -> bool:
    jvm: Any = spark._jvm
    pattern = jvm.org.apache.hadoop.fs.Path(f"{path.rstrip('/')}/batch=[0-9]*")
    return bool(pattern.getFileSystem(spark._jsc.hadoopConfiguration()).globStatus(pattern))

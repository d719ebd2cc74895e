"""What each batch did and how long it took: a value, and a table of them."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

from pyspark.sql import DataFrame, SparkSession

from twigcast.spark.outputs.sinks import write_batch


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """The figures of one batch; a negative batch is a retry of dead letters."""

    batch: int
    documents: int
    bytes: int
    matches: int
    deliveries: int
    dead_letters: int
    parse_and_match_seconds: float
    """Time in the index, summed over the workers."""
    seconds: float
    """Time from the begin of the batch until all its outputs were there."""
    index_version: str


SCHEMA = (
    "batch long, documents long, bytes long, matches long, deliveries long, dead_letters long,"
    " parse_and_match_seconds double, seconds double, index_version string"
)


def write_metrics(spark: SparkSession, metrics: BatchMetrics, path: str) -> None:
    """Write the figures of a batch, in the place of those of a former try."""
    row = spark.createDataFrame([astuple(metrics)], SCHEMA).drop("batch")
    write_batch(row.coalesce(1), path, metrics.batch)


def read_metrics(spark: SparkSession, path: str) -> DataFrame:
    """The figures of all batches, in the columns of ``BatchMetrics``."""
    return spark.read.parquet(path).select(*(field.name for field in fields(BatchMetrics)))

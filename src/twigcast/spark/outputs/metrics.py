"""The metrics of batches: what each batch did and how long it took, as a value and as a table."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from twigcast.spark.outputs.batch_folders import write_small_batch
from twigcast.spark.outputs.mapping_metrics import MappingMetrics


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """The metrics of one batch; a negative batch is a retry of dead letters, or a replay."""

    batch: int
    documents: int
    bytes: int
    matches: int
    deliveries: int
    dead_letters: int
    parse_and_match_seconds: float
    """Time in the index, summed over the workers."""
    seconds: float
    """Time from the start of the batch until all its outputs were written."""
    index_version: str
    mappings: tuple[MappingMetrics, ...] = ()
    """With mediation, the metrics of each mapping; they are in a table of their own."""


_SCHEMA = pa.schema(
    [
        ("documents", pa.int64()),
        ("bytes", pa.int64()),
        ("matches", pa.int64()),
        ("deliveries", pa.int64()),
        ("dead_letters", pa.int64()),
        ("parse_and_match_seconds", pa.float64()),
        ("seconds", pa.float64()),
        ("index_version", pa.string()),
    ]
)


def write_metrics(spark: SparkSession, metrics: BatchMetrics, path: str) -> None:
    """Write the metrics of a batch, replacing those of an earlier attempt."""
    row = {name: getattr(metrics, name) for name in _SCHEMA.names}
    write_small_batch(spark, pa.Table.from_pylist([row], _SCHEMA), path, metrics.batch)


def read_metrics(spark: SparkSession, path: str) -> DataFrame:
    """The metrics of all batches, in the columns of ``BatchMetrics`` but ``mappings``."""
    return spark.read.parquet(path).select("batch", *_SCHEMA.names)

"""The metrics of batches, as a table."""

from __future__ import annotations

from dataclasses import astuple, replace
from pathlib import Path

from pyspark.sql import SparkSession

from twigcast.spark.outputs.metrics import BatchMetrics, read_metrics, write_metrics


def test_figures_are_read_as_they_were_written(spark: SparkSession, tmp_path: Path) -> None:
    """There is one row for each batch: that of the last attempt."""
    first = BatchMetrics(0, 3, 300, 5, 6, 1, 0.25, 1.5, "7")
    retried = replace(first, batch=-1, documents=1)
    for metrics in (first, retried, replace(first, seconds=2.5)):
        write_metrics(spark, metrics, str(tmp_path))
    rows = read_metrics(spark, str(tmp_path)).orderBy("batch").collect()
    assert [tuple(row) for row in rows] == [
        astuple(each)[:-1] for each in (retried, replace(first, seconds=2.5))
    ]

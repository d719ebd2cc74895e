"""The tables of metrics that a pipeline has written."""

from __future__ import annotations

from dataclasses import fields

from pyspark.sql import DataFrame, SparkSession

from twigcast.spark.outputs.link_metrics import HopMetrics
from twigcast.spark.outputs.mapping_metrics import MappingMetrics


def read_hops(spark: SparkSession, path: str) -> DataFrame:
    """The link metrics of all batches: the columns of ``HopMetrics``, and ``batch``."""
    return spark.read.parquet(path).select("batch", *(field.name for field in fields(HopMetrics)))


def read_mapping_metrics(spark: SparkSession, path: str) -> DataFrame:
    """The mapping metrics of all batches: ``batch``, ``mapping_set``, the fields of ``MappingMetrics``."""
    return spark.read.parquet(path).select(
        "batch", "mapping_set", *(field.name for field in fields(MappingMetrics))
    )

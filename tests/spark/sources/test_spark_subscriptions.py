"""Subscriptions in any table of Spark."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from twigcast.pattern import Subscription
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.batch import subscriptions_of
from twigcast.spark.sources.spark_subscriptions import SparkSubscriptions


def test_any_table_of_spark_will_do(spark: SparkSession, tmp_path: Path) -> None:
    """The version depends on the rows, not on their order; missing columns have default values."""
    path = str(tmp_path / "table")
    rows = [("b", "//n:y", {"n": "urn:n"}), ("a", "//x", None)]
    schema = "id string, xpath string, namespaces map<string,string>"
    table = SparkSubscriptions(spark, "parquet", {"path": path})
    spark.createDataFrame(rows, schema).coalesce(1).write.parquet(path)
    version = table.version()
    assert table.subscriptions() == [
        Subscription("a", "//x", "a", "document"),
        Subscription("b", "//n:y", "b", "document", {"n": "urn:n"}),
    ]
    spark.createDataFrame(rows[::-1], schema).coalesce(1).write.mode("overwrite").parquet(path)
    assert table.version() == version
    spark.createDataFrame(rows[:1], schema).coalesce(1).write.mode("overwrite").parquet(path)
    assert table.version() != version


def test_prefixes_of_the_pipeline_hold_for_rows_that_do_not_bind_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    """They are part of the version, since an index that was made with others would answer differently."""
    path = str(tmp_path / "table")
    rows = [("a", "//n:x[m:y]", {"n": "urn:own"}), ("b", "//n:x", None), ("c", "//x", None)]
    schema = "id string, xpath string, namespaces map<string,string>"
    spark.createDataFrame(rows, schema).coalesce(1).write.parquet(path)
    common = {"n": "urn:n", "m": "urn:m"}
    table = subscriptions_of(
        spark,
        Pipeline.of(
            {"subscriptions": {"format": "parquet", "options": {"path": path}}, "namespaces": common}
        ),
    )
    assert [each.namespaces for each in table.subscriptions()] == [
        {"m": "urn:m", "n": "urn:own"},
        {"n": "urn:n"},
        {},
    ]
    others = [SparkSubscriptions(spark, "parquet", {"path": path}, bound) for bound in ({}, {"n": "urn:n"})]
    assert len({each.version() for each in [table, *others]}) == 3

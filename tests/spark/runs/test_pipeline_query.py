"""The query raises the error of a batch unchanged, and Spark does not log it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from twigcast.errors import RunError
from twigcast.spark.jvm.stream_log import LOGGERS, restore_stream_log, silence_stream_log
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.job import run
from twigcast.spark.runs.stream import stream
from twigcast.subscriptions.store import SubscriptionStore


def level(spark: SparkSession) -> str:
    """The log level of queries."""
    jvm: Any = spark._jvm
    (level,) = {
        str(jvm.org.apache.logging.log4j.LogManager.getLogger(name).getLevel().toString()) for name in LOGGERS
    }
    return level


def test_a_query_raises_what_failed(spark: SparkSession, tmp_path: Path) -> None:
    """The error is raised unchanged; when its cause is removed, the batch is run again."""
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "1.xml").write_bytes(b"<x/>")
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("s", "/x")
    broken = Pipeline.of({"sink": {"kind": "callable", "function": "no_such_module:send"}}, folder=tmp_path)
    with pytest.raises(RunError, match=r"^the function no_such_module:send failed in batch 0: "):
        stream(spark, broken).awaitTermination()
    assert level(spark) == "OFF"
    (figures,) = run(spark, Pipeline.of({"sink": {"format": "noop"}}, folder=tmp_path))
    assert (figures.batch, figures.deliveries) == (0, 1)
    assert level(spark) == "ERROR"


def test_the_log_level_is_restored(spark: SparkSession) -> None:
    """Silencing it twice makes no difference."""
    before = level(spark)
    silence_stream_log(spark)
    silence_stream_log(spark)
    assert level(spark) == "OFF"
    restore_stream_log(spark)
    restore_stream_log(spark)
    assert level(spark) == before


def test_what_spark_complains_of_is_a_sentence(spark: SparkSession, tmp_path: Path) -> None:
    """The sentence names the broken file; when that is removed, the batch is run with the others."""
    (tmp_path / "table").mkdir()
    good = pa.table({"doc_id": ["a"], "body": [b"<x/>"]})
    parquet.write_table(good, tmp_path / "table" / "1.parquet")
    (tmp_path / "table" / "2.parquet").write_bytes(b"no Parquet " * 10)
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("s", "/x")
    pipeline = Pipeline.of(
        {"source": {"kind": "table", "path": "table"}, "sink": {"format": "noop"}}, folder=tmp_path
    )
    with pytest.raises(RunError, match=r"2\.parquet") as raised:
        run(spark, pipeline)
    assert "\n" not in str(raised.value)
    (tmp_path / "table" / "2.parquet").unlink()
    assert sum(figures.deliveries for figures in run(spark, pipeline)) == 1

"""What fails in a batch comes out of the stream as it was, and Spark does not tell it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from twigcast.errors import RunError
from twigcast.spark.failing import hold_back_log, release_log
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.running import run
from twigcast.spark.streaming import stream
from twigcast.spark.subscriptions import SubscriptionTable

LOGGER = "org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution"


def level(spark: SparkSession) -> str:
    """How much is logged of queries."""
    jvm: Any = spark._jvm
    return str(jvm.org.apache.logging.log4j.LogManager.getLogger(LOGGER).getLevel().toString())


def test_a_query_raises_what_failed(spark: SparkSession, tmp_path: Path) -> None:
    """As it was; and when it is put right, the batch is run again."""
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "1.xml").write_bytes(b"<x/>")
    SubscriptionTable(tmp_path / "subscriptions.db").subscribe("s", "/x")
    broken = Pipeline.of({"sink": {"kind": "callable", "function": "no_such_module:send"}}, folder=tmp_path)
    with pytest.raises(RunError, match=r"^the function no_such_module:send failed in batch 0: "):
        stream(spark, broken).awaitTermination()
    assert level(spark) == "OFF"
    (figures,) = run(spark, Pipeline.of({"sink": {"format": "noop"}}, folder=tmp_path))
    assert (figures.batch, figures.deliveries) == (0, 1)
    assert level(spark) == "ERROR"


def test_the_log_is_as_it_was_when_it_is_released(spark: SparkSession) -> None:
    """However often it was held back."""
    before = level(spark)
    hold_back_log(spark)
    hold_back_log(spark)
    assert level(spark) == "OFF"
    release_log(spark)
    release_log(spark)
    assert level(spark) == before

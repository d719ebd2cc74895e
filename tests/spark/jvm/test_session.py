"""The session that twigcast starts."""

from __future__ import annotations

from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

from twigcast.spark import session
from twigcast.spark.jvm.session import LOCAL_SETTINGS, SETTINGS

VERSION = tuple(map(int, pyspark.__version__.split(".")[:2]))
SINCE = {
    "spark.sql.execution.arrow.maxBytesPerBatch": (4, 0),
    "spark.python.unix.domain.socket.enabled": (4, 1),
}


def test_settings_are_set(spark: SparkSession) -> None:
    """Settings of the caller take precedence over those of twigcast, and these over the defaults of Spark."""
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    assert spark.conf.get("spark.ui.enabled") == "false"
    assert spark.conf.get("spark.sql.execution.arrow.maxBytesPerBatch") == "4m"
    assert spark.sparkContext.master == "local[2]"
    assert spark.sparkContext.appName == "twigcast tests"


@pytest.mark.skipif(VERSION < (4, 0), reason="before Spark 4.0 only the number of rows is bounded")
def test_batches_are_bounded(spark: SparkSession) -> None:
    """Documents reach a worker in batches of a few megabytes, however many they are."""
    docs = spark.sql("select repeat('x', 100000) body from range(200)").coalesce(1)

    def sizes(batches):  # type: ignore[no-untyped-def]
        import pyarrow as pa

        for batch in batches:
            yield pa.record_batch([pa.array([batch.nbytes])], ["size"])

    found = [row.size for row in docs.mapInArrow(sizes, "size long").collect()]
    assert sum(found) >= 200 * 100_000
    assert max(found) <= 6 << 20


def test_there_is_one_session(spark: SparkSession) -> None:
    """A second call returns the active session."""
    assert session("another").sparkContext is spark.sparkContext


@pytest.mark.parametrize("key", sorted({**SETTINGS, **LOCAL_SETTINGS}))
def test_settings_are_known_to_spark(spark: SparkSession, key: str) -> None:
    """A setting with a typing error, or that Spark has dropped, would have no effect."""
    jvm: Any = spark._jvm
    find = jvm.org.apache.spark.internal.config.ConfigEntry.findEntry
    assert (find(key) is not None) == (SINCE.get(key, (0, 0)) <= VERSION)
    assert find(f"{key}.misspelt") is None

"""The session that everything runs in."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from twigcast.spark import session
from twigcast.spark.jvm.session import COMPILING, SETTINGS


def test_settings_are_set(spark: SparkSession) -> None:
    """What the caller says stands above what is set here, which stands above Spark's own."""
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    assert spark.conf.get("spark.ui.enabled") == "false"
    assert spark.conf.get("spark.sql.execution.arrow.maxBytesPerBatch") == "4m"
    assert spark.sparkContext.master == "local[2]"
    assert spark.sparkContext.appName == "twigcast tests"


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
    """Asking again gives the one that is there."""
    assert session("another").sparkContext is spark.sparkContext


@pytest.mark.parametrize("key", sorted(SETTINGS))
def test_settings_are_known_to_spark(spark: SparkSession, key: str) -> None:
    """A setting that is misspelt would be one that does nothing."""
    assert spark.conf.get(key) == SETTINGS[key] or key == "spark.sql.shuffle.partitions"


@pytest.mark.parametrize("option", sorted(COMPILING))
def test_options_are_known_to_the_jvm(spark: SparkSession, option: str) -> None:
    """Spark has the JVM pass over options that it does not know."""
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    bean = jvm.java.lang.Class.forName("com.sun.management.HotSpotDiagnosticMXBean")
    flags = jvm.java.lang.management.ManagementFactory.getPlatformMXBean(bean)
    assert int(flags.getVMOption(option).getValue()) == COMPILING[option]

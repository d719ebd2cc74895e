"""What fails in a batch comes out of the stream as it was, and Spark does not tell it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from twigcast.errors import RunError
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.failures import complaint, hold_back_log, release_log
from twigcast.spark.runs.job import run
from twigcast.spark.runs.stream import stream
from twigcast.subscriptions.store import SubscriptionStore

LOGGER = "org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution"


def level(spark: SparkSession) -> str:
    """How much is logged of queries."""
    jvm: Any = spark._jvm
    return str(jvm.org.apache.logging.log4j.LogManager.getLogger(LOGGER).getLevel().toString())


def test_a_query_raises_what_failed(spark: SparkSession, tmp_path: Path) -> None:
    """As it was; and when it is put right, the batch is run again."""
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


def test_the_log_is_as_it_was_when_it_is_released(spark: SparkSession) -> None:
    """However often it was held back."""
    before = level(spark)
    hold_back_log(spark)
    hold_back_log(spark)
    assert level(spark) == "OFF"
    release_log(spark)
    release_log(spark)
    assert level(spark) == before


def test_what_spark_complains_of_is_a_sentence(spark: SparkSession, tmp_path: Path) -> None:
    """With the file that is broken in it; when that is gone, the batch is run with the others."""
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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("one line", "one line"),
        ("first\n\tat a.b.C\n", "first"),
        ("Job aborted\nTraceback (most recent call last):\n  File\nValueError: bad\n", "ValueError: bad"),
        (
            "An error occurred while calling o1.load.\n: a.B: job\n\tat a.b\nCaused by: a.C: x is bad\n",
            "x is bad",
        ),
        ("An error occurred while calling o1.load.\n: a.B: no such thing\n\tat a.b.C\n", "no such thing"),
        (
            "Traceback (most recent call last):\np.Py4JJavaError: An error occurred while calling o1.load.\n"
            ": a.B: job\nCaused by: a.C: x is bad\n"
            "Caused by: p.P: An exception was raised by the Python Proxy.\n",
            "x is bad",
        ),
        ("x" * 5000, "x" * 599 + "…"),
    ],
)
def test_a_complaint_is_one_sentence(text: str, sentence: str) -> None:
    """Of a Python error the last line, else the first."""
    assert complaint(text) == sentence

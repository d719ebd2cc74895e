"""State or outputs that go away, and clocks that go backwards: nothing is lost and nothing comes twice."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from twigcast.errors import RunError
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.job import run
from twigcast.spark.runs.stream import stream
from twigcast.subscriptions import SubscriptionStore


def pipeline_in(folder: Path, **tables: Any) -> Pipeline:
    """A pipeline with one subscription, to everything."""
    (folder / "feed").mkdir()
    SubscriptionStore(folder / "subscriptions.db").subscribe("all", "/*")
    return Pipeline.of(tables, folder=folder)


def delivered(folder: Path) -> Counter[str]:
    """How often each document was delivered."""
    table = ds.dataset(folder / "out/deliveries", format="parquet", partitioning="hive").to_table()
    return Counter(Path(row["doc_id"]).name for row in table.to_pylist())


@pytest.mark.parametrize("kind", ["directory", "table"])
def test_a_checkpoint_that_was_deleted_alone_is_refused(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    """Spark would begin again with batch 0; with the checkpoint back, the run goes on."""
    pipeline = pipeline_in(tmp_path, source={"kind": kind, "path": "feed"}, stream={"interval_seconds": 0.1})

    def put(name: str) -> None:
        if kind == "table":
            parquet.write_table(pa.table({"doc_id": [name], "body": [b"<a/>"]}), tmp_path / "feed" / name)
        else:
            (tmp_path / "feed" / f"{name}.xml").write_text("<a/>")

    for name in "12":
        put(name)
        run(spark, pipeline)
    (tmp_path / "work/checkpoint").rename(tmp_path / "kept")
    put("3")
    for start in (run, stream):
        with pytest.raises(
            RunError, match="checkpoint is gone or incomplete, and the journal has batches up to 1"
        ):
            start(spark, pipeline)
    shutil.rmtree(tmp_path / "work/checkpoint", ignore_errors=True)
    (tmp_path / "kept").rename(tmp_path / "work/checkpoint")
    run(spark, pipeline)
    assert sorted(delivered(tmp_path).values()) == [1, 1, 1]


def test_times_of_files_may_go_backwards(spark: SparkSession, tmp_path: Path) -> None:
    """A file is new because it was not there before, whatever its time says."""
    pipeline = pipeline_in(tmp_path)
    now = time.time()
    for number, times in enumerate(([now + 10**8], [now - 10**9, 1.0], [now])):
        for each, changed in enumerate(times):
            file = tmp_path / "feed" / f"{number}-{each}.xml"
            file.write_text("<a/>")
            os.utime(file, (changed, changed))
        run(spark, pipeline)
        for file in (tmp_path / "work/feed").rglob("*"):  # as if the clock had been set back since
            os.utime(file, (now + 10**7 - number, now + 10**7 - number))
    assert run(spark, pipeline) == []
    assert delivered(tmp_path) == {"0-0.xml": 1, "1-0.xml": 1, "1-1.xml": 1, "2-0.xml": 1}


def test_an_output_that_cannot_be_written_for_a_while(spark: SparkSession, tmp_path: Path) -> None:
    """A stream whose output folder goes away ends with its name, and the next run does the batch again."""
    pipeline = pipeline_in(tmp_path, stream={"interval_seconds": 0.1})
    (tmp_path / "feed/1.xml").write_text("<a/>")
    query = stream(spark, pipeline)
    query.processAllAvailable()
    output = tmp_path / "out/deliveries"
    output.rename(tmp_path / "kept")
    output.write_text("in the way")  # root can write in a folder that is read-only
    (tmp_path / "feed/2.xml").write_text("<b/>")
    with pytest.raises(RunError, match="out/deliveries"):
        query.processAllAvailable()
    query.stop()
    output.unlink()
    (tmp_path / "kept").rename(output)
    (tmp_path / "feed/3.xml").write_text("<c/>")
    run(spark, pipeline)
    assert delivered(tmp_path) == {"1.xml": 1, "2.xml": 1, "3.xml": 1}

"""Columns of the source reach every sink of a pipeline, also by way of a dead letter."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from pyspark.sql import SparkSession

from twigcast import spark as tc

AT = datetime(2026, 5, 4, 12, 30, 1, 123456)


def pipeline_in(folder: Path, depth: int) -> tc.Pipeline:
    return tc.Pipeline.of(
        {
            "source": {"kind": "table", "path": "feed"},
            "deliveries": {"columns": ["region", "code", "at"], "copies": "subscriber"},
            "limits": {"depth": depth, "part_threshold": 1, "part_amplification": 1.0},
            "sink": [
                {"path": "out/table", "partition_by": ["region", "subscriber"]},
                {
                    "kind": "files",
                    "path": "out/files",
                    "partition_by": "region",
                    "file_name": "{code}-{id}.xml",
                },
                {"kind": "jsonl", "path": "out/lines"},
            ],
        },
        folder=folder,
    )


def test_columns_reach_every_sink(spark: SparkSession, tmp_path: Path) -> None:
    """A document that is delivered by a retry has its columns, in their types."""
    rows = [("d1", b"<a/>", "north", 7, AT), ("d2", b"<a><b/></a>", "south", None, AT)]
    columns = "doc_id string, body binary, region string, code int, at timestamp"
    spark.createDataFrame(rows, columns).write.parquet(str(tmp_path / "feed"))
    store = tc.SubscriptionStore(tmp_path / "subscriptions.db")
    store.subscribe("s1", "/a", subscriber="ada")
    store.subscribe("s2", "//a", subscriber="ada")
    store.subscribe("nested", "//*", subscriber="bob", deliver="part")
    (batch,) = tc.run(spark, pipeline_in(tmp_path, 1))
    assert (batch.documents, batch.deliveries, batch.dead_letters) == (2, 2, 1)
    (batch,) = tc.retry(spark, pipeline_in(tmp_path, 9))
    assert (batch.deliveries, batch.dead_letters) == (1, 1)  # the parts of bob are too large
    (batch,) = tc.retry(spark, pipeline_in(tmp_path, 9).model_copy(update={"limits": tc.Pipeline().limits}))
    assert (batch.deliveries, batch.dead_letters) == (2, 0)
    table = spark.read.parquet(str(tmp_path / "out" / "table"))
    found = {
        (row.batch, row.doc_id, row.subscriber, row.part, row.region, row.code, row.at)
        for row in table.collect()
    }
    assert found == {
        (0, "d1", "ada", None, "north", 7, AT),
        (0, "d1", "bob", 0, "north", 7, AT),
        (-1, "d2", "ada", None, "south", None, AT),
        (-2, "d2", "bob", 0, "south", None, AT),
        (-2, "d2", "bob", 1, "south", None, AT),
    }
    names = sorted(
        path.relative_to(tmp_path / "out" / "files").as_posix() for path in (tmp_path / "out").rglob("*.xml")
    )
    assert [name.partition("-")[0] for name in names if name.startswith("north")] == ["north/7"] * 2
    assert sum(name.startswith("south/") for name in names) == 3
    lines = [
        json.loads(line) for file in (tmp_path / "out" / "lines").glob("*.jsonl") for line in file.open()
    ]
    assert {line["region"] for line in lines} == {"north", "south"}

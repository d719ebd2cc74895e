"""Parquet files that workers read themselves give the rows that Spark reads."""

from __future__ import annotations

from pathlib import Path
from random import randbytes
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession

from twigcast import Index
from twigcast import spark as tc
from twigcast.errors import StageError
from twigcast.spark.sources.parquet import Extent, _bytes, _packed

INDEX = Index([("a", "//a"), ("b", "/r[b]")])
BODIES = [b"<r><a/></r>", b"<r><b/></r>", None, b"<r", "<r>é<a/></r>".encode()]


def write(folder: Path, name: str, columns: dict[str, Any], **options: Any) -> None:
    folder.mkdir(exist_ok=True, parents=True)
    parquet.write_table(pa.table(columns), folder / name, **options)


def documents(count: int = 5) -> dict[str, Any]:
    return {
        "doc_id": pa.array([f"d{number}" for number in range(count)]),
        "body": pa.array((BODIES * count)[:count], pa.binary()),
    }


def rows(hits: DataFrame) -> list[Any]:
    return sorted(hits.collect(), key=lambda row: str(row.doc_id))


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        (documents(), {}),
        (documents() | {"publisher": pa.array(["p", None, "q", "p", "q"]), "size": pa.array(range(5))}, {}),
        ({"key": pa.array(list("abcde")), "value": pa.array(["<r><a/></r>"] * 5)}, {"doc_id": "key"}),
        ({"a.b": pa.array(list("abcde")), "é c": pa.array(BODIES)}, {"doc_id": "a.b", "body": "é c"}),
    ],
)
def test_workers_read_what_spark_reads(
    spark: SparkSession, tmp_path: Path, columns: dict[str, Any], asked: dict[str, str]
) -> None:
    """Rows, nulls and errors are the same, from several files and row groups, whatever the names."""
    write(tmp_path / "a table", "1 %é.parquet", columns, row_group_size=2)
    write(tmp_path / "a table", "2.parquet", columns)
    write(tmp_path / "a table", "none.parquet", {name: column[:0] for name, column in columns.items()})
    table = tc.read(spark, str(tmp_path / "a table"), format="parquet", **asked)
    assert table.worker_reading() is not None
    fused, apart = tc.match(table, INDEX), tc.match(table.select("*"), INDEX)
    assert rows(fused) == rows(apart)
    assert fused.schema == apart.schema
    assert len(rows(fused)) == 10


def test_what_only_spark_knows_is_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Spark reads partition columns, other types, differing columns, hashed ids, and unknown options."""
    left: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "made": ({"body": documents()["body"]}, {}),
        "number": (documents() | {"doc_id": pa.array(range(5))}, {}),
        "time": (documents() | {"at": pa.array([0] * 5, pa.timestamp("us"))}, {}),
        "options": (documents(), {"options": {"mergeSchema": "true"}}),
    }
    for name, (columns, asked) in left.items():
        write(tmp_path / name, "1.parquet", columns)
        table = tc.read(spark, str(tmp_path / name), format="parquet", **asked)
        assert table.worker_reading() is None, name
        assert len(rows(tc.match(table, INDEX))) == 5
    write(tmp_path / "of path" / "publisher=p", "1.parquet", documents())
    table = tc.read(spark, str(tmp_path / "of path"), format="parquet")
    assert table.worker_reading() is None
    assert {row.publisher for row in rows(tc.match(table, INDEX))} == {"p"}
    twice = documents() | {"publisher": pa.array(["other"] * 5)}
    write(tmp_path / "of both" / "publisher=p", "1.parquet", twice)
    table = tc.read(spark, str(tmp_path / "of both"), format="parquet")
    assert {row.publisher for row in rows(tc.match(table, INDEX))} == {"p"}
    write(tmp_path / "some", "1.parquet", documents() | {"more": pa.array(["x"] * 5)})
    write(tmp_path / "some", "2.parquet", documents())
    assert tc.read(spark, str(tmp_path / "some"), format="parquet").worker_reading() is None
    write(tmp_path / "plain", "1.parquet", documents())
    plain = tc.read(spark, str(tmp_path / "plain"), format="parquet")
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        assert plain.worker_reading() is None
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")
    assert plain.worker_reading() is not None


@pytest.mark.parametrize(("size", "expected"), [(100_000, [64, 64, 2]), (100, [130])])
def test_batches_are_bounded_and_in_order(
    spark: SparkSession, tmp_path: Path, size: int, expected: list[int]
) -> None:
    """A batch has a few large documents or many small ones, in the order of the file."""
    ids = [f"{number:03}" for number in range(130)]
    body = b"<r>" + b" " * size + b"</r>"
    write(tmp_path, "1.parquet", {"doc_id": pa.array(ids), "body": pa.array([body] * 130)})
    reading = tc.read(spark, str(tmp_path), format="parquet").worker_reading()
    assert reading is not None
    batches = list(reading.stage(iter([pa.RecordBatch.from_pydict({"id": [0]})])))
    assert [batch.num_rows for batch in batches] == expected
    assert [id for batch in batches for id in batch.column("doc_id").to_pylist()] == ids


def test_a_broken_file_is_named(spark: SparkSession, tmp_path: Path) -> None:
    """A file is named even if its footer, which is read first, is intact."""
    write(tmp_path, "1.parquet", documents())
    path = tmp_path / "1.parquet"
    path.write_bytes(b"PAR1" + b"\xff" * 100 + path.read_bytes()[104:])
    reading = tc.read(spark, str(tmp_path), format="parquet").worker_reading()
    assert reading is not None
    with pytest.raises(StageError, match=r"1\.parquet cannot be read"):
        list(reading.stage(iter([pa.RecordBatch.from_pydict({"id": [0]})])))


MB = 1 << 20


@pytest.mark.parametrize(
    ("sizes", "cores", "packed"),
    [
        ([], 2, []),
        ([1], 2, [1]),
        ([1] * 10, 2, [4, 4, 2]),
        ([7] * 20, 2, [5, 4, 3, 2, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5]),
        ([100], 2, [0.25] * 4),
        ([100, 1], 2, [0.25, 0.25, 0.25, 0.25, 1]),
        ([100], 64, [0.25] * 4),
        ([5, 5, 5, 5], 64, [1, 1, 1, 1]),
        ([400, 20], 2, [0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25]),
    ],
)
def test_pieces_are_large_at_first_and_small_at_the_end(
    sizes: list[int], cores: int, packed: list[float]
) -> None:
    """Small row groups are packed together, large ones are cut, and every row is in exactly one piece."""
    extents = [Extent("x", number, 0, 1000, size * MB) for number, size in enumerate(sizes)]
    pieces = _packed(extents, cores, 128 * MB)
    assert [sum(extent.rows for extent in piece) / 1000 for piece in pieces] == packed
    rows = [
        (extent.group, extent.first + row)
        for piece in pieces
        for extent in piece
        for row in range(extent.rows)
    ]
    assert rows == [(number, row) for number in range(len(sizes)) for row in range(1000)]


def test_a_row_group_cut_into_parts_is_read_once(spark: SparkSession, tmp_path: Path) -> None:
    """Every row is in exactly one part, and there are parts for all cores."""
    ids = [f"{number:05}" for number in range(1003)]
    bodies = [randbytes(6000).hex().encode() for _ in ids]
    write(tmp_path, "1.parquet", {"doc_id": pa.array(ids), "body": pa.array(bodies)})
    reading = tc.read(spark, str(tmp_path), format="parquet").worker_reading()
    assert reading is not None
    assert reading.places.count() > 1
    found = []
    for number in range(reading.places.count()):
        for batch in reading.stage(iter([pa.RecordBatch.from_pydict({"id": [number]})])):
            found += zip(batch.column("doc_id").to_pylist(), batch.column("body").to_pylist(), strict=True)
    assert found == list(zip(ids, bodies, strict=True))


@pytest.mark.parametrize(
    ("text", "number"), [("128MB", 1 << 27), ("16m", 1 << 24), ("123", 123), ("1g", 1 << 30), ("64b", 64)]
)
def test_sizes_of_spark(text: str, number: int) -> None:
    """Every unit of its settings is understood."""
    assert _bytes(text) == number

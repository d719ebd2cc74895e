"""A batch that is written again leaves in each sink what one attempt would have left."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from twigcast.errors import RunError
from twigcast.spark.outputs.batch_folders import remove_batch
from twigcast.spark.outputs.sinks import as_messages, write_deliveries
from twigcast.spark.pipeline import SinkSection

SCHEMA = (
    "delivery_id string, subscriber string, subscription string, doc_id string, part int, content binary,"
    " index_version string"
)


def deliveries(spark: SparkSession, *rows: tuple[str, str, bytes]) -> DataFrame:
    """Deliveries of (id, subscriber, content), in two partitions."""
    filled = [(id, subscriber, "s", "feed/d.xml", None, content, "1") for id, subscriber, content in rows]
    return spark.createDataFrame(filled, SCHEMA).repartition(2)


def written(folder: Path) -> dict[str, bytes]:
    """The files of a folder that are not hidden, by their path in it."""
    return {
        name: file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not (name := file.relative_to(folder).as_posix()).startswith((".", "_"))
    }


def test_a_table_has_a_folder_for_each_batch(spark: SparkSession, tmp_path: Path) -> None:
    """Writing a batch again replaces its rows and leaves those of others."""
    sink = SinkSection(kind="format", path=str(tmp_path / "table"))
    assert write_deliveries(deliveries(spark, ("1", "ada", b"<a/>")), sink, 0) == 1
    assert write_deliveries(deliveries(spark, ("2", "ada", b"<b/>"), ("3", "bob", b"<b/>")), sink, 1) == 2
    assert write_deliveries(deliveries(spark, ("2", "ada", b"<b/>"), ("3", "bob", b"<b/>")), sink, 1) == 2
    rows = spark.read.parquet(str(tmp_path / "table")).select("batch", "delivery_id", "content").collect()
    assert sorted((row.batch, row.delivery_id, bytes(row.content)) for row in rows) == [
        (0, "1", b"<a/>"),
        (1, "2", b"<b/>"),
        (1, "3", b"<b/>"),
    ]


def test_a_table_may_have_another_format(spark: SparkSession, tmp_path: Path) -> None:
    """Format and options are passed to Spark."""
    sink = SinkSection(kind="format", path=str(tmp_path / "t"), format="orc", options={"compression": "zlib"})
    write_deliveries(deliveries(spark, ("1", "ada", b"<a/>")), sink, 0)
    assert spark.read.orc(str(tmp_path / "t")).count() == 1


def test_a_database_is_a_sink_by_its_options(
    spark: SparkSession, tmp_path: Path, derby: Callable[[str], dict[str, str]]
) -> None:
    """Rows are appended, and have the number of their batch."""
    options = derby("deliveries")
    sink = SinkSection(kind="format", format="jdbc", options=options)
    assert write_deliveries(deliveries(spark, ("1", "ada", b"<a/>")), sink, 0) == 1
    assert write_deliveries(deliveries(spark, ("2", "ada", b"\xff"), ("3", "bob", b"<b/>")), sink, 1) == 2
    rows = spark.read.format("jdbc").options(**options).load().collect()
    assert sorted((row.batch, row.delivery_id, row.subscriber, bytes(row.content)) for row in rows) == [
        (0, "1", "ada", b"<a/>"),
        (1, "2", "ada", b"\xff"),
        (1, "3", "bob", b"<b/>"),
    ]


def test_what_has_no_place_at_all_is_counted(spark: SparkSession) -> None:
    """A sink without a path and without options still counts its deliveries."""
    sink = SinkSection(kind="format", format="noop")
    assert write_deliveries(deliveries(spark, ("1", "ada", b""), ("2", "bob", b"")), sink, 0) == 2


def test_messages_have_the_columns_of_kafka(spark: SparkSession) -> None:
    """The id is the key, the content the value, and the other columns are headers; Kafka is not tested."""
    (row,) = as_messages(deliveries(spark, ("1", "ada", b"<a/>"))).collect()
    assert (row.key, bytes(row.value)) == ("1", b"<a/>")
    assert {header.key: header.value and bytes(header.value) for header in row.headers} == {
        "subscriber": b"ada",
        "subscription": b"s",
        "doc_id": b"feed/d.xml",
        "part": None,
        "index_version": b"1",
    }


def test_a_batch_can_be_taken_out_of_a_table(spark: SparkSession, tmp_path: Path) -> None:
    """Removing a batch that does not exist is no error."""
    sink = SinkSection(kind="format", path=str(tmp_path / "t"))
    write_deliveries(deliveries(spark, ("1", "ada", b"<a/>")), sink, 0)
    remove_batch(spark, str(tmp_path / "t"), 0)
    remove_batch(spark, str(tmp_path / "t"), 5)
    assert written(tmp_path / "t") == {}


def test_a_delivery_is_a_file_in_the_folder_of_its_subscriber(spark: SparkSession, tmp_path: Path) -> None:
    """The file has the bytes of the document, and writing it again makes no second file."""
    sink = SinkSection(kind="files", path=str(tmp_path / "out"))
    rows = deliveries(spark, ("1", "ada", b"<a>\xff\r\n</a>"), ("2", "bob/../x", b"<b/>"))
    for _ in range(2):
        assert write_deliveries(rows, sink, 0) == 2
    assert written(tmp_path / "out") == {"ada/d-1.xml": b"<a>\xff\r\n</a>", "bob%2F..%2Fx/d-2.xml": b"<b/>"}


def test_files_are_named_and_placed_as_the_sink_says(spark: SparkSession, tmp_path: Path) -> None:
    """Carried columns are folders and fields of names; documents of one name are files of their own."""
    sink = SinkSection(
        kind="files",
        path=str(tmp_path / "out"),
        partition_by=("region", "subscriber"),
        file_name="{region}.{name}.{id}.xml",
    )
    rows = [
        ("1", "ada", "a/x.xml", "No/rth"),
        ("2", "ada", "b/x.xml", "No/rth"),
        ("3", "bob", "a/x.xml", None),
    ]
    made = spark.createDataFrame(
        [(id, who, "s", doc, None, b"<a/>", "1", region) for id, who, doc, region in rows],
        f"{SCHEMA}, region string",
    )
    for _ in range(2):
        assert write_deliveries(made, sink, 0) == 3
    assert list(written(tmp_path / "out")) == [
        "%4Eo%2Frth/ada/No_rth.x.1.xml",
        "%4Eo%2Frth/ada/No_rth.x.2.xml",
        "%null/bob/x.3.xml",
    ]


def test_files_may_be_in_one_folder(spark: SparkSession, tmp_path: Path) -> None:
    """Without partitions, the files of all subscribers are side by side."""
    sink = SinkSection(kind="files", path=str(tmp_path / "out"), partition_by=())
    write_deliveries(deliveries(spark, ("1", "ada", b"<a/>"), ("2", "bob", b"<a/>")), sink, 0)
    assert list(written(tmp_path / "out")) == ["d-1.xml", "d-2.xml"]


def test_a_table_has_partitions(spark: SparkSession, tmp_path: Path) -> None:
    """Each batch has a folder for each subscriber; a batch that is written again leaves none of before."""
    sink = SinkSection(kind="format", path=str(tmp_path / "t"), partition_by=("subscriber",))
    write_deliveries(deliveries(spark, ("1", "ada", b"<a/>"), ("2", "bob", b"<b/>")), sink, 0)
    write_deliveries(deliveries(spark, ("1", "ada", b"<a/>")), sink, 0)
    assert [path.name for path in (tmp_path / "t" / "batch=0").iterdir() if path.is_dir()] == [
        "subscriber=ada"
    ]
    (row,) = spark.read.parquet(str(tmp_path / "t")).collect()
    assert (row.batch, row.subscriber, row.delivery_id) == (0, "ada", "1")


def test_what_a_kill_left_unfinished_is_swept_away(spark: SparkSession, tmp_path: Path) -> None:
    """When the batch is written again, unfinished files of the first attempt are removed."""
    left = tmp_path / "out" / ".unfinished" / "batch=0"
    left.mkdir(parents=True)
    (left / "1.7").write_bytes(b"<a")
    (left / "000000.piece").write_bytes(b"{}\n")
    for kind in ("files", "jsonl"):
        sink = SinkSection.model_validate({"kind": kind, "path": str(tmp_path / "out")})
        write_deliveries(deliveries(spark, ("1", "ada", b"<a/>")), sink, 0)
        assert not left.exists()
    assert len((tmp_path / "out" / "batch=0.jsonl").read_text().splitlines()) == 1


def test_a_batch_is_a_file_of_lines(spark: SparkSession, tmp_path: Path) -> None:
    """Content is text where it is UTF-8 and base64 where it is not; writing it again replaces the file."""
    sink = SinkSection(kind="jsonl", path=str(tmp_path / "out"))
    rows = deliveries(spark, ("1", "ada", "<a>é</a>".encode()), ("2", "bob", b"<a>\xe9</a>"))
    for _ in range(2):
        assert write_deliveries(rows, sink, 3) == 2
    lines = [json.loads(line) for line in (tmp_path / "out" / "batch=3.jsonl").read_text().splitlines()]
    first, second = sorted(lines, key=lambda line: line["delivery_id"])
    assert first == {
        "delivery_id": "1",
        "subscriber": "ada",
        "subscription": "s",
        "doc_id": "feed/d.xml",
        "part": None,
        "index_version": "1",
        "content": "<a>é</a>",
    }
    assert second["content_base64"] == "PGE+6TwvYT4="
    assert "content" not in second


def test_lines_have_carried_columns(spark: SparkSession, tmp_path: Path) -> None:
    """Dates, bytes and decimals, which JSON does not have, are text."""
    sink = SinkSection(kind="jsonl", path=str(tmp_path / "out"))
    row = ("1", "ada", "s", "d", None, b"<a/>", "1", date(2026, 5, 4), b"\xff", Decimal("1.50"))
    made = spark.createDataFrame([row], f"{SCHEMA}, day date, mark binary, price decimal(5,2)")
    write_deliveries(made, sink, 0)
    line = json.loads((tmp_path / "out" / "batch=0.jsonl").read_text())
    assert (line["day"], line["mark"], line["price"]) == ("2026-05-04", "/w==", "1.50")


def test_a_batch_without_deliveries_is_an_empty_file(spark: SparkSession, tmp_path: Path) -> None:
    """A reader can see that the batch was written."""
    sink = SinkSection(kind="jsonl", path=str(tmp_path / "out"))
    assert write_deliveries(spark.createDataFrame([], SCHEMA), sink, 0) == 0
    assert written(tmp_path / "out") == {"batch=0.jsonl": b""}


def test_a_function_is_called_with_tables(spark: SparkSession, tmp_path: Path) -> None:
    """Each delivery is in one of the tables, with the number of the batch."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "kept_by_test.py").write_text(
        "from pathlib import Path\n\ndef keep(table):\n    for row in table.to_pylist():\n"
        "        Path(row['content'].decode(), row['delivery_id']).write_text(str(row['batch']))\n"
    )
    spark.sparkContext.addPyFile(str(folder / "kept_by_test.py"))
    calls = tmp_path / "calls"
    calls.mkdir()
    content = str(calls).encode()
    sink = SinkSection(kind="callable", function="kept_by_test:keep")
    assert write_deliveries(deliveries(spark, ("1", "ada", content), ("2", "bob", content)), sink, 4) == 2
    assert written(calls) == {"1": b"4", "2": b"4"}


@pytest.mark.parametrize(
    ("function", "cause"),
    [
        ("failing_by_test:send", r"ValueError: no server: refused \(failing_by_test.py, line 2\)"),
        ("failing_by_test:none", r"AttributeError: module 'failing_by_test' has no attribute 'none'"),
        ("no_such_module:send", r"ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_a_function_that_fails_is_named_with_its_batch_and_cause(
    spark: SparkSession, tmp_path: Path, function: str, cause: str
) -> None:
    """One sentence has the function, the batch, the exception and its line."""
    module = tmp_path / "failing_by_test.py"
    module.write_text("def send(table):\n    raise ValueError('no server:\\nrefused')\n")
    spark.sparkContext.addPyFile(str(module))
    sink = SinkSection(kind="callable", function=function)
    one = deliveries(spark, ("1", "ada", b"<a/>")).coalesce(1)
    with pytest.raises(RunError, match=f"^the function {function} failed in batch 7: {cause}$"):
        write_deliveries(one, sink, 7)

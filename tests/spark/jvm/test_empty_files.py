"""Files of no bytes are documents too, in a batch and in a stream, whatever they are opened as."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from twigcast import Index
from twigcast import spark as tc
from twigcast.spark.jvm.empty_files import with_empty_files
from twigcast.spark.sources.files import files
from twigcast.spark.sources.reading import left_out

NO_SUCH = "; isDirectory=false; length=0; .xml"  # a name that could be taken for what is said of a file


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    """A folder with a file of some bytes, others without, and names that Spark passes over."""
    folder = tmp_path / "a feed"
    (folder / "below%20").mkdir(parents=True)
    (folder / "1.xml").write_bytes(b"<a/>")
    (folder / NO_SUCH).write_bytes(b"<a/>")
    for name in ("2 é.xml", "below%20/3.zip", ".4.xml", "_5.xml", "_metadata"):
        (folder / name).write_bytes(b"")
    return folder


def letters(documents: DataFrame, feed: Path) -> dict[str, str]:
    """Code by name of what is a dead letter."""
    found = tc.dead_letters(tc.match(documents, Index([("all", "/*")]))).collect()
    return {row.doc_id.removeprefix(f"{feed}/"): row.code for row in found}


def test_they_are_listed_once(spark: SparkSession, feed: Path) -> None:
    """Beside the others, with no bytes, and without what Spark takes for its own."""
    found = files(spark, str(feed), {}, streaming=False).select("path", "length", "content").collect()
    assert sorted(
        (row.path.removeprefix(f"file:{feed}/"), row.length, bytes(row.content)) for row in found
    ) == [
        ("1.xml", 4, b"<a/>"),
        ("2 é.xml", 0, b""),
        (NO_SUCH, 4, b"<a/>"),
        ("below%20/3.zip", 0, b""),
    ]


def test_a_folder_without_them_is_left_as_it_is(spark: SparkSession, tmp_path: Path) -> None:
    """Nothing is added to the plan."""
    (tmp_path / "1.xml").write_bytes(b"<a/>")
    found = spark.read.format("binaryFile").load(str(tmp_path))
    assert with_empty_files(found) is found


@pytest.mark.parametrize(
    ("format", "options", "codes"),
    [
        ("archives", {}, {"2 é.xml": "empty", "below%20/3.zip": "archive"}),
        ("records", {"record": "a", "pathGlobFilter": "*.xml"}, {"2 é.xml#0": "empty"}),
    ],
)
def test_each_is_a_dead_letter(
    spark: SparkSession, feed: Path, format: str, options: dict[str, str], codes: dict[str, str]
) -> None:
    """In a batch, and in a stream with what is left out of its batches."""
    batch = tc.read(spark, str(feed), format=format, options=options)
    assert letters(batch, feed) == codes
    found: dict[str, str] = {}

    def take(documents: DataFrame, number: int) -> None:
        more = left_out(spark, documents, format=format, options=options)
        assert more is not None
        found.update(letters(documents.unionByName(more), feed))

    stream = tc.read(spark, str(feed), format=format, options=options, streaming=True)
    checkpoint = str(feed.parent / "checkpoint")
    query = stream.writeStream.foreachBatch(take).option("checkpointLocation", checkpoint)
    query.trigger(availableNow=True).start().awaitTermination()
    assert found == codes

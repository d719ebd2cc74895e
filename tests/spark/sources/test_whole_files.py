"""Whole files give the same documents, whether workers or Spark read them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from twigcast import Index
from twigcast import spark as tc
from twigcast.spark.sources.listing.file_listing import FileListing
from twigcast.spark.sources.whole_files import _read, opened_by_spark

INDEX = Index([("b", "//b")])
NAMES = ["1.xml", "2 é%.xml", "{3}.xml", "4.txt"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    below = tmp_path / "feed" / "below"
    below.mkdir(parents=True)
    for name in NAMES:
        (below / name).write_bytes(b"<a><b/></a>")
    (below / "bad.xml").write_bytes(b"<a>")
    (below / "none.xml").write_bytes(b"")
    (below / "large.xml").write_bytes(b"<a>" + b" " * 100 + b"</a>")
    return tmp_path / "feed"


def rows(hits: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in hits.drop("index_version").collect())


@pytest.mark.parametrize("options", [{}, {"pathGlobFilter": "*.xml"}])
def test_workers_read_what_spark_reads(spark: SparkSession, folder: Path, options: dict[str, str]) -> None:
    """Rows and errors are the same, whatever the names of the files."""
    documents = tc.read(spark, str(folder), options={"maxBytes": "100", **options})
    assert documents.worker_reading() is not None
    by_spark = opened_by_spark(FileListing(str(folder), options).listed_by_spark(spark, streaming=False), 100)
    expected = rows(tc.match(by_spark, INDEX))
    assert len(expected) == len(NAMES) + 3 - bool(options)
    assert rows(tc.match(documents, INDEX)) == expected
    assert rows(tc.match(documents.where("true"), INDEX)) == expected
    codes = {row.code for row in tc.dead_letters(tc.match(documents, INDEX)).collect()}
    assert codes == {"truncated", "empty", "too-large"}


def test_a_file_with_a_colon_in_its_name(spark: SparkSession, tmp_path: Path) -> None:
    """Spark could read neither this file nor the others of its folder."""
    for name in ("c:d.xml", "ok.xml"):
        (tmp_path / name).write_bytes(b"<a><b/></a>")
    hits = tc.match(tc.read(spark, str(tmp_path)), INDEX).collect()
    assert {(row.doc_id, *row.matches) for row in hits} == {
        (str(tmp_path / "c:d.xml"), 0),
        (str(tmp_path / "ok.xml"), 0),
    }


def test_a_file_that_is_gone_is_an_error_of_its_own(spark: SparkSession, folder: Path) -> None:
    """The others are read; a file that has grown beyond the limit since it was listed is too large."""
    stage = partial(_read, limit=100, links="skip")
    paths = [str(folder / "below" / name) for name in ("gone.xml", "1.xml", "large.xml")]
    listed = pa.RecordBatch.from_pydict({"path": paths, "length": [10, 11, 10], "refusal": [None] * 3})
    (batch,) = stage(iter([listed]))
    assert batch.column("body").to_pylist() == [None, b"<a><b/></a>", None]
    gone, fine, grown = batch.column("error").to_pylist()
    assert (gone["code"], gone["message"]) == (
        "unreadable",
        "the file cannot be read: No such file or directory",
    )
    assert fine is None
    assert grown["code"] == "too-large"

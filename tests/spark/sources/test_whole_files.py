"""Whole files give the same documents, whether workers or Spark read them."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from twigcast import Index
from twigcast import spark as tc
from twigcast.cli.documents import find
from twigcast.errors import SourceError
from twigcast.spark.sources.listing.file_listing import FileListing
from twigcast.spark.sources.listing.local_listing import LocalListing
from twigcast.spark.sources.whole_files import _read, opened_by_spark

INDEX = Index([("b", "//b")])
NAMES = ["1.xml", "2 é%.xml", "{3}.xml", "4.XML", "5.xml.gz"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    below = tmp_path / "feed" / "below"
    below.mkdir(parents=True)
    for name in NAMES:
        body = b"<a><b/></a>"
        (below / name).write_bytes(gzip.compress(body) if name.endswith(".gz") else body)
    (below / "notes.txt").write_bytes(b"no document")
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
    listing = FileListing(str(folder), options, documents=True)
    by_spark = opened_by_spark(listing.listed_by_spark(spark, streaming=False), 100)
    expected = rows(tc.match(by_spark, INDEX))
    assert len(expected) == len(NAMES) + 3 - 2 * bool(options)
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


@pytest.mark.parametrize(
    "options", [{}, {"recursiveFileLookup": "TRUE", "modifiedAfter": "2020-01-01T00:00:00"}]
)
def test_documents_of_a_folder_are_those_of_the_command_line(
    spark: SparkSession, tmp_path: Path, options: dict[str, str]
) -> None:
    """Whoever lists, the same files are documents, with the same bytes; compressed ones are decompressed."""
    for name in [
        "a.xml",
        "B.XML",
        "c.xml.gz",
        "sub/d.xml",
        "notes.txt",
        "e.xml.tmp",
        ".f.xml",
        "_g.xml",
        "h.gz",
    ]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        body = f"<{Path(name).name[0]}/>".encode()
        (tmp_path / name).write_bytes(gzip.compress(body) if name.endswith(".gz") else body)
    (tmp_path / "broken.xml.gz").write_bytes(gzip.compress(b"<a/>")[:-9])
    (tmp_path / "bomb.xml.gz").write_bytes(gzip.compress(b"x" * 10_000))
    expected: dict[str, bytes | str] = {}
    for each in find([str(tmp_path)]):
        try:
            body = each.read(1000)
            expected[each.text] = body if len(body) <= 1000 else "too-large"
        except SourceError as error:
            expected[each.text] = error.code
    rows = tc.read(spark, str(tmp_path), options={"maxBytes": "1000", **options}).collect()
    assert {row.doc_id: row.error.code if row.error else bytes(row.body) for row in rows} == expected
    assert len(expected) == 6


@pytest.mark.parametrize("options", [{}, {"modifiedAfter": "2020-01-01T00:00:00"}])
def test_files_of_other_names_are_documents_if_they_are_named(
    spark: SparkSession, tmp_path: Path, options: dict[str, str]
) -> None:
    """By their path, by a pattern, or by an option."""
    for name in ["a.nitf", "b.xml"]:
        (tmp_path / name).write_bytes(b"<a/>")

    def names(path: str, **more: str) -> list[str]:
        rows = tc.read(spark, path, options={**options, **more}).collect()
        return sorted(Path(row.doc_id).name for row in rows)

    assert names(f"{tmp_path}/a.nitf") == ["a.nitf"]
    assert names(f"{tmp_path}/*") == ["a.nitf", "b.xml"]
    assert names(str(tmp_path), pathGlobFilter="*.nitf") == ["a.nitf"]


def test_a_folder_without_documents_is_noticed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """If there are other files, a warning names one of them, once."""
    (tmp_path / "a.nitf").write_bytes(b"<a/>")
    listing = LocalListing(str(tmp_path), documents=True)
    assert listing.places() == listing.places() == []
    (record,) = caplog.records
    assert "has no documents (*.xml or *.xml.gz), but other files, such as" in record.getMessage()

"""One strange file in a feed is its own affair: everything else is delivered, once."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from pyspark.sql import SparkSession

from twigcast.cli.program import app
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.job import run
from twigcast.spark.runs.retry import retry
from twigcast.spark.runs.stream import stream
from twigcast.subscriptions.store import SubscriptionStore
from twigcast.system import path_of
from twigcast.system.name_text import name_bytes

STRANGE = [
    b"caf\xe9.xml",
    b"two\nlines\t\x1b[31m.xml",
    b"back\\slash.xml",
    b"c:d%20{e}.xml",
    "\u2028é.xml".encode(),
]
SINKS = [
    {"path": "out/table"},
    {"kind": "files", "path": "out/files"},
    {"kind": "jsonl", "path": "out/lines"},
]


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("all", "/*", subscriber="ada")
    (tmp_path / "feed").mkdir()
    return tmp_path / "feed"


def pipeline_in(folder: Path, **tables: Any) -> Pipeline:
    return Pipeline.of({"sink": SINKS, "stream": {"interval_seconds": 0.1}, **tables}, folder=folder)


def put(feed: Path, name: bytes, body: bytes) -> None:
    with open(os.path.join(os.fsencode(feed), name), "wb") as file:
        file.write(body)


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (
        ds.dataset(folder / "out" / table, format="parquet", partitioning="hive").to_table().to_pylist()
    )
    return found


def names(folder: Path, table: str) -> list[bytes]:
    """The names of the documents of a table, relative to the feed, sorted."""
    prefix = os.fsencode(folder / "feed") + b"/"
    return sorted(name_bytes(row["doc_id"]).removeprefix(prefix) for row in rows(folder, table))


def test_names_of_files_may_be_any_bytes(
    spark: SparkSession, tmp_path: Path, feed: Path, invoke: Callable[..., Any]
) -> None:
    """Good and bad documents of any name reach every output, are listed, and can be retried."""
    for name in STRANGE:
        put(feed, name, b"<a/>")
        put(feed, b"bad " + name, b"<a>" + b"<b>" * 5 + b"</b>" * 5 + b"</a>")
    (figures,) = run(spark, pipeline_in(tmp_path, limits={"depth": 3}))
    assert (figures.documents, figures.deliveries, figures.dead_letters) == (10, 5, 5)
    assert names(tmp_path, "table") == sorted(STRANGE)
    assert names(tmp_path, "dead-letters") == sorted(b"bad " + name for name in STRANGE)
    assert len(list((tmp_path / "out" / "files" / "ada").iterdir())) == 5
    lines = (tmp_path / "out" / "lines" / "batch=0.jsonl").read_bytes().splitlines()
    ids = {row["doc_id"] for row in rows(tmp_path, "table")}
    assert {json.loads(line)["doc_id"] for line in lines} == ids
    assert all(os.path.exists(path_of(doc_id)) for doc_id in ids)
    (tmp_path / "pipeline.toml").write_text("")
    listed = invoke(app, "dead-letters", tmp_path / "pipeline.toml")
    assert len(listed.lines) == 5
    assert all(line.count("\t") == 5 and line.replace("\t", "").isprintable() for line in listed.lines)
    letter = listed.lines[0].split("\t")[0]
    body = invoke(app, "dead-letters", tmp_path / "pipeline.toml", "--body", letter)
    assert body.stdout.startswith("<a><b>")
    (again,) = retry(spark, pipeline_in(tmp_path))
    assert (again.documents, again.deliveries, again.dead_letters) == (5, 5, 0)
    assert run(spark, pipeline_in(tmp_path)) == []


def test_a_file_that_is_too_large_can_be_retried_under_any_name(
    spark: SparkSession, tmp_path: Path, feed: Path
) -> None:
    """A letter without a body is read again by its id."""
    put(feed, STRANGE[0], b"<a>" + b" " * 100 + b"</a>")
    run(spark, pipeline_in(tmp_path, limits={"bytes": 50}))
    (figures,) = retry(spark, pipeline_in(tmp_path))
    assert (figures.documents, figures.deliveries, figures.dead_letters) == (1, 1, 0)


def test_members_of_archives_may_have_any_name(spark: SparkSession, tmp_path: Path, feed: Path) -> None:
    """Each member is delivered, also if several have one name and content."""
    with tarfile.open(os.path.join(os.fsencode(feed), b"\xff.tar"), "w") as archive:
        for name in [*STRANGE, b"twice", b"twice"]:
            info = tarfile.TarInfo(os.fsdecode(name))
            info.size = 4
            archive.addfile(info, io.BytesIO(b"<a/>"))
    pipeline = pipeline_in(tmp_path, source={"kind": "archives"})
    (figures,) = run(spark, pipeline)
    assert (figures.documents, figures.deliveries, figures.dead_letters) == (7, 7, 0)
    assert len({row["delivery_id"] for row in rows(tmp_path, "table")}) == 7
    assert len(list((tmp_path / "out" / "files" / "ada").iterdir())) == 7
    assert run(spark, pipeline) == []


@pytest.mark.parametrize("kind", ["directory", "archives", "records"])
def test_pipes_and_links_are_dead_letters(spark: SparkSession, tmp_path: Path, feed: Path, kind: str) -> None:
    """A pipe does not block the run, and links in a circle do not multiply documents, now or later."""
    put(feed, b"1.xml", b"<a/>")
    os.mkfifo(feed / "pipe.xml")
    (feed / "loop").symlink_to(".")
    (feed / "again").symlink_to(".")
    (feed / "out.xml").symlink_to(tmp_path / "subscriptions.db")
    source = {"kind": kind} | ({"record": "a"} if kind == "records" else {})
    (figures,) = run(spark, pipeline_in(tmp_path, source=source))
    assert (figures.documents, figures.deliveries, figures.dead_letters) == (5, 1, 4)
    found = {Path(row["doc_id"]).name: row["code"] for row in rows(tmp_path, "dead-letters")}
    assert found == {"pipe.xml": "not-a-file", "loop": "link", "again": "link", "out.xml": "link"}
    assert run(spark, pipeline_in(tmp_path, source=source)) == []
    followed = pipeline_in(tmp_path, source=source | {"links": "inside"})
    assert run(spark, followed) == []
    (feed / "also.xml").symlink_to("1.xml")
    (figures,) = run(spark, followed)
    assert (figures.documents, figures.deliveries) == (1, 1)


def test_a_stream_takes_what_arrives(
    spark: SparkSession, tmp_path: Path, feed: Path, until: Callable[..., None]
) -> None:
    """Files that come while the stream runs are taken, once, and it ends when it is told."""
    query = stream(spark, pipeline_in(tmp_path, source={"max_per_batch": 2}))
    try:
        for number, name in enumerate(STRANGE):
            put(feed, b"." + name, b"<a/>")
            os.rename(os.fsencode(feed) + b"/." + name, os.fsencode(feed) + b"/" + name)
            if number == 1:
                os.mkfifo(feed / "pipe.xml")
                until(lambda: (tmp_path / "out" / "metrics").exists())
        # Not only processAllAvailable, which may end with a listing that began before the last files came.
        until(lambda: len(list((tmp_path / "out" / "files" / "ada").iterdir())) == len(STRANGE))
        query.processAllAvailable()
    finally:
        query.stop()
    assert names(tmp_path, "table") == sorted(STRANGE)
    assert [row["code"] for row in rows(tmp_path, "dead-letters")] == ["not-a-file"]
    assert run(spark, pipeline_in(tmp_path)) == []

"""A pipeline as a stream and as a job: documents in, deliveries and dead letters out, batch by batch."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from twigcast.errors import RunError, SourceError
from twigcast.spark.outputs.metrics import BatchMetrics, read_metrics
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.job import run
from twigcast.spark.runs.journal import Journal
from twigcast.spark.runs.stream import stream
from twigcast.subscriptions.store import SubscriptionStore


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    folder = tmp_path / "feed"
    folder.mkdir()
    return folder


@pytest.fixture
def table(tmp_path: Path) -> SubscriptionStore:
    return SubscriptionStore(tmp_path / "subscriptions.db")


def pipeline_in(folder: Path, **tables: Any) -> Pipeline:
    return Pipeline.of({"stream": {"interval_seconds": 0.1}, **tables}, folder=folder)


def publish(feed: Path, name: str, body: bytes) -> None:
    """Publish a document atomically: write it under another name, then rename it."""
    hidden = feed / f".{name}"
    hidden.write_bytes(body)
    hidden.rename(feed / name)


def delivered(spark: SparkSession, folder: Path) -> list[tuple[str, str, str]]:
    rows = spark.read.parquet(str(folder / "out" / "deliveries")).collect()
    return sorted((row.subscription, Path(row.doc_id).name, bytes(row.content).decode()) for row in rows)


def test_a_job_runs_what_is_there(
    spark: SparkSession, tmp_path: Path, feed: Path, table: SubscriptionStore
) -> None:
    """Good documents are delivered, bad ones are dead letters, and the metrics count both."""
    table.subscribe("x", "//x", subscriber="ada", deliver="part")
    table.subscribe("all", "/*")
    publish(feed, "1.xml", b"<a><x>1</x><x>2</x></a>")
    publish(feed, "2.xml", b"<b/>")
    publish(feed, "3.xml", b"<a>\n<x></a>")
    seen: list[BatchMetrics] = []
    (figures,) = run(spark, pipeline_in(tmp_path), seen.append)
    assert seen == [figures]
    assert delivered(spark, tmp_path) == [
        ("all", "1.xml", "<a><x>1</x><x>2</x></a>"),
        ("all", "2.xml", "<b/>"),
        ("x", "1.xml", "<x>1</x>"),
        ("x", "1.xml", "<x>2</x>"),
    ]
    (letter,) = spark.read.parquet(str(tmp_path / "out" / "dead-letters")).collect()
    assert (letter.code, letter.line, bytes(letter.body)) == ("malformed", 2, b"<a>\n<x></a>")
    assert (letter.batch, letter.time.tzinfo) == (0, None)
    assert (figures.batch, figures.documents, figures.bytes, figures.matches) == (0, 3, 38, 3)
    assert (figures.deliveries, figures.dead_letters, figures.index_version) == (4, 1, "2")
    assert figures.parse_and_match_seconds > 0
    (row,) = read_metrics(spark, str(tmp_path / "out" / "metrics")).collect()
    assert row.asDict() | {"mappings": ()} == {
        name: getattr(figures, name) for name in BatchMetrics.__slots__
    }


@pytest.mark.parametrize("sinks", [["format"], ["jdbc"], ["jsonl", "jdbc"], ["jdbc", "jsonl", "files"]])
def test_metrics_are_the_same_for_every_sink(
    spark: SparkSession,
    tmp_path: Path,
    feed: Path,
    table: SubscriptionStore,
    derby: Callable[[str], dict[str, str]],
    sinks: list[str],
) -> None:
    """Metrics are observed during the first write, or by a query if the sink does not report them."""
    kinds = {
        "format": {"path": "out/deliveries"},
        "jdbc": {"format": "jdbc", "options": derby("metrics")},
        "jsonl": {"kind": "jsonl", "path": "out/lines"},
        "files": {"kind": "files", "path": "out/files"},
    }
    table.subscribe("x", "//x", deliver="part")
    for name, body in (("1", b"<a><x/><x/></a>"), ("2", b"<b/>"), ("3", b"<a>"), ("4", b"<x/>")):
        publish(feed, f"{name}.xml", body)
    (figures,) = run(spark, pipeline_in(tmp_path, sink=[kinds[name] for name in sinks]))
    assert (figures.documents, figures.bytes, figures.matches) == (4, 26, 2)
    assert (figures.deliveries, figures.dead_letters) == (3, 1)


def test_a_job_goes_on_where_the_last_one_ended(
    spark: SparkSession, tmp_path: Path, feed: Path, table: SubscriptionStore
) -> None:
    """Each document is run once, with the subscriptions at the time of its batch."""
    table.subscribe("a", "/*")
    publish(feed, "1.xml", b"<x/>")
    run(spark, pipeline_in(tmp_path))
    table.unsubscribe("a")
    table.subscribe("b", "/*")
    publish(feed, "2.xml", b"<y/>")
    (second,) = run(spark, pipeline_in(tmp_path))
    assert (second.batch, second.documents, second.index_version) == (1, 1, "3")
    assert delivered(spark, tmp_path) == [("a", "1.xml", "<x/>"), ("b", "2.xml", "<y/>")]
    assert run(spark, pipeline_in(tmp_path)) == []


def test_a_batch_that_is_run_again_has_the_subscriptions_of_its_begin(
    spark: SparkSession, tmp_path: Path, feed: Path, table: SubscriptionStore
) -> None:
    """A batch that was stopped is run again with the version of the journal, without duplicates."""
    table.subscribe("a", "/*")
    publish(feed, "1.xml", b"<x/>")
    sinks = [
        {"kind": "format", "path": "out/deliveries"},
        {"kind": "files", "path": "out/files"},
        {"kind": "jsonl", "path": "out/lines"},
    ]
    pipeline = pipeline_in(tmp_path, sink=sinks)
    run(spark, pipeline)
    (tmp_path / "work" / "checkpoint" / "commits" / "0").unlink()
    (tmp_path / "work" / "checkpoint" / "commits" / ".0.crc").unlink(missing_ok=True)
    table.unsubscribe("a")
    table.subscribe("late", "/*")
    (again,) = run(spark, pipeline)
    assert (again.batch, again.index_version) == (0, "1")
    assert delivered(spark, tmp_path) == [("a", "1.xml", "<x/>")]
    assert [file.parent.name for file in (tmp_path / "out" / "files").glob("*/*.xml")] == ["a"]
    assert len((tmp_path / "out" / "lines" / "batch=0.jsonl").read_text().splitlines()) == 1


def test_a_stream_uses_new_subscriptions_with_its_next_batch(
    spark: SparkSession, tmp_path: Path, feed: Path, table: SubscriptionStore, until: Callable[..., None]
) -> None:
    """A change of subscriptions applies to the next batch, without a restart of the stream."""
    table.subscribe("a", "//x")
    done: list[BatchMetrics] = []
    query = stream(spark, pipeline_in(tmp_path), on_batch=done.append)
    try:
        publish(feed, "1.xml", b"<x/>")
        until(lambda: len(done) == 1)
        table.subscribe("b", "//x")
        publish(feed, "2.xml", b"<x/>")
        until(lambda: len(done) == 2)
    finally:
        query.stop()
    assert [each.index_version for each in done] == ["1", "2"]
    entries = Journal(tmp_path / "work" / "journal").entries()
    assert [entry.version for entry in entries.values()] == ["1", "2"]
    assert [(s, d) for s, d, _ in delivered(spark, tmp_path)] == [
        ("a", "1.xml"),
        ("a", "2.xml"),
        ("b", "2.xml"),
    ]


def test_an_empty_file_is_a_dead_letter(
    spark: SparkSession, tmp_path: Path, feed: Path, table: SubscriptionStore, until: Callable[..., None]
) -> None:
    """An empty file is reported like any bad document, also if it is the only file of a batch."""
    publish(feed, "1.xml", b"<x/>")
    publish(feed, "2.xml", b"")
    (figures,) = run(spark, pipeline_in(tmp_path))
    assert (figures.documents, figures.dead_letters) == (2, 1)
    done: list[BatchMetrics] = []
    query = stream(spark, pipeline_in(tmp_path), on_batch=done.append)
    try:
        publish(feed, "3.xml", b"")
        until(lambda: len(done) == 1)
    finally:
        query.stop()
    letters = spark.read.parquet(str(tmp_path / "out" / "dead-letters")).collect()
    assert sorted((row.batch, Path(row.doc_id).name, row.code, bytes(row.body)) for row in letters) == [
        (0, "2.xml", "empty", b""),
        (1, "3.xml", "empty", b""),
    ]


def test_shards_deliver_the_same(
    spark: SparkSession, tmp_path: Path, feed: Path, table: SubscriptionStore
) -> None:
    """Several indexes deliver what one index with all subscriptions delivers."""
    for number in range(6):
        table.subscribe(f"s{number}", f"//x{number % 2}")
    publish(feed, "1.xml", b"<x1/>")
    (figures,) = run(spark, pipeline_in(tmp_path, subscriptions={"shards": 3}))
    assert [s for s, _, _ in delivered(spark, tmp_path)] == ["s1", "s3", "s5"]
    assert figures.index_version == "6"


def test_batches_of_another_work_folder_are_not_overwritten(
    spark: SparkSession, tmp_path: Path, feed: Path, table: SubscriptionStore
) -> None:
    """A run is refused if its work folder was removed and its outputs were kept."""
    table.subscribe("a", "/*")
    publish(feed, "1.xml", b"<x/>")
    run(spark, pipeline_in(tmp_path))
    shutil.rmtree(tmp_path / "work")
    with pytest.raises(RunError, match="another work folder"):
        run(spark, pipeline_in(tmp_path))
    assert delivered(spark, tmp_path) == [("a", "1.xml", "<x/>")]


@pytest.mark.parametrize("start", [run, stream])
def test_without_a_subscription_table_nothing_is_used_up(
    spark: SparkSession, tmp_path: Path, feed: Path, start: Callable[..., Any]
) -> None:
    """A misspelt path is an error; when it is corrected, no document is missing."""
    publish(feed, "1.xml", b"<x/>")
    with pytest.raises(SourceError, match="no such subscription store") as caught:
        start(spark, pipeline_in(tmp_path))
    path = tmp_path / "subscriptions.db"
    assert (caught.value.code, caught.value.path, path.exists()) == ("not-found", str(path), False)
    SubscriptionStore(path).subscribe("a", "/*")
    (figures,) = run(spark, pipeline_in(tmp_path))
    assert (figures.documents, figures.deliveries) == (1, 1)

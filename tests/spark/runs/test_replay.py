"""Past documents are sent through the current subscriptions, and nobody gets a delivery twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from twigcast.errors import RunError
from twigcast.spark.outputs.dead_letters import read_letters
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs import replay as replay_module
from twigcast.spark.runs.job import run
from twigcast.spark.runs.replay import replay
from twigcast.spark.runs.retry import retry
from twigcast.subscriptions.store import SubscriptionStore

SINKS = [
    {"path": "out/table"},
    {"kind": "files", "path": "out/files"},
    {"kind": "jsonl", "path": "out/lines"},
]


def pipeline_in(folder: Path, **tables: Any) -> Pipeline:
    return Pipeline.of({"sink": SINKS, **tables}, folder=folder)


@pytest.fixture
def store(tmp_path: Path) -> SubscriptionStore:
    """A store with the subscription of ada to everything."""
    store = SubscriptionStore(tmp_path / "subscriptions.db")
    store.subscribe("all", "/*", subscriber="ada")
    return store


@pytest.fixture
def pipeline(spark: SparkSession, tmp_path: Path, store: SubscriptionStore) -> Pipeline:
    """A pipeline that has run two batches: a.xml and a broken file, then b.xml."""
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "a.xml").write_bytes(b"<a><p/></a>")
    (tmp_path / "feed" / "broken.xml").write_bytes(b"<a>")
    pipeline = pipeline_in(tmp_path)
    run(spark, pipeline)
    (tmp_path / "feed" / "b.xml").write_bytes(b"<b><p/></b>")
    run(spark, pipeline)
    return pipeline


def table(folder: Path, spark: SparkSession, name: str = "out/table") -> list[tuple[str, str, int]]:
    rows = spark.read.parquet(str(folder / name)).collect()
    return sorted((row.subscriber, Path(row.doc_id).name, row.batch) for row in rows)


def lines(folder: Path) -> list[tuple[str, str]]:
    rows = [json.loads(line) for file in folder.glob("out/lines/*.jsonl") for line in file.open()]
    return sorted((row["subscriber"], Path(row["doc_id"]).name) for row in rows)


def files(folder: Path) -> dict[str, int]:
    return dict(Counter(file.parent.name for file in folder.glob("out/files/*/*.xml")))


def test_a_new_subscriber_gets_past_documents_and_nobody_else_does(
    spark: SparkSession, tmp_path: Path, store: SubscriptionStore, pipeline: Pipeline
) -> None:
    """A second replay delivers nothing, and the broken document stays one dead letter."""
    before = table(tmp_path, spark)
    store.subscribe("ps", "//p", subscriber="bob")
    done = replay(spark, pipeline)
    assert [(each.batch, each.documents, each.deliveries, each.dead_letters) for each in done.batches] == [
        (-1, 3, 2, 0)
    ]
    assert table(tmp_path, spark) == [*before, ("bob", "a.xml", -1), ("bob", "b.xml", -1)]
    assert lines(tmp_path) == [(who, name) for who in ("ada", "bob") for name in ("a.xml", "b.xml")]
    assert files(tmp_path) == {"ada": 2, "bob": 2}
    assert [each.deliveries for each in replay(spark, pipeline).batches] == [0]
    assert len(table(tmp_path, spark)) == 4
    assert read_letters(spark, pipeline).count() == 1


def test_delivery_ids_are_those_of_a_run_with_the_subscription(
    spark: SparkSession, tmp_path: Path, store: SubscriptionStore, pipeline: Pipeline
) -> None:
    """A pipeline that had the subscription from the start delivers the same ids."""
    store.subscribe("ps", "//p", subscriber="bob")
    replay(spark, pipeline)
    others = {key: {"path": f"other/{key}"} for key in ("dead_letters", "metrics")}
    other = Pipeline.of({"sink": {"path": "other/table"}, "work": "other/work", **others}, folder=tmp_path)
    run(spark, other)
    ids = [
        {row.delivery_id for row in spark.read.parquet(str(tmp_path / name)).collect()}
        for name in ("out/table", "other/table")
    ]
    assert ids[0] == ids[1]
    assert len(ids[0]) == 4


def test_a_retry_delivers_nothing_that_a_replay_has_delivered(
    spark: SparkSession, tmp_path: Path, pipeline: Pipeline
) -> None:
    """A replay reads the broken document after it was repaired; its dead letter stays open until a retry."""
    (tmp_path / "feed" / "broken.xml").write_bytes(b"<a/>")
    (sent,) = replay(spark, pipeline).batches
    (retried,) = retry(spark, pipeline)
    assert (sent.deliveries, retried.deliveries, retried.dead_letters) == (1, 0, 0)
    assert table(tmp_path, spark)[2:] == [("ada", "broken.xml", -1)]
    assert lines(tmp_path) == [("ada", name) for name in ("a.xml", "b.xml", "broken.xml")]
    assert retry(spark, pipeline) == []


def test_a_changed_sink_gets_everything(spark: SparkSession, tmp_path: Path, pipeline: Pipeline) -> None:
    """The other sinks have their deliveries already, and get none of them."""
    changed = Pipeline.of({"sink": [*SINKS, {"path": "out/new"}]}, folder=tmp_path)
    replay(spark, changed)
    assert table(tmp_path, spark, "out/new") == [("ada", "a.xml", -1), ("ada", "b.xml", -1)]
    assert len(table(tmp_path, spark)) == len(lines(tmp_path)) == 2


def test_one_sink_and_one_subscriber(
    spark: SparkSession, tmp_path: Path, store: SubscriptionStore, pipeline: Pipeline
) -> None:
    """Only the subscriber that is named gets something, and only in the sink that is named."""
    store.subscribe("ps", "//p", subscriber="bob")
    store.subscribe("bs", "/b", subscriber="carl")
    replay(spark, pipeline, subscriber="carl", sink="lines")
    assert lines(tmp_path) == [("ada", "a.xml"), ("ada", "b.xml"), ("carl", "b.xml")]
    assert len(table(tmp_path, spark)) == 2
    replay(spark, pipeline, subscriber="bob", sink="files")
    assert files(tmp_path) == {"ada": 2, "bob": 2}
    with pytest.raises(RunError, match="'nobody' has no subscription"):
        replay(spark, pipeline, subscriber="nobody")
    with pytest.raises(RunError, match=r"there is no sink attic: the sinks are .*out/table, .*out/files"):
        replay(spark, pipeline, sink="attic")


def test_since_a_batch_and_since_a_time(
    spark: SparkSession, tmp_path: Path, store: SubscriptionStore, pipeline: Pipeline
) -> None:
    """Batches before it are not read."""
    store.subscribe("ps", "//p", subscriber="bob")
    (done,) = replay(spark, pipeline, from_batch=1).batches
    assert (done.documents, done.deliveries) == (1, 1)
    assert replay(spark, pipeline, since=datetime.now(UTC)).batches == []
    (done,) = replay(spark, pipeline, since=datetime(2000, 1, 1, tzinfo=UTC)).batches
    assert (done.documents, done.deliveries) == (3, 1)
    assert table(tmp_path, spark)[2:] == [("bob", "a.xml", -2), ("bob", "b.xml", -1)]
    (tmp_path / "work" / "journal" / "0.json").unlink()  # as in a journal of more than 10,000 batches
    with pytest.raises(RunError, match="does not have the times of the batches before batch 1, of 20"):
        replay(spark, pipeline, since=datetime(2000, 1, 1, tzinfo=UTC))
    assert replay(spark, pipeline, since=datetime.now(UTC)).batches == []


def test_again_sends_everything_once_more(spark: SparkSession, tmp_path: Path, pipeline: Pipeline) -> None:
    """With ``again`` the sinks get what they have; the ids are the same."""
    replay(spark, pipeline, again=True, sink="table")
    rows = spark.read.parquet(str(tmp_path / "out/table")).collect()
    assert sorted(Counter(row.delivery_id for row in rows).values()) == [2, 2]


def test_a_file_that_is_gone_is_reported(
    spark: SparkSession, tmp_path: Path, store: SubscriptionStore, pipeline: Pipeline
) -> None:
    """The other documents are sent, and no dead letter is written."""
    store.subscribe("ps", "//p", subscriber="bob")
    (tmp_path / "feed" / "a.xml").unlink()
    done = replay(spark, pipeline)
    assert (done.missing, [each.deliveries for each in done.batches]) == (
        [str(tmp_path / "feed" / "a.xml")],
        [1],
    )
    assert read_letters(spark, pipeline).count() == 1


@pytest.mark.parametrize("point", ["before", "after"])
def test_a_replay_that_was_cut_off_is_finished_by_the_next(
    spark: SparkSession,
    tmp_path: Path,
    store: SubscriptionStore,
    pipeline: Pipeline,
    monkeypatch: pytest.MonkeyPatch,
    point: str,
) -> None:
    """It fails in its second batch, before or after the outputs were written; nothing is lost or doubled."""
    small = pipeline_in(tmp_path, source={"max_per_batch": 2})
    store.subscribe("ps", "//p", subscriber="bob")
    whole = replay_module.run_batch

    def failing(state: Any, documents: Any, batch: int, **options: Any) -> Any:
        if batch == -2 and point == "before":
            raise OSError("no space left")
        made = whole(state, documents, batch, **options)
        if batch == -2:
            raise OSError("no space left")
        return made

    with monkeypatch.context() as patched:
        patched.setattr(replay_module, "run_batch", failing)
        with pytest.raises(RunError, match="no space left"):
            replay(spark, small)
    (letter,) = retry(spark, small)  # gets a number of its own
    assert letter.batch == -3
    done = replay(spark, small)
    assert [each.batch for each in done.batches] == [-2]
    assert table(tmp_path, spark)[2:] == [("bob", "a.xml", -1), ("bob", "b.xml", -2)]
    assert lines(tmp_path) == [(who, name) for who in ("ada", "bob") for name in ("a.xml", "b.xml")]


def test_a_batch_that_was_interrupted_is_left_to_the_next_run(
    spark: SparkSession, tmp_path: Path, store: SubscriptionStore, pipeline: Pipeline
) -> None:
    """Its documents are delivered by that run."""
    (tmp_path / "out" / "metrics" / "batch=1" / "part-0.parquet").unlink()
    done = replay(spark, pipeline, again=True, sink="table")
    assert (done.interrupted, [each.documents for each in done.batches]) == (1, [2])


def test_a_sink_that_cannot_say_what_it_has_is_left_out(
    spark: SparkSession, tmp_path: Path, pipeline: Pipeline
) -> None:
    """If no other sink is there, the replay is refused; with ``again`` it gets everything."""
    silent = {"kind": "format", "format": "noop"}
    done = replay(spark, Pipeline.of({"sink": [*SINKS, silent]}, folder=tmp_path))
    assert (done.left_out, [each.deliveries for each in done.batches]) == (["noop"], [0])
    with pytest.raises(RunError, match="noop cannot say which deliveries it has"):
        replay(spark, Pipeline.of({"sink": silent}, folder=tmp_path))
    (figures,) = replay(spark, Pipeline.of({"sink": silent}, folder=tmp_path), again=True).batches
    assert figures.deliveries == 2


def test_a_table_that_spark_lists_is_replayed_by_its_files(
    spark: SparkSession, tmp_path: Path, store: SubscriptionStore
) -> None:
    """The files of each batch are those in Spark's log of the stream."""
    source = {"kind": "table", "path": "rows"}
    for name in ("a", "b"):
        frame = spark.createDataFrame([(name, bytearray(b"<p/>"))], "doc_id string, body binary")
        frame.coalesce(1).write.mode("append").parquet(str(tmp_path / "rows"))
        run(spark, pipeline_in(tmp_path, source=source))
    store.subscribe("ps", "//p", subscriber="bob")
    (figures,) = replay(spark, pipeline_in(tmp_path, source=source), from_batch=1).batches
    assert (figures.documents, figures.deliveries) == (1, 1)
    replay(spark, pipeline_in(tmp_path, source=source))
    assert table(tmp_path, spark)[2:] == [("bob", "a", -2), ("bob", "b", -1)]


def test_a_database_is_replayed_as_a_whole(
    spark: SparkSession,
    tmp_path: Path,
    store: SubscriptionStore,
    derby: Callable[[str], dict[str, str]],
) -> None:
    """Source and sink are tables of a database; the sink is asked which deliveries it has."""
    frame = spark.createDataFrame([("a", "<p/>"), ("b", "<q/>")], "doc_id string, body string")
    frame.write.format("jdbc").options(**derby("documents")).save()
    pipeline = Pipeline.of(
        {
            "source": {"kind": "format", "format": "jdbc", "options": derby("documents")},
            "sink": {"kind": "format", "format": "jdbc", "options": derby("deliveries")},
        },
        folder=tmp_path,
    )
    run(spark, pipeline)
    store.subscribe("ps", "//p", subscriber="bob")
    (figures,) = replay(spark, pipeline).batches
    assert (figures.documents, figures.deliveries) == (2, 1)
    with pytest.raises(RunError, match="each batch had the whole source"):
        replay(spark, pipeline, from_batch=0)


def test_huge_files_and_archives_are_replayed(spark: SparkSession, tmp_path: Path) -> None:
    """References to a huge file are delivered like documents."""
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "a.xml").write_bytes(b"<a>" + b"<p/>" * 100 + b"</a>")
    store = SubscriptionStore(tmp_path / "subscriptions.db")
    store.subscribe("all", "/*", subscriber="ada")
    source = {"kind": "huge", "fragment_bytes": 100}
    pipeline = Pipeline.of({"source": source, "sink": {"path": "out/table"}}, folder=tmp_path)
    run(spark, pipeline)
    store.subscribe("ps", "//p", subscriber="bob")
    (figures,) = replay(spark, pipeline).batches
    assert (figures.documents, figures.deliveries) == (1, 1)
    assert table(tmp_path, spark) == [("ada", "a.xml", 0), ("bob", "a.xml", -1)]

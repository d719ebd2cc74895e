"""Dead letters are retried once each, wherever a retry was cut off."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from twigcast.errors import RunError, SourceError
from twigcast.spark.outputs.dead_letters import open_letters, read_letters
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.job import run
from twigcast.spark.runs.journal import Journal
from twigcast.spark.runs.retry import retry
from twigcast.subscriptions.store import SubscriptionStore

DEEP = b"<a>" * 5 + b"</a>" * 5
LONG = b"<a>" + b"x" * 200 + b"</a>"


@pytest.fixture
def strict(spark: SparkSession, tmp_path: Path) -> Pipeline:
    """A pipeline after a run whose limits were too strict for two documents; a third is malformed."""
    feed = tmp_path / "feed"
    feed.mkdir()
    for name, body in [("good", b"<a/>"), ("deep", DEEP), ("long", LONG), ("broken", b"<a>")]:
        (feed / f"{name}.xml").write_bytes(body)
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("all", "/*")
    pipeline = pipeline_in(tmp_path, limits={"depth": 3, "bytes": 100})
    run(spark, pipeline)
    return pipeline


def pipeline_in(folder: Path, **tables: Any) -> Pipeline:
    sinks = [{"path": "out/deliveries"}, {"kind": "files", "path": "out/files"}]
    return Pipeline.of({"sink": sinks, **tables}, folder=folder)


def delivered(spark: SparkSession, folder: Path) -> list[tuple[str, int]]:
    rows = spark.read.parquet(str(folder / "out" / "deliveries")).collect()
    names = {f"{Path(row.doc_id).stem}-{row.delivery_id[:16]}.xml" for row in rows}
    assert names == {file.name for file in folder.glob("out/files/*/*.xml")}
    return sorted((Path(row.doc_id).stem, row.batch) for row in rows)


def opened(spark: SparkSession, pipeline: Pipeline) -> list[tuple[str, int]]:
    rows = open_letters(spark, pipeline).select("doc_id", "batch").collect()
    return sorted((Path(row.doc_id).stem, row.batch) for row in rows)


def test_letters_are_run_again_as_a_batch_of_their_own(
    spark: SparkSession, tmp_path: Path, strict: Pipeline
) -> None:
    """Documents that can be read now are delivered; the others are letters again, of the retry."""
    assert opened(spark, strict) == [("broken", 0), ("deep", 0), ("long", 0)]
    lenient = pipeline_in(tmp_path)
    (figures,) = retry(spark, lenient)
    assert (figures.batch, figures.documents, figures.deliveries, figures.dead_letters) == (-1, 3, 2, 1)
    assert delivered(spark, tmp_path) == [("deep", -1), ("good", 0), ("long", -1)]
    assert opened(spark, lenient) == [("broken", -1)]
    (again,) = retry(spark, lenient)
    assert (again.batch, again.documents, again.dead_letters) == (-2, 1, 1)
    assert delivered(spark, tmp_path) == [("deep", -1), ("good", 0), ("long", -1)]
    assert read_letters(spark, lenient).count() == 5


def test_a_file_that_could_not_be_read_is_read_when_it_can_be(spark: SparkSession, tmp_path: Path) -> None:
    """The file is first one of the kernel that not even root can read; the other file was delivered."""
    feed = tmp_path / "feed"
    feed.mkdir()
    (feed / "fine.xml").write_bytes(b"<a/>")
    (feed / "other.xml").symlink_to("/proc/self/mem")
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("all", "/*")
    pipeline = pipeline_in(tmp_path, source={"links": "follow"})
    run(spark, pipeline)
    (letter,) = open_letters(spark, pipeline).collect()
    assert (Path(letter.doc_id).name, letter.code, letter.body) == ("other.xml", "unreadable", None)
    (still,) = retry(spark, pipeline)
    assert (still.deliveries, still.dead_letters) == (0, 1)
    (feed / "other.xml").unlink()
    (feed / "other.xml").write_bytes(b"<a/>")
    (figures,) = retry(spark, pipeline)
    assert (figures.deliveries, figures.dead_letters) == (1, 0)
    assert delivered(spark, tmp_path) == [("fine", 0), ("other", -2)]


def test_a_condition_selects_letters(spark: SparkSession, tmp_path: Path, strict: Pipeline) -> None:
    """Letters that do not fulfil it stay open."""
    lenient = pipeline_in(tmp_path)
    (figures,) = retry(spark, lenient, "code = 'too-deep'")
    assert (figures.documents, figures.deliveries) == (1, 1)
    assert opened(spark, lenient) == [("broken", 0), ("long", 0)]
    assert retry(spark, lenient, "code = 'too-deep'") == []


def test_a_retry_that_was_cut_off_is_finished_by_the_next(
    spark: SparkSession, tmp_path: Path, strict: Pipeline
) -> None:
    """An interrupted retry is run first, under the same number, with its own letters and index version."""
    lenient = pipeline_in(tmp_path)
    retry(spark, lenient, "code = 'too-deep'")
    (tmp_path / "work" / "journal" / "-1.done").unlink()
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("late", "/*")
    first, second = retry(spark, lenient)
    assert (first.batch, first.documents, first.index_version) == (-1, 1, "1")
    assert (second.batch, second.documents, second.index_version) == (-2, 2, "2")
    assert delivered(spark, tmp_path) == [("deep", -1), ("good", 0), ("long", -2), ("long", -2)]


def test_a_retry_that_was_cut_off_before_its_entry_has_not_happened(
    spark: SparkSession, tmp_path: Path, strict: Pipeline
) -> None:
    """If no entry was written, the letters stay open, and the next retry gets the same number."""
    lenient = pipeline_in(tmp_path)
    retry(spark, lenient, "code = 'too-deep'")
    for file in (tmp_path / "work" / "journal").glob("-1.*"):
        file.unlink()
    assert opened(spark, lenient) == [("broken", 0), ("deep", 0), ("long", 0)]
    (figures,) = retry(spark, lenient)
    assert (figures.batch, figures.documents) == (-1, 3)
    assert delivered(spark, tmp_path) == [("deep", -1), ("good", 0), ("long", -1)]


def test_without_letters_there_is_nothing_to_retry(spark: SparkSession, tmp_path: Path) -> None:
    """A retry without open letters uses no batch number."""
    SubscriptionStore(tmp_path / "subscriptions.db")
    pipeline = pipeline_in(tmp_path)
    assert retry(spark, pipeline) == []
    assert Journal(tmp_path / "work" / "journal").batches() == []


def test_without_a_subscription_table_there_is_no_retry(
    spark: SparkSession, tmp_path: Path, strict: Pipeline
) -> None:
    """The letters stay open, and no subscription store is created."""
    table = tmp_path / "subscriptions.db"
    table.rename(tmp_path / "moved.db")
    with pytest.raises(SourceError, match="no such subscription store"):
        retry(spark, strict)
    assert not table.exists()
    assert opened(spark, strict) == [("broken", 0), ("deep", 0), ("long", 0)]


@pytest.mark.parametrize("several", [False, True], ids=["observed", "cached"])
def test_parts_that_were_too_large_are_delivered_to_their_subscription(
    spark: SparkSession, tmp_path: Path, several: bool
) -> None:
    """The others have their deliveries already and do not get them again."""
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "nested.xml").write_bytes(b"<a xmlns='urn:a'>" * 50 + b"</a>" * 50)
    store = SubscriptionStore(tmp_path / "subscriptions.db")
    store.subscribe("all", "//*", deliver="part")
    store.subscribe("root", "/*", deliver="part")
    store.subscribe("whole", "/*")
    sinks = [{"path": "out/deliveries"}, {"kind": "files", "path": "out/files"}][: 2 if several else 1]

    def pipeline(**limits: Any) -> Pipeline:
        return Pipeline.of({"sink": sinks, "limits": limits}, folder=tmp_path)

    def subscriptions() -> dict[tuple[str, int], int]:
        rows = spark.read.parquet(str(tmp_path / "out" / "deliveries")).collect()
        return dict(Counter((row.subscription, row.batch) for row in rows))

    (figures,) = run(spark, pipeline(part_threshold=2000))
    assert (figures.documents, figures.deliveries, figures.dead_letters) == (1, 2, 1)
    assert subscriptions() == {("root", 0): 1, ("whole", 0): 1}
    (letter,) = open_letters(spark, pipeline()).collect()
    assert (letter.code, letter.subscription, letter.batch) == ("parts-too-large", "all", 0)
    (figures,) = retry(spark, pipeline(depth=10))
    assert (figures.deliveries, figures.dead_letters) == (0, 1)
    (letter,) = open_letters(spark, pipeline()).collect()
    assert (letter.code, letter.subscription, letter.batch) == ("too-deep", "all", -1)
    (figures,) = retry(spark, pipeline())
    assert (figures.documents, figures.deliveries, figures.dead_letters) == (1, 50, 0)
    assert subscriptions() == {("root", 0): 1, ("whole", 0): 1, ("all", -2): 50}
    assert opened(spark, pipeline()) == []


def origins(retried: Any) -> dict[str, str]:
    return {Path(id).name: origin for id, origin in retried.origins}


def test_a_file_that_was_repaired_is_read_again(
    spark: SparkSession, tmp_path: Path, strict: Pipeline
) -> None:
    """A file that is gone is retried with the bytes of its letter."""
    (tmp_path / "feed" / "broken.xml").write_bytes(b"<a></a>")
    (tmp_path / "feed" / "deep.xml").unlink()
    (figures,) = retry(spark, pipeline_in(tmp_path))
    assert (figures.documents, figures.deliveries, figures.dead_letters) == (3, 3, 0)
    assert origins(figures) == {"broken.xml": "source", "deep.xml": "stored", "long.xml": "source"}
    (file,) = (
        row.content
        for row in spark.read.parquet(str(tmp_path / "out/deliveries")).collect()
        if row.doc_id.endswith("broken.xml")
    )
    assert file == b"<a></a>"


def test_a_letter_is_retried_with_other_bytes(spark: SparkSession, tmp_path: Path, strict: Pipeline) -> None:
    """Only this letter is taken; it is named by its id, or by the end of its path."""
    fixed = tmp_path / "fixed.xml"
    fixed.write_bytes(b"<fixed/>")
    (figures,) = retry(spark, strict, replace={"feed/broken.xml": fixed})
    assert (figures.documents, figures.deliveries) == (1, 1)
    assert origins(figures) == {"broken.xml": "replacement"}
    assert opened(spark, strict) == [("deep", 0), ("long", 0)]
    with pytest.raises(SourceError, match="no such dead letter"):
        retry(spark, strict, replace={"broken.xml": b"<a/>"})
    (tmp_path / "work" / "journal" / "-1.done").unlink()
    fixed.unlink()
    (again,) = retry(spark, strict, "false")
    assert (again.batch, again.deliveries, origins(again)) == (-1, 1, {"broken.xml": "replacement"})


def test_members_of_an_archive_that_was_repaired_are_read_again(spark: SparkSession, tmp_path: Path) -> None:
    """Members that were delivered are not delivered again, and the letters of others stay as they are."""

    def write(name: str, **members: bytes) -> None:
        with zipfile.ZipFile(tmp_path / "feed" / name, "w") as file:
            for member, body in members.items():
                file.writestr(member, body)

    (tmp_path / "feed").mkdir()
    write("one.zip", a=b"<a/>", b=b"<b>", c=b"<c>")
    write("two.zip", a=b"<a/>", b=b"<b/>")
    whole = (tmp_path / "feed" / "two.zip").read_bytes()
    (tmp_path / "feed" / "two.zip").write_bytes(whole[:-30])
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("all", "/*")
    pipeline = pipeline_in(tmp_path, source={"kind": "archives"})
    run(spark, pipeline)
    assert len(opened(spark, pipeline)) == 3
    with pytest.raises(RunError, match="has many documents: replace the file itself"):
        retry(spark, pipeline, replace={"two.zip": b"<a/>"})
    write("one.zip", a=b"<a/>", b=b"<b></b>", c=b"<c>")
    (tmp_path / "feed" / "two.zip").write_bytes(whole)
    (figures,) = retry(spark, pipeline, "doc_id not like '%!c'")
    ids = [Path(row.doc_id).name for row in spark.read.parquet(str(tmp_path / "out/deliveries")).collect()]
    assert sorted(ids) == ["one.zip!a", "one.zip!b", "two.zip!a", "two.zip!b"]
    assert (figures.deliveries, figures.dead_letters) == (3, 0)
    (letter,) = open_letters(spark, pipeline).collect()
    assert (Path(letter.doc_id).name, letter.batch) == ("one.zip!c", 0)


def test_records_and_rows_are_read_again(spark: SparkSession, tmp_path: Path) -> None:
    """A record that begins at the same offset, and the row with the same id, are taken from the source."""
    (tmp_path / "feed").mkdir()
    records = tmp_path / "feed" / "all.xml"
    records.write_bytes(b"<all><r><a></r><r><b></r></all>")
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("all", "/*")
    pipeline = pipeline_in(tmp_path, source={"kind": "records", "record": "r"})
    (first,) = run(spark, pipeline)
    assert first.dead_letters == 2
    records.write_bytes(b"<all><r><a/></r><r><b/></r></all>")
    (figures,) = retry(spark, pipeline)
    assert (figures.deliveries, figures.dead_letters) == (1, 1)
    assert origins(figures) == {"all.xml#5": "source", "all.xml#15": "stored"}


def test_a_row_that_was_repaired_is_read_again(spark: SparkSession, tmp_path: Path) -> None:
    """Rows of one id that is there twice are not told apart, and the stored bytes are used."""

    def write(*rows: tuple[str, str]) -> None:
        frame = spark.createDataFrame(list(rows), "doc_id string, body string")
        frame.coalesce(1).write.mode("overwrite").json(str(tmp_path / "rows"))

    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("all", "/*")
    write(("a", "<a>"), ("b", "<b>"), ("c", "<c/>"))
    options = {"schema": "doc_id string, body string"}
    pipeline = pipeline_in(
        tmp_path, source={"kind": "format", "format": "json", "path": "rows", "options": options}
    )
    run(spark, pipeline)
    write(("a", "<a/>"), ("b", "<b/>"), ("b", "<b></b>"), ("c", "<c/>"))
    (figures,) = retry(spark, pipeline)
    assert origins(figures) == {"a": "source", "b": "stored"}
    assert (figures.deliveries, figures.dead_letters) == (1, 1)


def test_a_huge_file_that_was_repaired_is_read_again(spark: SparkSession, tmp_path: Path) -> None:
    """A huge file has no stored bytes."""
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "a.xml").write_bytes(b"<a>" + b"<p/>" * 100)
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("all", "/*")
    pipeline = Pipeline.of(
        {"source": {"kind": "huge", "fragment_bytes": 100}, "sink": {"path": "out/deliveries"}},
        folder=tmp_path,
    )
    run(spark, pipeline)
    (tmp_path / "feed" / "a.xml").write_bytes(b"<a>" + b"<p/>" * 100 + b"</a>")
    (figures,) = retry(spark, pipeline)
    assert (figures.deliveries, figures.dead_letters, origins(figures)) == (1, 0, {"a.xml": "source"})
    assert opened(spark, pipeline) == []

"""A pipeline over fragments: documents in several batches, versions, replays, faults and early answers."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from twigcast import Index
from twigcast.errors import PipelineError
from twigcast.fragmenting import Fragment, Spans, encode, fragment
from twigcast.spark.fragments import OpenDocuments
from twigcast.spark.outputs import open_letters
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.batch import RunState, run_batch
from twigcast.spark.runs.job import run
from twigcast.spark.runs.retry import retry
from twigcast.subscriptions.store import SubscriptionStore


def shop(name: str) -> bytes:
    items = "".join(f"<item n='{n}'><name>{name}</name></item>" for n in range(12))
    return f"<shop>{items}<end/></shop>".encode()


def parts(name: str, body: bytes | None = None) -> list[Fragment]:
    return list(fragment(shop(name) if body is None else body, doc_id=name, cut=Spans(elements=6)))


class Feed:
    """The folder of a pipeline whose batches are fed one by one."""

    def __init__(self, spark: SparkSession, folder: Path, **tables: Any) -> None:
        self.spark, self.folder = spark, folder
        (folder / "feed").mkdir(parents=True)
        self.store = SubscriptionStore(folder / "subscriptions.db")
        self.store.subscribe("all", "/shop", subscriber="ada")
        self.store.subscribe("twig", "/shop[item[@n='1']]/end", subscriber="bob")
        self.store.subscribe("count", "/shop[count(item) = 12]", subscriber="bob")
        self.store.subscribe("part", "//item[@n='11']/name", subscriber="cyd", deliver="part")
        source = {"kind": "fragments", "path": "feed", **tables.pop("source", {})}
        self.pipeline = Pipeline.of({"source": source, **tables}, folder=folder)
        self._files = 0

    def batch(self, *sent: Fragment | bytes) -> Any:
        """Send fragments, and run the batch that has them; returns its metrics."""
        for each in sent:
            self._files += 1
            data = each if isinstance(each, bytes) else encode(each)
            (self.folder / "feed" / f"{self._files:04}.tcf").write_bytes(data)
        (metrics,) = run(self.spark, self.pipeline)
        return metrics

    def deliveries(self) -> list[tuple[Any, ...]]:
        rows = self.spark.read.parquet(str(self.folder / "out/deliveries")).collect()
        return sorted(
            (row.batch, row.doc_id, row.subscription, row.content and bytes(row.content)) for row in rows
        )

    def letters(self) -> list[tuple[Any, ...]]:
        rows = open_letters(self.spark, self.pipeline).collect()
        return sorted(
            (row.batch, row.doc_id, row.code, row.fragment or 0, row.subscription or "") for row in rows
        )


def test_documents_in_several_batches(spark: SparkSession, tmp_path: Path) -> None:
    """Each is delivered once, in the batch that completes it, to the subscriptions of its first fragment."""
    feed = Feed(spark, tmp_path)
    one, two, three = parts("one"), parts("two"), parts("three")
    assert len(one) == 5
    first = feed.batch(one[3], one[0], *two, three[4])
    assert (first.documents, first.deliveries, first.bytes) == (1, 4, len(shop("two")))
    feed.store.unsubscribe("twig")
    feed.store.subscribe("late", "//name", subscriber="ada")
    second = feed.batch(one[1], one[3], *parts("four"))
    third = feed.batch(one[2], one[4], three[0], three[1], two[2])
    assert (second.documents, third.documents, third.dead_letters) == (1, 1, 1)
    final = feed.batch(three[2], three[3])
    assert final.dead_letters == 0
    whole = ["all", "count", "twig"]
    expected = [(0, "two", each, shop("two")) for each in whole] + [(0, "two", "part", b"<name>two</name>")]
    expected += [(1, "four", each, shop("four")) for each in ("all", "count", "late")]
    expected += [(1, "four", "part", b"<name>four</name>")]
    expected += [(2, "one", each, shop("one")) for each in whole] + [(2, "one", "part", b"<name>one</name>")]
    expected += [(3, "three", each, shop("three")) for each in whole]
    expected += [(3, "three", "part", b"<name>three</name>")]
    assert feed.deliveries() == sorted(expected)
    assert feed.letters() == [(2, "two", "fragment-late", 3, "")]
    assert retry(spark, feed.pipeline) == []
    kept = sorted(file.name for file in (tmp_path / "work/open-documents").iterdir())
    assert kept == ["2.json", "3.json"]
    assert json.loads((tmp_path / "work/open-documents/3.json").read_text())["open"] == {}


def test_a_batch_that_is_run_again_gives_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """Whatever of its outputs an earlier attempt left; also after the subscriptions have changed."""
    feed = Feed(spark, tmp_path)
    one = parts("one")
    feed.batch(one[1], one[4])
    feed.batch(one[0])
    feed.batch(one[2], one[3], *parts("two")[:2])
    expected = feed.deliveries()
    assert [row[:3] for row in expected] == [(2, "one", each) for each in ("all", "count", "part", "twig")]
    log = (tmp_path / "work/open-documents/2.json").read_text()
    feed.store.subscribe("late", "//name", subscriber="ada")
    for lost in (
        "out/deliveries/batch=2",
        "work/open-documents/2.json",
        "work/checkpoint-fragments/states/batch=2",
    ):
        path = tmp_path / lost
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for commit in (tmp_path / "work/checkpoint/commits").glob("*2*"):
        commit.unlink()
    (again,) = run(spark, feed.pipeline)
    assert (again.batch, feed.deliveries()) == (2, expected)
    assert (tmp_path / "work/open-documents/2.json").read_text() == log


def test_documents_that_are_never_complete_expire(spark: SparkSession, tmp_path: Path) -> None:
    """After ``max_age`` batches without a fragment; broken and corrupt ones are letters at once."""
    feed = Feed(spark, tmp_path, source={"max_age": 1}, deliveries={"content": "reference"})
    bad = parts("bad", b"<shop>" + b"<item>&x;</item>" * 12 + b"</shop>")
    feed.batch(parts("one")[0], parts("two")[1], encode(parts("three")[0])[:-1] + b"!")
    feed.batch(parts("two")[2], bad[1])
    feed.batch(bad[0])
    feed.batch(*parts("four"))
    assert feed.letters() == [
        (0, "three", "fragment-corrupt", 1, ""),
        (1, "bad", "undeclared-entity", 2, ""),
        (2, "bad", "fragment-late", 1, ""),
        (2, "one", "fragments-missing", 0, ""),
        (3, "two", "fragments-missing", 0, ""),
    ]
    assert {row[:3] for row in feed.deliveries()} == {
        (3, "four", each) for each in ("all", "count", "part", "twig")
    }


@pytest.mark.parametrize("number", [(1 << 31) - 1, 1 << 31, (1 << 32) - 1])
def test_a_number_that_no_document_has(spark: SparkSession, tmp_path: Path, number: int) -> None:
    """A valid file that says that it is the last of billions is a dead letter; others are delivered."""
    feed = Feed(spark, tmp_path, source={"max_age": 1}, deliveries={"content": "reference"})
    (small,) = fragment(b"<shop/>", doc_id="huge")
    forged = Fragment(replace(small.header, number=number), small.body)
    feed.batch(forged, *parts("one"))
    feed.batch(*parts("two"))
    feed.batch(*parts("three"))
    assert {row[1] for row in feed.deliveries()} == {"one", "two", "three"}
    ((_, _, code, *_),) = feed.letters()
    assert code == ("fragments-missing" if number < 1 << 31 else "fragment-file")


def test_ended_documents_are_remembered_within_characters() -> None:
    """Of long ids fewer are remembered, the newest ones."""
    ids = [f"{number:016000}" for number in range(600)]
    ended = OpenDocuments().after(1, {}, ids).ended
    assert 500 < len(ended) < 600
    assert ended == tuple(ids[-len(ended) :])


def test_early_answers(spark: SparkSession, tmp_path: Path) -> None:
    """Who matches for certain is told once, before the document is complete; and told if it never is."""
    feed = Feed(spark, tmp_path, source={"early": True, "max_age": 1}, deliveries={"content": "reference"})
    one, two = parts("one"), parts("two")
    feed.batch(one[0], two[0])
    feed.batch(one[1], one[4])
    feed.batch(one[2], one[3])
    assert [row[:3] for row in feed.deliveries()] == [
        (0, "one", "all"),
        (0, "two", "all"),
        (1, "one", "twig"),
        (2, "one", "count"),
        (2, "one", "part"),
    ]
    assert feed.letters() == [
        (2, "two", "fragments-missing", 0, ""),
        (2, "two", "fragments-missing", 0, "all"),
    ]


def test_huge_files(spark: SparkSession, tmp_path: Path) -> None:
    """Deliveries refer to the files by their paths; parts are delivered, and so are counts decided."""
    feed = Feed(spark, tmp_path, source={"kind": "huge", "fragment_bytes": 90})
    (tmp_path / "feed/one.xml").write_bytes(shop("one"))
    (tmp_path / "feed/two.xml").write_bytes(shop("two")[:-3])
    (metrics,) = run(spark, feed.pipeline)
    assert (metrics.documents, metrics.deliveries, metrics.dead_letters) == (2, 4, 1)
    path = str(tmp_path / "feed/one.xml")
    assert feed.deliveries() == [
        (0, path, "all", None),
        (0, path, "count", None),
        (0, path, "part", b"<name>one</name>"),
        (0, path, "twig", None),
    ]


def test_a_table_of_fragments_that_is_no_stream(spark: SparkSession, tmp_path: Path) -> None:
    """All of it is one batch: what is not complete then is a dead letter."""
    feed = Feed(spark, tmp_path)
    rows = [(bytearray(encode(each)),) for each in (*parts("one"), *parts("two")[1:])]
    state = RunState.of(spark, feed.pipeline)
    metrics = run_batch(state, spark.createDataFrame(rows, "body binary"), 0, ends=True)
    assert (metrics.documents, metrics.deliveries, metrics.dead_letters) == (2, 4, 1)
    assert Index([("a", "/shop[count(item) = 12]")]).match(shop("one")).ids == ["a"]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            {"source": {"kind": "huge"}, "deliveries": {"content": "inline"}},
            'deliveries.content: expected "reference"',
        ),
        (
            {"source": {"kind": "huge"}, "sink": {"kind": "files", "path": "o"}},
            'sink[0].kind: expected "format"',
        ),
        ({"source": {"kind": "fragments", "early": True}}, 'deliveries.content: expected "reference"'),
        (
            {"source": {"kind": "fragments"}, "subscriptions": {"shards": 2}},
            "subscriptions.shards: expected 1",
        ),
        (
            {"source": {"kind": "directory", "max_age": 3}},
            'source.max_age: expected only with kind "fragments"',
        ),
        (
            {"source": {"kind": "fragments", "fragment_bytes": 3}},
            'source.fragment_bytes: expected only with kind "huge"',
        ),
        ({"source": {"kind": "huge", "early": True}}, 'source.early: expected only with kind "fragments"'),
        (
            {"source": {"kind": "huge"}, "match": {"structure": "s"}},
            "match.structure: expected a source with columns",
        ),
    ],
)
def test_mistakes_in_the_pipeline_file(tmp_path: Path, tables: dict[str, Any], message: str) -> None:
    """Each is one line that names the key and what was expected."""
    with pytest.raises(PipelineError) as error:
        Pipeline.of(tables, folder=tmp_path)
    assert message in str(error.value)

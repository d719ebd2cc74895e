"""A pipeline over chunks: subscribers get what they select in the whole document, once, from its parts."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.chunking.strategies import any_document, queries_of
from twigcast.document import read
from twigcast.errors import DocumentError, PipelineError
from twigcast.pattern import select
from twigcast.spark.outputs import open_letters
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.job import run
from twigcast.spark.runs.retry import retry
from twigcast.subscriptions.store import SubscriptionStore

DTD = """<!ELEMENT site (people, items)><!ELEMENT people (person*)><!ELEMENT person (name, age?)>
<!ELEMENT items (item*)><!ELEMENT item (name)><!ELEMENT name (#PCDATA)><!ELEMENT age (#PCDATA)>"""
PEOPLE = "".join(f"<person><name>N{n}</name><age>{n}</age></person>" for n in range(40))
ITEMS = "".join(f"<item><name>I{n}</name></item>" for n in range(40))
BODY = f"<site><people>{PEOPLE}</people><items>{ITEMS}</items></site>".encode()


class Feed:
    """The folder of a pipeline over chunks."""

    def __init__(self, spark: SparkSession, folder: Path, **source: Any) -> None:
        self.spark, self.folder = spark, folder
        (folder / "feed").mkdir(parents=True)
        self.store = SubscriptionStore(folder / "subscriptions.db")
        table = {"source": {"kind": "chunks", "part_bytes": 400, **source}, "deliveries": {"parts": "range"}}
        self.pipeline = Pipeline.of(table, folder=folder)

    def run(self) -> Any:
        (metrics,) = run(self.spark, self.pipeline)
        return metrics

    def deliveries(self) -> list[Any]:
        return self.spark.read.parquet(str(self.folder / "out/deliveries")).collect()

    def letters(self) -> set[tuple[Any, ...]]:
        rows = open_letters(self.spark, self.pipeline).collect()
        return {(Path(row.doc_id).name, row.code, row.offset, row.subscription) for row in rows}


def test_subscribers_get_what_they_select(spark: SparkSession, tmp_path: Path) -> None:
    """Parts are selected bytes; whoever asks for documents gets the parts of the document that match."""
    (tmp_path / "site.dtd").write_text(DTD)
    feed = Feed(spark, tmp_path, schema="site.dtd")
    feed.store.subscribe("old", "/site/people/person[age > 35]/name", subscriber="ada", deliver="part")
    feed.store.subscribe("second", "/site/people/person[2]", subscriber="ada", deliver="part")
    feed.store.subscribe("some", "//item[name = 'I7']", subscriber="bob")
    feed.store.subscribe("never", "/site/person", subscriber="bob")
    (tmp_path / "feed/big.xml").write_bytes(BODY)
    metrics = feed.run()
    rows = feed.deliveries()
    found = Counter((row.subscription, bytes(row.content)) for row in rows if row.part is not None)
    assert found == Counter(
        [("old", f"<name>N{n}</name>".encode()) for n in range(36, 40)]
        + [("second", b"<person><name>N1</name><age>1</age></person>")]
    )
    (part,) = [row for row in rows if row.subscription == "some"]
    assert read(bytes(part.content)).root.local == "site"
    assert b"I7<" in bytes(part.content)
    assert len(part.content) < 600
    assert len({row.delivery_id for row in rows}) == len(rows) == metrics.deliveries
    assert metrics.dead_letters == 0


def test_selected_nodes_are_those_of_the_whole_document(spark: SparkSession, tmp_path: Path) -> None:
    """Each once, for random documents and subscriptions; the sample is of the first document only."""
    random = Random(1)
    bodies = [any_document(random) for _ in range(5)]
    queries = queries_of(random, read(bodies[0]), 10)
    feed = Feed(spark, tmp_path, part_bytes=60)
    for query in queries:
        feed.store.subscribe(str(query.id), query.text, subscriber="ada", deliver="part")
    for number, body in enumerate(bodies):
        (tmp_path / f"feed/{number}.xml").write_bytes(body)
    feed.run()
    found = Counter(
        (Path(row.doc_id).name[0], row.subscription, bytes(row.content)) for row in feed.deliveries()
    )
    expected: Counter[tuple[Any, ...]] = Counter()
    for number, body in enumerate(bodies):
        for query in queries:
            assert query.pattern is not None
            for node in select(query.pattern, read(body)):
                expected[str(number), str(query.id), body[node.start : node.end]] += 1
    assert found == expected
    assert feed.letters() == set()


def test_a_document_that_breaks_off_is_a_dead_letter(spark: SparkSession, tmp_path: Path) -> None:
    """Records before it are delivered, what follows could change is not; a retry leaves the letter open."""
    feed = Feed(spark, tmp_path)
    feed.store.subscribe("young", "/site/people/person[age < 2]/name", subscriber="ada", deliver="part")
    feed.store.subscribe("last", "/site/people/person[last()]/name", subscriber="ada", deliver="part")
    (tmp_path / "feed/a.xml").write_bytes(BODY)
    (tmp_path / "feed/torn.xml").write_bytes(BODY[:900])
    metrics = feed.run()
    found = {(Path(row.doc_id).name.partition("#")[0], row.subscription) for row in feed.deliveries()}
    assert found == {("a.xml", "young"), ("a.xml", "last"), ("torn.xml", "young")}
    with pytest.raises(DocumentError) as caught:
        read(BODY[:900])
    assert feed.letters() == {("torn.xml", "truncated", caught.value.offset, None)}
    assert metrics.dead_letters == 1
    assert retry(spark, feed.pipeline) == []


def test_a_sample_of_a_broken_document_ends_at_the_error(spark: SparkSession, tmp_path: Path) -> None:
    """So that what was complete in the only document of a batch is delivered, and nothing waits for more."""
    feed = Feed(spark, tmp_path)
    feed.store.subscribe("young", "/site/people/person[age < 2]/name", subscriber="ada", deliver="part")
    (tmp_path / "feed/torn.xml").write_bytes(BODY[:900] + b"</x>" + BODY[900:])
    feed.run()
    assert {bytes(row.content) for row in feed.deliveries()} == {b"<name>N0</name>", b"<name>N1</name>"}
    assert {(name, code) for name, code, *_ in feed.letters()} == {("torn.xml", "malformed")}


def test_a_batch_that_is_run_again_gives_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """It is cut by the subscriptions of its first attempt."""
    feed = Feed(spark, tmp_path)
    feed.store.subscribe("young", "/site/people/person[age < 2]", subscriber="ada")
    feed.store.subscribe("item", "/site/items/item[2]/name", subscriber="ada", deliver="part")
    (tmp_path / "feed/big.xml").write_bytes(BODY)
    feed.run()
    expected = sorted(tuple(row) for row in feed.deliveries())
    feed.store.subscribe("late", "//name", subscriber="bob", deliver="part")
    shutil.rmtree(tmp_path / "out/deliveries")
    for commit in (tmp_path / "work/checkpoint/commits").glob("*0*"):
        commit.unlink()
    assert feed.run().batch == 0
    assert sorted(tuple(row) for row in feed.deliveries()) == expected


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"kind": "huge", "chunks": 3}, 'source.chunks: expected only with kind "chunks", not "huge"'),
        ({"schema": "a.dtd"}, 'source.schema: expected only with kind "chunks", not "directory"'),
        ({"kind": "chunks", "chunks": 0}, "source.chunks: expected more than 0, got 0"),
        (
            {"kind": "chunks", "schema": "a.dtd", "sample_bytes": 1},
            "source.sample_bytes: expected either schema, or sample_bytes",
        ),
        ({"kind": "chunks", "record": "a"}, 'source.record: expected only with kind "records", not "chunks"'),
    ],
)
def test_mistakes_in_the_file_are_named(table: dict[str, Any], sentence: str) -> None:
    """The key, and what was expected."""
    with pytest.raises(PipelineError) as caught:
        Pipeline.of({"source": table})
    assert caught.value.message == sentence


def test_sections_that_chunks_do_not_have() -> None:
    """A network, mediation and shards are refused."""
    for section, key in (
        ({"mediation": {}}, "mediation"),
        ({"subscriptions": {"shards": 2}}, "subscriptions.shards"),
    ):
        with pytest.raises(PipelineError) as caught:
            Pipeline.of({"source": {"kind": "chunks"}, **section})
        assert caught.value.key == key
        assert 'since source.kind is "chunks"' in caught.value.message

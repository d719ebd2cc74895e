"""A pipeline with mappings: batches, replays, retries, streams, metrics and networks."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.oracles.metrics_tables import read_mapping_metrics
from tests.spark.three_publishers import (
    EXPLOSIVE,
    LIMITS,
    MATCHES,
    NORTH,
    SOUTH,
    WEST,
    write_mapping,
    write_mappings,
)
from twigcast.errors import MappingError
from twigcast.rewriting import Mappings
from twigcast.spark.outputs import open_letters
from twigcast.spark.outputs.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.job import run
from twigcast.spark.runs.journal import Journal
from twigcast.spark.runs.retry import retry
from twigcast.spark.runs.stream import stream
from twigcast.subscriptions.store import SubscriptionStore

WITHOUT_TOWN = {place: image for place, image in MATCHES["north"].items() if place != "paper/story/town"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A feed of two publishers with mappings and one without, and four other documents."""
    write_mappings(tmp_path, "north", "west")
    feed = tmp_path / "feed"
    feed.mkdir()
    strange = NORTH.replace(b"</story>", b"<new/><new/></story>")
    bodies = {"north": NORTH, "south": SOUTH, "broken": b"<paper>", "west": WEST, "strange": strange}
    for name, body in (bodies | {"explosive": EXPLOSIVE}).items():
        publish(tmp_path, name, body)
    store = SubscriptionStore(tmp_path / "subscriptions.db")
    store.subscribe("rain", "//item[title='Rain']")
    store.subscribe("places", "//place", deliver="part")
    store.subscribe("work", "/news/writer[name='Bo']/work", deliver="part")
    return tmp_path


def publish(folder: Path, name: str, body: bytes) -> None:
    hidden = folder / "feed" / f".{name}.xml"
    hidden.write_bytes(body)
    hidden.rename(folder / "feed" / f"{name}.xml")


def pipeline_in(folder: Path, **tables: Any) -> Pipeline:
    mediation = {"schema": "global.dtd"}
    common = {"stream": {"interval_seconds": 0.1}, "limits": LIMITS, "mediation": mediation}
    return Pipeline.of({**common, **tables}, folder=folder)


def delivered(spark: SparkSession, folder: Path) -> set[tuple[str, str, bytes]]:
    rows = spark.read.parquet(str(folder / "out" / "deliveries")).collect()
    found = [(row.subscription, Path(row.doc_id).stem, bytes(row.content)) for row in rows]
    assert len(found) == len(set(found))
    return set(found)


def letters(spark: SparkSession, pipeline: Pipeline) -> dict[str, str]:
    return {Path(row.doc_id).stem: row.code for row in open_letters(spark, pipeline).collect()}


def test_a_run_and_a_retry_after_a_mapping_was_added(spark: SparkSession, folder: Path) -> None:
    """The rest of the batch continues, and nothing is lost: the letters are delivered when they can be."""
    pipeline = pipeline_in(folder)
    (batch,) = run(spark, pipeline)
    first = {
        ("rain", "north", NORTH),
        ("places", "north", b"<town>Oslo</town>"),
        ("rain", "strange", (folder / "feed" / "strange.xml").read_bytes()),
        ("places", "strange", b"<town>Oslo</town>"),
        ("work", "west", WEST[len("<list>") : -len("</list>")]),
    }
    assert delivered(spark, folder) == first
    codes = {"broken": "truncated", "south": "no-mapping", "explosive": "rewriting-expansion"}
    assert letters(spark, pipeline) == codes

    references = {mapping.name: mapping.reference for mapping in Mappings.load(folder / "mappings")}
    figures = {(each.mapping or "")[:5]: each for each in batch.mappings}
    assert [each.mapping for each in batch.mappings[1:]] == [references["north"], references["west"]]
    north, west = figures["north"], figures["west@"]
    counted = (north.documents, north.documents_with_strangers, north.strangers, north.matches)
    assert counted == (3, 1, 2, 4)  # also the broken one, whose root was read
    assert north.documents_with_strangers / north.documents == 1 / 3
    assert (west.strangers, west.matches) == (0, 1)
    assert west.cached_bytes > 0  # Exchange keeps the whole entry back
    assert sum(each.documents for each in batch.mappings) == batch.documents == 6
    rows = read_mapping_metrics(spark, str(folder / "out" / "mappings")).collect()
    (entry,) = Journal(folder / "work" / "journal").entries().values()
    assert {row.mapping_set for row in rows} == {entry.mappings}
    assert {(row.mapping, row.documents) for row in rows} == {
        (each.mapping, each.documents) for each in batch.mappings
    }

    write_mappings(folder, "south")
    (again,) = retry(spark, pipeline, "code = 'no-mapping'")
    assert (again.documents, again.deliveries, again.dead_letters) == (1, 2, 0)
    second = {("rain", "south", SOUTH), ("places", "south", b"<ort>Bern</ort>")}
    assert delivered(spark, folder) == first | second
    assert letters(spark, pipeline).keys() == {"broken", "explosive"}


def test_a_batch_that_is_run_again_has_the_mappings_of_its_begin(spark: SparkSession, folder: Path) -> None:
    """The mapping was changed after the batch was begun, and its files are gone: the outputs are the same."""
    pipeline = pipeline_in(folder)
    run(spark, pipeline)
    before = delivered(spark, folder)
    (folder / "work" / "checkpoint" / "commits" / "0").unlink()
    (folder / "work" / "checkpoint" / "commits" / ".0.crc").unlink(missing_ok=True)
    write_mapping(folder / "mappings", "north", WITHOUT_TOWN, version=2)
    publish(folder, "next", NORTH)
    again, then = run(spark, pipeline)
    assert [(batch.batch, batch.mappings[-2].mapping[:7]) for batch in (again, then)] == [  # type: ignore[index]
        (0, "north@1"),
        (1, "north@2"),
    ]
    assert delivered(spark, folder) == before | {("rain", "next", NORTH)}
    entries = Journal(folder / "work" / "journal").entries()
    assert entries[0].mappings != entries[1].mappings


def test_a_mapping_that_changes_under_a_stream_counts_from_the_next_batch(
    spark: SparkSession, folder: Path, until: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    """A file with a mistake is one warning, and the stream goes on with the last good mappings."""
    done: list[BatchMetrics] = []
    query = stream(spark, pipeline_in(folder), on_batch=done.append)
    mappings = folder / "mappings"
    try:
        until(lambda: len(done) == 1)
        (mappings / "north.toml").write_text("mapping = 3")
        publish(folder, "second", NORTH)
        until(lambda: len(done) == 2)
        write_mapping(mappings, "north", WITHOUT_TOWN, version=2)
        publish(folder, "third", NORTH)
        until(lambda: len(done) == 3)
    finally:
        query.stop()
    used = [str(each.mapping)[:7] for batch in done for each in batch.mappings if each.name == "north"]
    assert used == ["north@1", "north@1", "north@2"]
    found = {(id, name) for id, name, _ in delivered(spark, folder)}
    assert {("places", "second"), ("rain", "second"), ("rain", "third")} <= found
    assert ("places", "third") not in found
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len([line for line in warnings if "north.toml" in line and "last good mappings" in line]) == 1


def test_a_network_routes_images(spark: SparkSession, folder: Path) -> None:
    """Routers know the global schema only; a document takes the links that its image asks for."""
    network = {
        "routers": ["a", "b", "c"],
        "links": [["a", "b"], ["b", "c"]],
        "schema": "global.dtd",
        "subscribers": {"rain": "b", "places": "b", "work": "c"},
    }
    (batch,) = run(spark, pipeline_in(folder, network=network))
    found = {(id, name) for id, name, _ in delivered(spark, folder)}
    assert found == {
        *(("rain", name) for name in ("north", "strange")),
        *(("places", name) for name in ("north", "strange")),
        ("work", "west"),
    }
    hops = {
        (row.source, row.target): row.documents
        for row in spark.read.parquet(str(folder / "out" / "hops")).collect()
    }
    assert (hops["a", "b"], hops["b", "c"]) == (3, 2)  # a document with strangers is flooded
    assert batch.dead_letters == 3


def test_a_run_with_bad_mappings_takes_no_document(spark: SparkSession, folder: Path) -> None:
    """The error is that of the mapping file; after it is repaired, every document is there."""
    good = (folder / "mappings" / "north.toml").read_text()
    (folder / "mappings" / "north.toml").write_text(good.replace("paper/story/by", "paper/story/bye"))
    with pytest.raises(MappingError, match="paper/story/bye"):
        run(spark, pipeline_in(folder))
    (folder / "mappings" / "north.toml").write_text(good)
    (batch,) = run(spark, pipeline_in(folder))
    assert batch.documents == 6

"""Two pipelines with a border between them deliver what one pipeline with all subscriptions delivers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from tests.oracles.delivery_ids import delivery_id
from twigcast import Index
from twigcast.errors import RunError, TwigcastError
from twigcast.spark.pipeline import Pipeline, StreamSection
from twigcast.spark.runs import batch as batches
from twigcast.spark.runs.job import run
from twigcast.spark.runs.retry import retry
from twigcast.spark.runs.stream import stream
from twigcast.spark.stages.network import NetworkTables
from twigcast.subscriptions import SubscriptionStore, VersionBuilder

NEWS = "urn:news"
SUBSCRIPTIONS = {
    "people": ("//n:p[n:person]", "north"),
    "first": ("/n:news/n:p[1]", "north"),
    "ada": ("//n:person[.='Ada']", "south"),
    "tables": ("//n:table", "south"),
    "maps": ("//n:map[n:town]", "south"),
    "plain": ("/news/p", "south"),
}
PERSON = "<p><person>{}</person></p>"
DOCUMENTS = {
    "ada": f'<news xmlns="{NEWS}">{PERSON.format("Ada") * 60}</news>',
    "bob": f'<news xmlns="{NEWS}">{PERSON.format("Bob") * 60}<table/></news>',
    "map": f'<news xmlns="{NEWS}">{"<map><town/></map>" * 90}</news>',
    "plain": f"<news>{PERSON.format('Ada') * 60}</news>",
    "none": f"<news>{'<q/>' * 100}</news>",
    "broken": "<news><p></news>",
}


class Sites:
    """A northern and a southern pipeline in one folder, and the deliveries that one pipeline would make."""

    def __init__(self, spark: SparkSession, folder: Path, piggyback: str = "L+t", **north: Any) -> None:
        self.spark, self.folder = spark, folder
        remote = {"south": {"plan": "border/south.json", "to": "border/south"}}
        site = {"routers": ["south"], "plan": "border/south.json", "piggyback": piggyback}
        feed = {"kind": "table", "path": "feed"}
        sent = {"kind": "table", "path": "border/south", "annotations": "annotations"}
        tables = {
            "north": {"source": feed, "network": {"routers": ["north"], "remote": remote, **north}},
            "south": {"source": sent, "network": site},
        }
        outputs = {"dead_letters": "dead-letters", "metrics": "metrics"}
        self.pipelines = {
            name: Pipeline.of(
                {
                    **table,
                    "network": {**table["network"], "metrics": f"{name}/hops"},
                    "work": f"{name}/work",
                    "subscriptions": {"path": f"{name}/subscriptions.db"},
                    "sink": {"path": f"{name}/deliveries"},
                    **{key: {"path": f"{name}/{path}"} for key, path in outputs.items()},
                },
                folder=folder,
            )
            for name, table in tables.items()
        }
        for name in tables:
            (folder / name).mkdir()
        (folder / "feed").mkdir()
        self.expected: list[tuple[str, str, str]] = []
        self.subscriptions: dict[str, str] = {}
        self.published = 0
        for id, (xpath, at) in SUBSCRIPTIONS.items():
            self.subscribe(id, xpath, at)

    def store(self, site: str) -> SubscriptionStore:
        """The subscription store of a site."""
        return SubscriptionStore(self.folder / site / "subscriptions.db")

    def subscribe(self, id: str, xpath: str, site: str) -> None:
        """Subscribe at a site."""
        self.store(site).subscribe(id, xpath, namespaces={"n": NEWS})
        self.subscriptions[id] = xpath

    def unsubscribe(self, id: str, site: str) -> None:
        """Unsubscribe at a site."""
        self.store(site).unsubscribe(id)
        del self.subscriptions[id]

    def write_plan(self) -> None:
        """Let the south write its plan, without a run."""
        pipeline = self.pipelines["south"]
        assert pipeline.network is not None
        tables = NetworkTables(pipeline.network)
        versions = VersionBuilder(self.store("south"), self.folder / "planning", extension=tables)
        tables.tell(versions.at(versions.newest())[0])

    def publish(self, *names: str) -> None:
        """Publish documents under new ids, and note who should receive them."""
        self.published += 1
        index = Index(self.subscriptions.items(), namespaces={"n": NEWS})
        rows = [(f"{name}-{self.published}", DOCUMENTS[name].encode()) for name in names or DOCUMENTS]
        for doc_id, body in rows:
            found = index.match(body)
            ids = [str(id) for id in found.ids] if found.error is None else []
            self.expected += [(id, doc_id, delivery_id(doc_id, body, id, id, None)) for id in ids]
        table = pa.table(dict(zip(("doc_id", "body"), map(list, zip(*rows, strict=True)), strict=True)))
        parquet.write_table(table, self.folder / "feed" / f"{self.published}.parquet")

    def run(self, *sites: str) -> None:
        """Run the pipelines of these sites in turn."""
        for site in sites:
            run(self.spark, self.pipelines[site])

    def check(self) -> None:
        """Deliveries are those of one pipeline."""
        made = []
        for site in self.pipelines:
            rows = parquet.read_table(self.folder / site / "deliveries").to_pylist()
            made += [(row["subscription"], row["doc_id"], row["delivery_id"]) for row in rows]
        assert sorted(made) == sorted(self.expected)

    def hops(self, site: str, batch: int) -> dict[str, Any]:
        """The metrics of the border in a batch of a site."""
        rows = parquet.read_table(self.folder / site / "hops").to_pylist()
        (found,) = (
            row for row in rows if row["batch"] == batch and (row["source"] is None or site == "north")
        )
        return dict(found)

    def files(self) -> dict[str, pa.Table]:
        """What the north has written for the south."""
        found = (self.folder / "border/south").glob("batch=*/*.parquet")
        return {str(file): parquet.ParquetFile(file).read() for file in sorted(found)}


def test_two_pipelines_deliver_what_one_delivers(spark: SparkSession, tmp_path: Path) -> None:
    """By a plan that is stale, and by one that has the subscriptions that have changed."""
    sites = Sites(spark, tmp_path)
    sites.write_plan()
    sites.unsubscribe("maps", "south")
    sites.subscribe("tables-in-news", "/n:news/n:table", "south")  # the plan has told //n:table
    sites.publish()
    sites.run("north", "south")
    sent, came = sites.hops("north", 0), sites.hops("south", 0)
    assert (sent["target"], sent["documents"], sent["false_positives"]) == ("south", 4, 0)
    assert came["annotation_bytes"] == sent["annotation_bytes"] > 0
    assert (came["target"], came["documents"], came["unread"]) == ("south", 4, 2)  # "map" and "plain"
    sites.subscribe("all", "/*", "south")
    sites.write_plan()
    sites.publish()
    sites.run("north", "south")
    assert (sites.hops("north", 1)["documents"], sites.hops("south", 1)["unread"]) == (5, 3)
    sites.check()


def test_bad_annotations_cost_a_parse(spark: SparkSession, tmp_path: Path) -> None:
    """Those that are truncated, altered or of another document do not change a delivery.

    A document that could be read only when it was retried crosses the border like others.
    """
    sites = Sites(spark, tmp_path, "L+a")
    sites.write_plan()
    sites.publish("ada", "bob", "map", "plain")
    north = sites.pipelines["north"]
    limits = replace(north.limits, bytes=len(DOCUMENTS["bob"]) - 1)
    run(spark, north.model_copy(update={"limits": limits}))
    assert sites.hops("north", 0)["documents"] == 3
    retry(spark, north)
    assert sites.hops("north", -1)["documents"] == 1
    files = sites.files()
    said = {row["doc_id"]: row["annotations"] for table in files.values() for row in table.to_pylist()}
    said["map-1"] = said["ada-1"]
    said["ada-1"] = said["ada-1"][:-1]
    said["bob-1"] = said["bob-1"][:12] + b"\xff" + said["bob-1"][13:]
    for file, table in files.items():
        changed = pa.array([said[each] for each in table["doc_id"].to_pylist()], pa.binary())
        at = table.schema.names.index("annotations")
        Path(file).with_name(f".{Path(file).name}.crc").unlink()
        parquet.write_table(table.set_column(at, "annotations", changed), file)
    sites.run("south")
    assert sites.hops("south", 0)["unread"] == 1  # "plain", by the answers that the plan asks for
    sites.check()


def test_a_batch_that_is_run_again_has_its_first_plan(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder that cannot be written fails the batch; one that has been written is not written again."""
    (tmp_path / "any.dtd").write_text("<!ELEMENT news (p|q)*><!ELEMENT p ANY><!ELEMENT q EMPTY>")
    sites = Sites(spark, tmp_path, schema="any.dtd")  # most documents are flooded
    sites.publish()
    (tmp_path / "border").write_text("in the way")
    with caplog.at_level(logging.WARNING, "twigcast"), pytest.raises(RunError, match="border"):
        sites.run("north")
    assert "south.json: Not a directory (the site gets all documents)" in caplog.text
    (tmp_path / "border").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(batches, "write_hops", fail)
        with pytest.raises(RunError, match="no space"):
            sites.run("north")
    before = list(sites.files())
    sites.write_plan()  # but the batch was begun without
    sites.run("north")
    assert list(sites.files()) == before != []
    assert (sites.hops("north", 0)["documents"], sites.hops("north", 0)["annotation_bytes"]) == (5, 0)
    sites.run("south")
    sites.check()


def fail(*_: object) -> None:
    """Fail like a full disk."""
    raise OSError(28, "no space left on device")


def test_a_waiting_stream_tells_new_subscriptions(
    spark: SparkSession, tmp_path: Path, until: Callable[..., None]
) -> None:
    """Without a document there is no batch, but the plan is written all the same."""
    sites = Sites(spark, tmp_path)
    (tmp_path / "border/south/batch=0").mkdir(parents=True)
    names = ("doc_id", "body", "prolog", "publisher", "annotations")
    kinds = (pa.string(), pa.binary(), pa.binary(), pa.string(), pa.binary())
    columns = {name: pa.array([], kind) for name, kind in zip(names, kinds, strict=True)}
    parquet.write_table(pa.table(columns), tmp_path / "border/south/batch=0/part-0.parquet")
    plan = tmp_path / "border/south.json"
    query = stream(spark, sites.pipelines["south"])
    try:
        assert "//late" not in plan.read_text()
        sites.subscribe("late", "//late", "south")
        until(lambda: "//late" in plan.read_text())
    finally:
        query.stop()


@pytest.mark.parametrize("first", ["north", "south"])
def test_either_site_may_start_first(spark: SparkSession, tmp_path: Path, first: str) -> None:
    """Before a document has come, a run of the south writes its plan and ends."""
    sites = Sites(spark, tmp_path)
    sites.publish()
    if first == "south":
        assert run(spark, sites.pipelines["south"]) == []
        assert "//Q{urn:news}table" in (tmp_path / "border/south.json").read_text()
    sites.run("north", "south")
    assert sites.hops("north", 0)["documents"] == (4 if first == "south" else 5)
    sites.publish("ada", "none")
    sites.run("north", "south")
    sites.check()


def test_a_stream_waits_for_the_first_document(
    spark: SparkSession, tmp_path: Path, until: Callable[..., None]
) -> None:
    """It writes its plan, also a changed one, and goes on when the north has run."""
    sites = Sites(spark, tmp_path)
    south = sites.pipelines["south"]
    assert south.network is not None
    query = stream(spark, south.model_copy(update={"stream": StreamSection(interval_seconds=0.1)}))
    try:
        assert query.isActive
        assert not query.awaitTermination(0)
        assert query.lastProgress is None
        assert not query.status["isTriggerActive"]
        sites.subscribe("late", "//late", "south")
        until(lambda: "//late" in (tmp_path / "border/south.json").read_text())
        query.processAllAvailable()
        sites.publish()
        sites.run("north")
        query.processAllAvailable()
        sites.check()
        sites.publish("bob")
        sites.run("north")
        query.processAllAvailable()
        sites.check()
    finally:
        query.stop()
    assert not query.isActive
    assert query.awaitTermination(1)


def test_a_stream_that_waits_can_be_stopped(spark: SparkSession, tmp_path: Path) -> None:
    """It has then ended well, and the next run is that of a site that has never run."""
    sites = Sites(spark, tmp_path)
    query = stream(spark, sites.pipelines["south"])
    query.stop()
    assert query.awaitTermination(0)
    assert not query.isActive
    assert run(spark, sites.pipelines["south"]) == []


def test_what_fails_while_a_stream_waits_is_its_error(
    spark: SparkSession, tmp_path: Path, until: Callable[..., None]
) -> None:
    """A plan that cannot be written is the error of the query."""
    sites = Sites(spark, tmp_path)
    south = sites.pipelines["south"]
    query = stream(spark, south.model_copy(update={"stream": StreamSection(interval_seconds=0.1)}))
    (tmp_path / "border/south.json").unlink()
    (tmp_path / "border").rename(tmp_path / "elsewhere")
    (tmp_path / "border").write_text("in the way")
    sites.subscribe("late", "//late", "south")
    until(lambda: not query.isActive)
    with pytest.raises(TwigcastError, match="border"):
        query.awaitTermination()

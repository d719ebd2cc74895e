"""A pipeline with a network of routers has the same deliveries, and counts the documents on each link."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.oracles.metrics_tables import read_hops
from twigcast.errors import PipelineError
from twigcast.spark import Pipeline, SubscriptionStore, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DTD = "<!ELEMENT a (b|c)*><!ELEMENT b (#PCDATA)><!ELEMENT c (#PCDATA)>"
NETWORK = """
[source]
kind = "table"
[[sink]]
path = "out/deliveries"
[network]
routers = ["north", "hub", "south"]
links = [["north", "hub"], ["hub", "south"]]
subscribers = { ada = "south", bob = "north" }
publishers = { wire = "south" }
"""


def pipeline(folder: Path, network: str = "") -> Pipeline:
    """The pipeline above, with more keys in its network section."""
    return Pipeline.of(tomllib.loads(NETWORK + network), folder=folder)


def feed(spark: SparkSession, folder: Path, *documents: tuple[str, bytes, str | None]) -> None:
    """Write a table of documents with their publishers."""
    rows = spark.createDataFrame(documents, "doc_id string, body binary, publisher string")
    rows.write.parquet(f"{folder}/feed", mode="append")


def delivered(spark: SparkSession, folder: Path) -> set[tuple[str, str]]:
    """The subscriber and document of each delivery."""
    rows = spark.read.parquet(f"{folder}/out/deliveries").collect()
    return {(row["subscriber"], row["doc_id"]) for row in rows}


def hops(spark: SparkSession, folder: Path, batch: int = 0) -> dict[str, tuple[int, int]]:
    """The number of documents and of false positives on each link in a batch."""
    rows = read_hops(spark, f"{folder}/out/hops").where(f"batch = {batch}").collect()
    return {f"{row['source']}-{row['target']}": (row["documents"], row["false_positives"]) for row in rows}


@pytest.mark.parametrize("strategy", ["no-Adv-no-Cov", "with-Adv-with-Cov", "with-Adv-with-CovIPM"])
def test_documents_go_only_where_they_are_asked_for(
    spark: SparkSession, tmp_path: Path, strategy: str
) -> None:
    """A document enters at the router of its publisher, or at ``entry``; a bad one is only a dead letter."""
    (tmp_path / "a.dtd").write_text(DTD)
    table = SubscriptionStore(tmp_path / "subscriptions.db")
    table.subscribe("ada", "/a/b", subscriber="ada")
    table.subscribe("bob", "//c", subscriber="bob")
    table.subscribe("cyd", "/a/b[.='x']", subscriber="cyd")
    feed(
        spark,
        tmp_path,
        ("1", b"<a><b>x</b></a>", None),
        ("2", b"<a><c/></a>", "wire"),
        ("3", b"<a><b></a>", None),
        ("4", b"<a/>", None),
    )
    described = pipeline(tmp_path, f'strategy = "{strategy}"\nschema = "a.dtd"\n')
    (metrics,) = run(spark, described)
    assert delivered(spark, tmp_path) == {("ada", "1"), ("cyd", "1"), ("bob", "2")}
    assert (metrics.deliveries, metrics.dead_letters) == (3, 1)
    assert hops(spark, tmp_path) == {
        "north-hub": (1, 0),
        "hub-south": (1, 0),
        "hub-north": (1, 0),
        "south-hub": (1, 0),
    }


def test_a_document_outside_the_schema_is_flooded(spark: SparkSession, tmp_path: Path) -> None:
    """A document outside the advertised schema is flooded and reaches every subscriber that it matches."""
    (tmp_path / "a.dtd").write_text(DTD)
    table = SubscriptionStore(tmp_path / "subscriptions.db")
    table.subscribe("ada", "//z", subscriber="ada")
    feed(spark, tmp_path, ("1", b"<z/>", None))
    run(spark, pipeline(tmp_path, 'schema = "a.dtd"\n'))
    assert delivered(spark, tmp_path) == {("ada", "1")}
    assert hops(spark, tmp_path)["hub-south"] == (1, 0)


def test_routers_follow_the_subscriptions(spark: SparkSession, tmp_path: Path) -> None:
    """A batch is routed by the subscriptions that were added, changed and removed before it."""
    table = SubscriptionStore(tmp_path / "subscriptions.db")
    table.subscribe("ada", "/a", subscriber="ada")
    table.subscribe("bob", "/a", subscriber="bob")
    feed(spark, tmp_path, ("1", b"<a/>", None))
    described = pipeline(tmp_path)
    run(spark, described)
    table = SubscriptionStore(tmp_path / "subscriptions.db")
    table.unsubscribe("ada")
    table.subscribe("ada-2", "/q", subscriber="ada")
    feed(spark, tmp_path, ("2", b"<a/>", None), ("3", b"<q/>", None))
    run(spark, described)
    assert delivered(spark, tmp_path) == {("ada", "1"), ("bob", "1"), ("bob", "2"), ("ada", "3")}
    assert hops(spark, tmp_path, 1)["hub-south"] == (1, 0)


@pytest.mark.parametrize(
    ("network", "key", "expected"),
    [
        ('entry = "west"', "network.entry", "expected one of the routers north, hub, south, got 'west'"),
        ('strategy = "best"', "network.strategy", "expected one of no-Adv-no-Cov"),
        ('strategy = "with-Adv-no-Cov"', "network.schema", "expected a DTD or XSD"),
        ('scheme = "a.dtd"', "network.scheme", "did you mean schema?"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, network: str, key: str, expected: str) -> None:
    """An error names the key of the file, and what was expected there."""
    with pytest.raises(PipelineError, match=expected) as raised:
        pipeline(tmp_path, network)
    assert raised.value.key == key


def test_a_cycle_is_named(tmp_path: Path) -> None:
    """Links that close a cycle are refused, with the cycle."""
    table = tomllib.loads(
        '[network]\nrouters = ["a", "b", "c"]\nlinks = [["a", "b"], ["b", "c"], ["c", "a"]]'
    )
    with pytest.raises(PipelineError, match="the links make a cycle") as raised:
        Pipeline.of(table, folder=tmp_path)
    assert raised.value.key == "network.links"

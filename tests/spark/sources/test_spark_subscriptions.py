"""Subscriptions in any table of Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from twigcast import Index
from twigcast import spark as tc
from twigcast.errors import StageError
from twigcast.pattern import Subscription
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.batch import subscriptions_of
from twigcast.spark.sources.spark_subscriptions import SparkSubscriptions


def test_any_table_of_spark_will_do(spark: SparkSession, tmp_path: Path) -> None:
    """The version depends on the rows, not on their order; missing columns have default values."""
    path = str(tmp_path / "table")
    rows = [("b", "//n:y", {"n": "urn:n"}), ("a", "//x", None)]
    schema = "id string, xpath string, namespaces map<string,string>"
    table = SparkSubscriptions(lambda: spark.read.parquet(path))
    spark.createDataFrame(rows, schema).coalesce(1).write.parquet(path)
    version = table.version()
    assert table.subscriptions() == [
        Subscription("a", "//x", "a", "document"),
        Subscription("b", "//n:y", "b", "document", {"n": "urn:n"}),
    ]
    spark.createDataFrame(rows[::-1], schema).coalesce(1).write.mode("overwrite").parquet(path)
    assert table.version() == version
    spark.createDataFrame(rows[:1], schema).coalesce(1).write.mode("overwrite").parquet(path)
    assert table.version() != version


def test_prefixes_of_the_pipeline_hold_for_rows_that_do_not_bind_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    """They are part of the version, since an index that was made with others would answer differently."""
    path = str(tmp_path / "table")
    rows = [("a", "//n:x[m:y]", {"n": "urn:own"}), ("b", "//n:x", None), ("c", "//x", None)]
    schema = "id string, xpath string, namespaces map<string,string>"
    spark.createDataFrame(rows, schema).coalesce(1).write.parquet(path)
    common = {"n": "urn:n", "m": "urn:m"}
    table = subscriptions_of(
        spark,
        Pipeline.of(
            {"subscriptions": {"format": "parquet", "options": {"path": path}}, "namespaces": common}
        ),
    )
    assert [each.namespaces for each in table.subscriptions()] == [
        {"m": "urn:m", "n": "urn:own"},
        {"n": "urn:n"},
        {},
    ]
    others = [SparkSubscriptions(lambda: spark.read.parquet(path), bound) for bound in ({}, {"n": "urn:n"})]
    assert len({each.version() for each in [table, *others]}) == 3


def test_a_dataframe_of_subscriptions_is_an_index(spark: SparkSession) -> None:
    """From two DataFrames to deliveries; a bad row is refused alone, and null columns have default values."""
    rules = spark.createDataFrame(
        [
            ("r1", "ada", "//b", None, None),
            ("r2", None, "//n:c", None, '{"n": "urn:n"}'),
            ("r3", "ada", "/a/b", "part", None),
            ("bad", "bob", "//[", None, None),
            (None, None, "//b", None, None),
        ],
        "id string, subscriber string, expression string, deliver string, namespaces string",
    )
    index = tc.subscription_index(rules)
    assert {each.id: each.error.code for each in index.refused} == {"bad": "syntax", None: "unsavable-id"}
    bodies = {"d1": b"<a><b/></a>", "d2": b'<c xmlns="urn:n"/>', "d3": b"<x/>", "d4": b"<x>"}
    docs = spark.createDataFrame(list(bodies.items()), "doc_id string, body binary").repartition(2)
    hits = tc.match(docs, index, ids="rules")
    found = {row.doc_id: row.rules and sorted(row.rules) for row in hits.collect()}
    assert found == {"d1": ["r1", "r3"], "d2": ["r2"], "d3": [], "d4": None}
    outs = tc.deliveries(hits, index).collect()
    assert sorted((row.subscriber, row.subscription, row.doc_id) for row in outs) == [
        ("ada", "r1", "d1"),
        ("ada", "r3", "d1"),
        ("r2", "r2", "d2"),
    ]


def test_a_dataframe_may_have_other_names(spark: SparkSession, tmp_path: Path) -> None:
    """Columns are named, and prefixes given for all rows; a store is a table of subscriptions too."""
    rules = spark.createDataFrame([(1, "//n:b")], "`rule.id` int, rule string")
    index = tc.subscription_index(
        rules, columns={"id": "rule.id", "xpath": "rule"}, namespaces={"n": "urn:n"}
    )
    docs = spark.createDataFrame([("d", b'<b xmlns="urn:n"/>')], "doc_id string, body binary")
    assert [row.ids for row in tc.match(docs, index, ids="ids").collect()] == [["1"]]
    store = tc.SubscriptionStore(tmp_path / "subscriptions.db")
    store.subscribe("r", "/*", subscriber="ada")
    index = tc.subscription_index(store)
    assert [row.subscriber for row in tc.deliveries(tc.match(docs, index), index).collect()] == ["ada"]


def test_a_table_without_the_columns_is_refused(spark: SparkSession) -> None:
    """The error names the columns that are missing, and those that there are."""
    table = spark.createDataFrame([("r", "//b")], "id string, rule string")
    with pytest.raises(StageError, match="needs the columns id, xpath; xpath is missing from id, rule"):
        tc.subscription_index(table)
    with pytest.raises(StageError, match="expected columns for id, subscriber, xpath"):
        tc.subscription_index(table, columns={"path": "rule"})


def test_ids_are_those_of_the_positions(spark: SparkSession) -> None:
    """In one index and in shards, whatever matches."""
    ids = [f"s{number}" for number in range(20)]
    shards = [
        Index([(id, f"//e{number % 7}") for number, id in enumerate(ids) if number % 2 == of])
        for of in (0, 1)
    ]
    order = [id for shard in shards for id in shard.ids]
    bodies = ["<a/>", "<e1><e2/></e1>", "<e3/>", "<e1>", "<a><e0/><e6/><e5/></a>"]
    docs = spark.createDataFrame(
        [(str(n), body) for n, body in enumerate(bodies)], "doc_id string, body string"
    )
    for row in tc.match(docs, shards, ids="ids").collect():
        assert row.ids == (None if row.matches is None else [order[position] for position in row.matches])
    with pytest.raises(StageError, match="expected another name"):
        tc.match(docs, shards, ids="matches")

"""The answers of the stage are those of the index, row by row."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from twigcast import Index
from twigcast import spark as tc
from twigcast.document import DocumentLimits
from twigcast.errors import StageError
from twigcast.pattern import Subscription, render
from twigcast.subscriptions.versions import IndexVersion
from twigcast.workload import (
    DocumentOptions,
    generate_documents,
    generate_subscriptions,
    news,
    presets,
)

BOMB = (
    b'<!DOCTYPE a [<!ENTITY a "'
    + b"x" * 1000
    + b'">'
    + b"".join(b'<!ENTITY %c "%s">' % (name, b"&%c;" % (name - 1) * 50) for name in range(ord("b"), ord("h")))
    + b"]><a>&g;</a>"
)
BAD = [
    b"",
    b"<a><b></a>",
    b"<a>",
    b"<a>\xff\xfe</a>",
    b'<?xml version="1.0" encoding="klingon"?><a/>',
    BOMB,
    b"<p:a/>",
]


@pytest.fixture(scope="module")
def workload() -> tuple[Index, list[bytes]]:
    graph = news()
    subscriptions = list(enumerate(generate_subscriptions(graph, 300, presets.BRANCHING)))
    bodies = list(generate_documents(graph, 60, DocumentOptions(seed=3)))
    for number, bad in enumerate(BAD):
        bodies.insert(8 * number, bad)
    return Index((str(id), xpath) for id, xpath in subscriptions), bodies


def documents(spark: SparkSession, bodies: list[bytes]):
    rows = [(f"d{number}", bytearray(body), number) for number, body in enumerate(bodies)]
    return spark.createDataFrame(rows, "doc_id string, body binary, number int").repartition(2)


def test_the_answers_are_those_of_the_index(spark: SparkSession, workload: tuple[Index, list[bytes]]) -> None:
    """The matches, or the error with its position, are those of ``Index.match`` on each body."""
    index, bodies = workload
    hits = tc.match(documents(spark, bodies), index).collect()
    assert len(hits) == len(bodies)
    for hit in hits:
        expected = index.match(bodies[hit.number])
        assert bytes(hit.body) == bodies[hit.number]
        assert hit.doc_id == f"d{hit.number}"
        if expected.error is None:
            assert hit.error is None
            assert hit.matches == list(expected.positions)
        else:
            assert hit.matches is None
            error = expected.error
            assert tuple(hit.error) == (error.code, error.message, error.line, error.column, error.offset)
    assert {hit.error.code for hit in hits if hit.error} >= {"malformed", "truncated", "encoding", "empty"}


def test_shards_united_are_one_index(
    spark: SparkSession, workload: tuple[Index, list[bytes]], tmp_path: Path
) -> None:
    """Several shards give the positions of one index with the same subscriptions in the same order."""
    index, bodies = workload
    rows = [Subscription(str(id), render(index.pattern(id)), "s") for id in index.ids]
    shards = [
        IndexVersion.write(tmp_path, f"v{start}", rows[start : start + 120])
        for start in range(0, len(rows), 120)
    ]
    docs = documents(spark, bodies)
    expected = {row.doc_id: (row.matches, row.error) for row in tc.match(docs, index).collect()}
    found = tc.match(docs, shards, seconds="seconds").collect()
    assert {row.doc_id: (row.matches, row.error) for row in found} == expected
    assert {row.index_version for row in found} == {"v0+v120+v240"}
    assert all(row.seconds > 0 for row in found)


def test_columns_pass_through(spark: SparkSession) -> None:
    """Columns of the source stay as they are, whatever their type; text is a body too."""
    docs = spark.createDataFrame(
        [("d", "<a/>", {"k": "v"}, [1, 2])],
        "doc_id string, body string, headers map<string,string>, more array<int>",
    )
    (hit,) = tc.match(docs, Index([("s", "/a")])).collect()
    assert (hit.headers, hit.more, bytes(hit.body), hit.matches) == ({"k": "v"}, [1, 2], b"<a/>", [0])


def test_errors_of_the_source_pass_through(spark: SparkSession) -> None:
    """A row that the source could not read keeps its error; a missing body is an error too."""
    docs = spark.sql(
        """select 'd' doc_id, cast(null as binary) body,
           named_struct('code', 'archive', 'message', 'broken', 'line', cast(null as int),
                        'column', cast(null as int), 'offset', 7L) error
           union all select 'e', cast(null as binary), null union all select 'f', binary('<a/>'), null"""
    )
    hits = {hit.doc_id: hit for hit in tc.match(docs, Index([("s", "/a")])).collect()}
    assert tuple(hits["d"].error) == ("archive", "broken", None, None, 7)
    assert hits["e"].error.code == "empty"
    assert hits["f"].matches == [0]


def test_limits_are_those_given(spark: SparkSession) -> None:
    """A document beyond the limits of the pipeline is an error."""
    docs = documents(spark, [b"<a><b><c/></b></a>"])
    (hit,) = tc.match(docs, Index([("s", "/a")]), limits=DocumentLimits(depth=2)).collect()
    assert hit.error.code == "too-deep"


def test_measures_count_each_row_once(spark: SparkSession) -> None:
    """Documents, bytes, matches, errors and seconds are sums over the hits."""
    docs = documents(spark, [b"<a/>", b"<a><b/></a>", b"<a"])
    hits = tc.match(docs, Index([("s", "/a"), ("t", "//b")]), seconds="seconds")
    (found,) = hits.agg(*tc.measures("seconds")).collect()
    assert (found.documents, found.bytes, found.matches, found.errors) == (3, 17, 3, 1)
    assert found.seconds > 0
    (none,) = hits.where("false").agg(*tc.measures("seconds")).collect()
    assert tuple(none) == (0, 0, 0, 0, 0, 0.0)


def test_an_index_may_be_shipped_as_files(spark: SparkSession, tmp_path: Path) -> None:
    """Spark copies the files to workers that do not share the folder."""
    version = IndexVersion.write(tmp_path, 1, [Subscription("s", "/a", "you")])
    docs = documents(spark, [b"<a/>"])
    hits = tc.match(docs, version, ship="files")
    (delivery,) = tc.deliveries(hits, version, ship="files").collect()
    assert (delivery.subscriber, delivery.index_version) == ("you", "1")


def test_missing_columns_are_named(spark: SparkSession) -> None:
    """A table without a body is refused, with the columns it has."""
    with pytest.raises(StageError, match="body is missing from id, xml") as raised:
        tc.match(spark.createDataFrame([(1, "<a/>")], "id int, xml string"), Index())
    assert raised.value.code == "columns"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("error", "string"),
        ("Error", "string"),
        ("matches", "int"),
        ("Matches", "string"),
        ("hops", "string"),
        ("prolog", "string"),
        ("Prolog", "int"),
        ("a`b.c", "int"),
    ],
)
def test_columns_of_any_name(spark: SparkSession, tmp_path: Path, name: str, kind: str) -> None:
    """Columns that the stage adds are replaced, and all others kept, whether Spark or workers read them."""
    rows = [("a", bytearray(b"<r><b/></r>"), "1"), ("b", bytearray(b"<r"), None)]
    table = spark.createDataFrame(rows, "doc_id string, body binary, own string")
    table = table.select("doc_id", "body", table["own"].cast(kind).alias(name))
    table.write.parquet(str(tmp_path / "t"))
    index = Index([("b", "//b")])
    read = tc.read(spark, str(tmp_path / "t"), format="parquet")
    for docs in (table, read, read.where("true")):
        hits = tc.match(docs, index)
        found = sorted(hits.collect(), key=lambda row: row.doc_id)
        assert [row["matches"] for row in found] == [[0], None]
        assert [row["error"] and row["error"].line for row in found] == [None, 1]
        passes = name.lower() not in {"error", "matches"}
        assert [column for column in hits.columns if column.lower() == name.lower()] == (
            [name] if passes else [name.lower()]
        )
        assert [row.doc_id for row in tc.deliveries(hits, index).collect()] == ["a"]
        assert [row.doc_id for row in tc.dead_letters(hits).collect()] == ["b"]


def test_ids_may_be_missing_or_numbers(spark: SparkSession, tmp_path: Path) -> None:
    """A document without an id gets the hash of its body as id, and is delivered like the others."""
    body = b"<r><b/></r>"
    rows = [(None, bytearray(body)), ("b", bytearray(body)), (None, None)]
    table = spark.createDataFrame(rows, "doc_id string, body binary")
    table.write.parquet(str(tmp_path / "t"))
    index = Index([("b", "//b")])
    read = tc.read(spark, str(tmp_path / "t"), format="parquet")
    for docs in (table, read, read.where("true")):
        hits = tc.match(docs, index)
        delivered = {row.doc_id for row in tc.deliveries(hits, index).collect()}
        assert delivered == {"b", sha256(body).hexdigest()}
        assert [row.code for row in tc.dead_letters(hits).collect()] == ["empty"]
    numbers = spark.createDataFrame([(7, "<r><b/></r>")], "doc_id int, body string")
    assert [row.doc_id for row in tc.deliveries(tc.match(numbers, index), index).collect()] == ["7"]
    with pytest.raises(StageError, match="expected bytes or text as body, found int"):
        tc.match(spark.createDataFrame([("a", 1)], "doc_id string, body int"), index)


def test_matches_are_never_null(spark: SparkSession) -> None:
    """The type of the column says that no element is null; the list itself may be."""
    docs = spark.createDataFrame([("1", b"<a/>"), ("2", b"<a>")], "doc_id string, body binary")
    hits = tc.match(docs, Index([("s", "/a")]))
    field = hits.schema["matches"]
    assert field.nullable
    assert not field.dataType.containsNull  # type: ignore[attr-defined]
    assert {row.doc_id: row.matches for row in hits.collect()} == {"1": [0], "2": None}

"""Deliveries and dead letters are those that plain Python computes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.oracles.delivery_ids import delivery_id
from twigcast import DocumentLimits, Index
from twigcast import spark as tc
from twigcast.errors import StageError
from twigcast.pattern import Subscription
from twigcast.spark.stages import delivering
from twigcast.subscriptions.versions import IndexVersion
from twigcast.workload import DocumentOptions, generate_documents, generate_subscriptions, news, presets

BAD = {
    "malformed": b"<nitf><head></nitf>",
    "truncated": b"<nitf><head>",
    "encoding": '<?xml version="1.0" encoding="utf-8"?><nitf>é</nitf>'.encode("latin-1"),
    "entity-expansion": b'<!DOCTYPE a [<!ENTITY a "'
    + b"x" * 1000
    + b'"><!ENTITY b "'
    + b"&a;" * 1000
    + b'"><!ENTITY c "'
    + b"&b;" * 1000
    + b'">]><a>&c;</a>',
}


def documents(spark: SparkSession, bodies: list[bytes]):
    rows = [(f"d{number}", bytearray(body)) for number, body in enumerate(bodies)]
    return spark.createDataFrame(rows, "doc_id string, body binary").repartition(2)


def delivered(outs) -> set[tuple]:
    rows = [
        tuple(bytes(value) if isinstance(value, bytearray) else value for value in row)
        for row in outs.collect()
    ]
    assert len(rows) == len(set(rows))
    return set(rows)


def expected(index: Index, rows: list[Subscription], bodies: list[bytes], version: str) -> set[tuple]:
    found = set()
    for number, body in enumerate(bodies):
        match = index.match(body)
        if match.error is not None:
            continue
        for position in match.positions:
            row = rows[position]
            if row.deliver == "document":
                parts = [(None, body)]
            else:
                parts = [(n, body[s.start : s.end]) for n, s in enumerate(index.select(body, row.id))]
            for part, content in parts:
                id = delivery_id(f"d{number}", body, row.subscriber, row.id, part)
                found.add((id, row.subscriber, row.id, f"d{number}", part, content, version))
    return found


@pytest.fixture(scope="module")
def rows() -> list[Subscription]:
    xpaths = generate_subscriptions(news(), 200, presets.BRANCHING)
    return [
        Subscription(f"s{n}", xpath, f"u{n % 17}", "part" if n % 5 == 0 else "document")
        for n, xpath in enumerate(xpaths)
    ]


def test_deliveries_are_those_of_plain_python(
    spark: SparkSession, rows: list[Subscription], tmp_path: Path
) -> None:
    """Every subscriber receives the documents or parts that it subscribed to, byte for byte.

    A bad document is a dead letter with its position, and the others are delivered.
    """
    bodies = list(generate_documents(news(), 80, DocumentOptions(seed=5)))
    rng = random.Random(1)
    for bad in BAD.values():
        bodies.insert(rng.randrange(len(bodies)), bad)
    version = IndexVersion.write(tmp_path, 7, rows)
    index = Index((row.id, row.text) for row in rows)
    hits = tc.match(documents(spark, bodies), version)
    found = delivered(tc.deliveries(hits, version))
    assert found == expected(index, rows, bodies, "7")
    assert any(row[4] for row in found)
    letters = {row.code: row for row in tc.dead_letters(hits).collect()}
    assert set(letters) == set(BAD)
    for code, letter in letters.items():
        error = index.match(BAD[code]).error
        assert error is not None
        assert (letter.line, letter.column, letter.offset) == (error.line, error.column, error.offset)
        assert (bytes(letter.body), letter.index_version) == (BAD[code], "7")


def test_shards_deliver_what_one_index_delivers(
    spark: SparkSession, rows: list[Subscription], tmp_path: Path
) -> None:
    """The deliveries of several shards are those of one index, except for the name of the version."""
    bodies = list(generate_documents(news(), 20, DocumentOptions(seed=6)))
    shards = [IndexVersion.write(tmp_path, "a", rows[:70]), IndexVersion.write(tmp_path, "b", rows[70:])]
    index = Index((row.id, row.text) for row in rows)
    hits = tc.match(documents(spark, bodies), shards)
    assert delivered(tc.deliveries(hits, shards)) == expected(index, rows, bodies, "a+b")


def test_another_version_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Deliveries with another index version than that of the matches are refused."""
    one = IndexVersion.write(tmp_path, 1, [Subscription("s", "/a", "u")])
    two = IndexVersion.write(tmp_path, 2, [Subscription("t", "/a", "v")])
    outs = tc.deliveries(tc.match(documents(spark, [b"<a/>"]), one), two)
    with pytest.raises(Exception, match="matched against index version 1, not 2"):
        outs.collect()


def test_documents_may_be_left_out(spark: SparkSession, tmp_path: Path) -> None:
    """By reference, delivery ids are the same, and only parts have content."""
    rows = [Subscription("s", "/a", "u"), Subscription("t", "/a/b", "v", "part")]
    version = IndexVersion.write(tmp_path, 1, rows)
    hits = tc.match(documents(spark, [b"<a><b/></a>"]), version)
    found = {row.subscription: row for row in tc.deliveries(hits, version, content="reference").collect()}
    assert (found["s"].content, bytes(found["t"].content)) == (None, b"<b/>")
    inline = {row.subscription: row for row in tc.deliveries(hits, version).collect()}
    assert {id: row.delivery_id for id, row in found.items()} == {
        id: row.delivery_id for id, row in inline.items()
    }


def test_an_index_delivers_to_its_ids(spark: SparkSession) -> None:
    """In a plain index each subscription is its own subscriber."""
    index = Index([("s", "/a"), ("t", "/b")])
    (row,) = tc.deliveries(tc.match(documents(spark, [b"<b/>"]), index), index).collect()
    assert (row.subscriber, row.subscription, bytes(row.content)) == ("t", "t", b"<b/>")


NAMESPACED = b"<o:order xmlns:o='urn:o' xmlns='urn:d'><o:line o:n='1'>x</o:line><note/></o:order>"


def test_a_part_is_a_document_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    """Parts declare the namespaces that they use, and can be read; as a range they are what was written."""
    from lxml import etree

    namespaces = {"o": "urn:o", "d": "urn:d"}
    rows = [
        Subscription("s", "//o:line", "u", "part", namespaces),
        Subscription("t", "//d:note", "v", "part", namespaces),
        Subscription("n", "//o:line/@o:n", "v", "part", namespaces),
    ]
    version = IndexVersion.write(tmp_path, 1, rows)
    hits = tc.match(documents(spark, [NAMESPACED]), version)
    found = {row.subscription: bytes(row.content) for row in tc.deliveries(hits, version).collect()}
    assert found == {
        "s": b'<o:line xmlns="urn:d" xmlns:o="urn:o" o:n=\'1\'>x</o:line>',
        "t": b'<note xmlns="urn:d"/>',
        "n": b"o:n='1'",
    }
    assert etree.fromstring(found["t"]).tag == "{urn:d}note"
    bare = tc.deliveries(hits, version, parts="range")
    assert {row.subscription: bytes(row.content) for row in bare.collect()} == {
        "s": b"<o:line o:n='1'>x</o:line>",
        "t": b"<note/>",
        "n": b"o:n='1'",
    }
    with pytest.raises(StageError, match="expected parts to be document or range"):
        tc.deliveries(hits, version, parts="element")  # type: ignore[arg-type]


def test_parts_that_are_too_large_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    """A subscription to every nested element gets a dead letter, and the others get their deliveries."""
    rows = [Subscription(id, xpath, "u", "part") for id, xpath in (("all", "//*"), ("one", "//b"))]
    version = IndexVersion.write(tmp_path, 1, [*rows, Subscription("whole", "/a", "v")])
    body = b"<a>" * 500 + b"<b/>" + b"</a>" * 500
    limits = DocumentLimits(part_threshold=10_000)
    hits = tc.match(documents(spark, [body]), version, limits=limits)
    outs = tc.deliveries(hits, version, limits=limits).collect()
    assert {row.subscription: bytes(row.content) for row in outs} == {"one": b"<b/>", "whole": body}
    (letter,) = tc.refused_deliveries(hits, version, limits=limits).collect()
    assert (letter.doc_id, bytes(letter.body), letter.code) == ("d0", body, "parts-too-large")
    assert (letter.subscription, letter.index_version) == ("all", "1")
    assert "'all'" in letter.message
    assert "part_amplification" in letter.message
    assert tc.deliveries(hits, version).count() == 503


def test_a_subscription_that_takes_too_much_work_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """It gets a dead letter for that document, and the others get their deliveries."""
    costly = "//*[count(.//*[count(.//*) = 7]) = 7]"
    rows = [Subscription("costly", costly, "u"), Subscription("whole", "/a", "v")]
    version = IndexVersion.write(tmp_path, 1, rows)
    body = b"<a>" * 300 + b"</a>" * 300
    limits = DocumentLimits(work=1, work_threshold=100)
    hits = tc.match(documents(spark, [body, b"<a/>"]), version, limits=limits)
    outs = tc.deliveries(hits, version, limits=limits).collect()
    assert sorted((row.doc_id, row.subscription) for row in outs) == [("d0", "whole"), ("d1", "whole")]
    (letter,) = tc.refused_deliveries(hits, version, limits=limits).collect()
    assert (letter.doc_id, bytes(letter.body), letter.code) == ("d0", body, "too-costly")
    assert letter.subscription == "costly"
    assert "limit work" in letter.message


def test_ids_tell_everything_apart() -> None:
    """An id changes with each of its components, and with nothing else."""
    base = ("d", b"<a/>", "u", "s", None)
    others = [
        ("e", b"<a/>", "u", "s", None),
        ("d", b"<b/>", "u", "s", None),
        ("d", b"<a/>", "us", "", None),
        ("d", b"<a/>", "", "us", None),
        ("d", b"<a/>", "u", "s", 0),
        ("d", b"<a/>", "u", "s", 1),
    ]
    assert len({delivery_id(*each) for each in [base, base, *others]}) == 7
    assert delivery_id(*base) == "7978ae881f722b3947873a4378ce21ae"  # in any release


def test_slices_are_bounded() -> None:
    """Deliveries leave a worker in batches of a bounded size; a larger delivery is a batch by itself."""
    import pyarrow as pa

    big = delivering.DELIVERY_BATCH_BYTES
    slices = list(delivering._slices(pa.array([1, big, big + 1, 5, 6, big // 2, big // 2])))
    assert slices == [(0, 1), (1, 2), (2, 3), (3, 6), (6, 7)]
    assert list(delivering._slices(pa.array([], pa.int32()))) == []
    many = list(delivering._slices(pa.array([0] * (2 * delivering.DELIVERY_BATCH_ROWS + 1))))
    assert [end - start for start, end in many] == [delivering.DELIVERY_BATCH_ROWS] * 2 + [1]


def test_one_copy_for_each_subscriber(spark: SparkSession, rows: list[Subscription], tmp_path: Path) -> None:
    """Whole documents come once for each subscriber, with an id of their own; parts come as always."""
    bodies = list(generate_documents(news(), 20, DocumentOptions(seed=5)))
    version = IndexVersion.write(tmp_path, "1", rows)
    hits = tc.match(documents(spark, bodies), version)
    every = delivered(tc.deliveries(hits, version))
    copies = tc.deliveries(hits, version, copies="subscriber")
    first: dict[tuple, str] = {}
    for _, subscriber, subscription, doc_id, part, content, _ in every:
        if part is None:
            key = (subscriber, doc_id, content)
            first[key] = min(subscription, first.get(key, subscription))
    found = delivered(copies)
    assert len(first) < sum(row[4] is None for row in every)
    assert {row for row in found if row[4] is not None} == {row for row in every if row[4] is not None}
    whole = {(row[1], row[3], row[5]): row[2] for row in found if row[4] is None}
    assert whole == first
    assert (
        len(found) == len({row[0] for row in found}) == len(first) + sum(row[4] is not None for row in every)
    )
    fewer = [row for row in rows if row.id != min(first.values())]
    other = IndexVersion.write(tmp_path, "2", fewer)
    again = delivered(tc.deliveries(tc.match(documents(spark, bodies), other), other, copies="subscriber"))
    ids = {(row[1], row[3]): row[0] for row in found if row[4] is None}
    assert {(row[1], row[3]): row[0] for row in again if row[4] is None}.items() <= ids.items()


def test_deliveries_carry_columns(spark: SparkSession) -> None:
    """Documents, parts and refusals have the values of their document, also under names with dots."""
    table = [
        ("d0", b"<a><b/><b/></a>", "north", {"x": 1}),
        ("d1", b"<a/>", None, None),
        ("d2", b"<c/>", "east", {}),
    ]
    docs = spark.createDataFrame(table, "doc_id string, body binary, `re.gion` string, more map<string,int>")
    index = Index()
    index.add_all([Subscription("whole", "/a"), Subscription("part", "//b", "u", "part")])
    hits = tc.match(docs, index)
    outs = tc.deliveries(hits, index, columns=["more", "re.gion"])
    assert outs.columns == [*tc.deliveries(hits, index).columns, "more", "re.gion"]
    found = sorted(
        (row.doc_id, row.subscription, row.part or 0, row["re.gion"], row.more) for row in outs.collect()
    )
    assert found == [
        ("d0", "part", 0, "north", {"x": 1}),
        ("d0", "part", 1, "north", {"x": 1}),
        ("d0", "whole", 0, "north", {"x": 1}),
        ("d1", "whole", 0, None, None),
    ]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"columns": ["no"]}, "deliveries needs the columns no; no is missing"),
        ({"columns": ["matches", "matches"]}, "deliveries have a column matches already"),
        ({"columns": ["index_version"]}, "deliveries have a column index_version already"),
        ({"columns": "matches"}, "expected a list of columns"),
        ({"copies": "document"}, "expected copies to be subscription or subscriber"),
    ],
)
def test_columns_and_copies_that_cannot_be_are_refused(
    spark: SparkSession, options: dict, sentence: str
) -> None:
    """The sentence names the column."""
    index = Index([("all", "/*")])
    hits = tc.match(documents(spark, [b"<a/>"]), index)
    with pytest.raises(StageError, match=sentence):
        tc.deliveries(hits, index, **options)

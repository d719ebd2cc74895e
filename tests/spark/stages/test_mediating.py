"""Documents of three publishers, matched as if they had been written in one schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.three_publishers import EXPLOSIVE, LIMITS, NORTH, SOUTH, WEST, write_mappings
from twigcast import DocumentLimits, Index
from twigcast import spark as tc
from twigcast.errors import MappingError, StageError
from twigcast.pattern import Subscription
from twigcast.rewriting import Mappings

SUBSCRIPTIONS = [
    Subscription("rain", "//item[title='Rain']", "ada"),
    Subscription("authors", "//author", "bob", "part"),
    Subscription("titles", "//title", "bob", "part"),
    Subscription("works", "//work[text]", "eve", "part"),
    Subscription("own", "/paper", "eve"),
]
DOCUMENTS = {
    "north": NORTH,
    "south": SOUTH,
    "broken": b"<paper><story></paper>",
    "west": WEST,
    "nowhere": b"<!-- a -->\n<syllabus/>",
    "explosive": EXPLOSIVE,
}
PARTS = {
    ("authors", "north", 0, b"<by>Ann</by>"),
    ("authors", "north", 1, b"<by>Bo</by>"),
    ("titles", "north", 0, b"<head>Rain</head>"),
    ("titles", "south", 0, b'titel="Rain"'),
    ("works", "west", 0, WEST[len("<list>") : -len("</list>")]),
}


@pytest.fixture
def mappings(tmp_path: Path) -> Mappings:
    return Mappings.load(write_mappings(tmp_path), tmp_path / "global.dtd")


@pytest.fixture
def index() -> Index:
    return Index(SUBSCRIPTIONS, limits=DocumentLimits(**LIMITS))  # type: ignore[arg-type]


def table(spark: SparkSession, columns: str, *rows: tuple[Any, ...]) -> Any:
    return spark.createDataFrame(list(rows), columns).coalesce(1)


def documents(spark: SparkSession) -> Any:
    return table(spark, "doc_id string, body binary", *DOCUMENTS.items())


def delivered(outs: Any) -> set[tuple[Any, ...]]:
    return {(row.subscription, row.doc_id, row.part, bytes(row.content)) for row in outs.collect()}


@pytest.mark.parametrize("shards", [1, 2])
def test_documents_are_matched_in_the_global_schema_and_delivered_as_they_are(
    spark: SparkSession, mappings: Mappings, index: Index, shards: int
) -> None:
    """Whole documents and parts are bytes of the publisher; what has no image is a dead letter."""
    parts = [index]
    if shards == 2:
        parts = [Index(SUBSCRIPTIONS[number::2], limits=index.limits) for number in range(2)]
    hits = tc.match(documents(spark), parts, mediation=mappings, limits=index.limits).cache()
    outs = tc.deliveries(hits, parts, mediation=mappings, limits=index.limits)
    whole = {("rain", name, None, DOCUMENTS[name]) for name in ("north", "south")}
    assert delivered(outs) == whole | PARTS
    applied = {row.doc_id: row.mapping for row in hits.collect()}
    assert {name: applied[name] for name in ("north", "south", "west")} == {
        name: mappings[name].reference for name in ("north", "south", "west")
    }
    letters = {row.doc_id: row for row in tc.dead_letters(hits).collect()}
    assert {name: letter.code for name, letter in letters.items()} == {
        "broken": "malformed",
        "nowhere": "no-mapping",
        "explosive": "rewriting-expansion",
    }
    nowhere = letters["nowhere"]
    assert (nowhere.line, nowhere.column, nowhere.offset) == (2, 1, 11)
    assert "'syllabus'" in nowhere.message
    assert "north, south, west" in nowhere.message
    assert bytes(nowhere.body) == DOCUMENTS["nowhere"]


def test_what_the_stage_says_of_a_document_is_what_the_index_says(
    spark: SparkSession, mappings: Mappings, index: Index
) -> None:
    """Matches and mappings are those of plain Python, one document at a time."""
    hits = tc.match(documents(spark), index, mediation=mappings).collect()
    for row in hits:
        match = index.match(bytes(row.body), rewriting=mappings)
        assert row.matches == (list(match.positions) if match.error is None else None)
        assert (row.error and row.error.code) == (match.error and match.error.code)
        assert row.mapping == match.mapping


def test_documents_without_a_mapping_can_be_matched_as_they_are(
    spark: SparkSession, mappings: Mappings, index: Index
) -> None:
    """With ``as-is`` they are delivered to whoever wrote against their own names."""
    only = Mappings(mapping for mapping in mappings if mapping.name != "north")
    mediation = tc.Mediation.of(only, unknown="as-is")
    hits = tc.match(documents(spark), index, mediation=mediation)
    found = {row.doc_id: (row.mapping, row.matches, row.error and row.error.code) for row in hits.collect()}
    assert found["north"] == (None, [4], None)
    assert found["nowhere"] == (None, [], None)
    assert found["south"] == (only["south"].reference, [0, 2], None)
    assert found["broken"][2] == "malformed"


@pytest.mark.parametrize("unknown", ["dead-letter", "as-is"])
def test_the_publisher_decides(spark: SparkSession, mappings: Mappings, index: Index, unknown: Any) -> None:
    """The column ``publisher`` has the name of a mapping, whatever the root element is."""
    mediation = tc.Mediation.of(mappings, by="publisher", unknown=unknown)
    rows = [
        ("a", NORTH, "north"),
        ("b", NORTH, "east"),
        ("c", NORTH, None),
        ("d", NORTH, "south"),
        ("e", b"<paper>", "east"),
    ]
    docs = table(spark, "doc_id string, body binary, publisher string", *rows)
    hits = tc.match(docs, index, mediation=mediation)
    found = {row.doc_id: (row.mapping, row.matches, row.error and row.error.code) for row in hits.collect()}
    assert found["a"] == (mappings["north"].reference, [0, 1, 2], None)
    alone = (None, [4], None) if unknown == "as-is" else (None, None, "no-mapping")
    assert (found["b"], found["c"]) == (alone, alone)
    assert found["d"] == alone  # the mapping south has another root
    assert found["e"][2] == ("truncated" if unknown == "as-is" else "no-mapping")
    if unknown == "dead-letter":
        (letter,) = tc.dead_letters(hits).where("doc_id = 'b'").collect()
        assert letter.message == "no mapping for publisher 'east'; there are north, south, west"
        assert letter.publisher == "east"


def test_a_document_names_its_mapping(spark: SparkSession, mappings: Mappings, index: Index) -> None:
    """By name, or by a reference whose hash counts; an unknown one is never replaced by another version."""
    north = mappings["north"]
    rows = [
        ("name", NORTH, "north"),
        ("reference", NORTH, north.reference),
        ("hash", NORTH, f"earlier@7#{north.hash}"),
        ("old", NORTH, "north@1#0123456789abcdef"),
        ("none", NORTH, None),
    ]
    docs = table(spark, "doc_id string, body binary, mapping string", *rows)
    hits = tc.match(docs, index, mediation=tc.Mediation.of(mappings, unknown="as-is")).cache()
    applied = {row.doc_id: row.mapping for row in hits.collect()}
    named = ("name", "reference", "hash", "none")
    assert applied == dict.fromkeys(named, north.reference) | {"old": None}
    (letter,) = tc.dead_letters(hits).collect()
    assert (letter.doc_id, letter.code) == ("old", "unknown-mapping")
    assert letter.mapping == "north@1#0123456789abcdef"
    assert letter.message == "there is no mapping 'north@1#0123456789abcdef'; there are north, south, west"


def test_strangers_are_counted_by_the_source_schema(
    spark: SparkSession, mappings: Mappings, index: Index, tmp_path: Path
) -> None:
    """When the schema is corrected, they are known, though the mapping is the same."""
    strange = NORTH.replace(b"</story>", b"<new><b/></new></story>").replace(b"</paper>", b"<new/></paper>")
    docs = table(spark, "doc_id string, body binary", ("known", NORTH), ("strange", strange))
    counts = {row.doc_id: row.strangers for row in tc.match(docs, index, mediation=mappings).collect()}
    assert counts == {"known": 0, "strange": 2}
    schema = (tmp_path / "mappings" / "north.dtd").read_text().replace("town?)", "town?, new?)")
    (tmp_path / "mappings" / "north.dtd").write_text(schema + "<!ELEMENT new (b?)><!ELEMENT b EMPTY>")
    grown = Mappings.load(tmp_path / "mappings")
    assert grown["north"].reference == mappings["north"].reference
    counts = {row.doc_id: row.strangers for row in tc.match(docs, index, mediation=grown).collect()}
    assert counts == {"known": 0, "strange": 1}


def test_parts_need_the_mappings_that_the_documents_were_matched_with(
    spark: SparkSession, mappings: Mappings, index: Index
) -> None:
    """The error names the mapping that is missing."""
    hits = tc.match(table(spark, "doc_id string, body binary", ("a", NORTH)), index, mediation=mappings)
    others = [mapping for mapping in mappings if mapping.name != "north"]
    with pytest.raises(Exception, match=f"matched with the mapping {mappings['north'].reference}"):
        tc.deliveries(hits, index, mediation=others).collect()
    with pytest.raises(StageError, match="were matched with mappings") as caught:
        tc.deliveries(hits, index)
    assert caught.value.code == "unknown-mapping"


def test_mediation_by_publisher_needs_that_column(
    spark: SparkSession, mappings: Mappings, index: Index
) -> None:
    """The error names the column, before anything is run."""
    with pytest.raises(StageError, match="publisher is missing"):
        tc.match(documents(spark), index, mediation=tc.Mediation.of(mappings, by="publisher"))


def test_one_root_cannot_choose_between_two_mappings(mappings: Mappings) -> None:
    """The error says how to use both."""
    twin = type(mappings["north"])("twin", mappings["north"].source, mappings["north"].operators)
    with pytest.raises(MappingError, match="the mappings north and twin have the same root 'paper'"):
        tc.Mediation.of([*mappings, twin])
    assert tc.Mediation.of([*mappings, twin], by="publisher")

"""Huge files are cut into spans on the fly, and have the answers of whole documents."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from twigcast import DocumentLimits, Index
from twigcast import spark as tc
from twigcast.pattern import Subscription

ITEMS = "".join(f"<item n='{n}'><name>i{n % 7}</name></item>" for n in range(300))
ENTITIES = "".join(f"<!ENTITY e{n} 'entity {n}'>" for n in range(60))
FILES = {
    "plain.xml": f"<shop>{ITEMS}<end/></shop>".encode(),
    "long.xml": f"<!DOCTYPE shop [{ENTITIES}]><shop>{ITEMS}<item>&e9;</item></shop>".encode(),
    "wide.xml": f"<shop>{ITEMS}</shop>".encode("utf-16"),
    "small.xml": b"<shop/>",
}
BAD = {
    "tags.xml": f"<shop>{ITEMS}</shop></shop>".encode(),
    "entity.xml": f"<shop>{ITEMS}&nobody;{ITEMS}</shop>".encode(),
    "empty.xml": b"",
    "packed.xml.gz": b"",
}
INDEX = Index(
    [
        Subscription("item", "//item[@n='299']", subscriber="ada"),
        Subscription("end", "/shop[end]", subscriber="ada"),
        Subscription("entity", "//item[.='entity 9']", subscriber="ada"),
        Subscription("count", "/shop[count(item) = 300]", subscriber="ada"),
        Subscription("part", "//item[@n='7']/name", subscriber="bob", deliver="part"),
    ]
)


def test_answers_are_those_of_whole_documents(spark: SparkSession, tmp_path: Path) -> None:
    """Also with a long opening and in UTF-16; what cannot be read is an error with its code."""
    for name, body in {**FILES, **BAD}.items():
        (tmp_path / name).write_bytes(body)
    docs = tc.read(spark, str(tmp_path), format="huge", options={"fragmentBytes": "700"})
    hits = tc.match_fragments(docs, INDEX)
    rows = {Path(row.doc_id).name: row for row in hits.collect()}
    assert {name: rows[name].matches for name in FILES} == {
        name: list(INDEX.match(body).positions) for name, body in FILES.items()
    }
    assert {name: rows[name].error.code for name in BAD} == {
        "tags.xml": "malformed",
        "entity.xml": "undeclared-entity",
        "empty.xml": "empty",
        "packed.xml.gz": "archive",
    }
    assert rows["entity.xml"].error.offset == FILES["plain.xml"].index(b"<end/>")
    outs = tc.deliveries(hits, INDEX, content="reference").where("subscription in ('count', 'part')")
    found = {(Path(row.doc_id).name, row.content and bytes(row.content)) for row in outs.collect()}
    assert found >= {("plain.xml", None), ("plain.xml", b"<name>i0</name>"), ("wide.xml", None)}


def test_a_file_beyond_the_limit_is_matched_but_not_put_together(spark: SparkSession, tmp_path: Path) -> None:
    """Subscriptions that need the whole file are refused, with a sentence that says what to do."""
    (tmp_path / "plain.xml").write_bytes(FILES["plain.xml"])
    docs = tc.read(spark, str(tmp_path), format="huge", options={"fragmentBytes": "700"})
    hits = tc.match_fragments(docs, INDEX, limits=DocumentLimits(bytes=1000))
    rows = hits.collect()
    assert [row.matches for row in rows if row.error is None] == [[0, 1]]
    letters = tc.dead_letters(hits).collect()
    assert {(row.subscription, row.code) for row in letters} == {
        ("count", "too-large"),
        ("part", "too-large"),
    }
    assert all("limits.bytes" in row.message for row in letters)

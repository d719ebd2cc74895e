"""Documents in fragments have the answers of whole documents, wherever their fragments are."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from twigcast import Index
from twigcast import spark as tc
from twigcast.errors import StageError
from twigcast.fragmenting import (
    CutRule,
    Fragment,
    HeaderKind,
    Spans,
    Subtrees,
    encode,
    encode_header,
    fragment,
)
from twigcast.fragmenting.fragments import HEADER_KINDS
from twigcast.pattern import Subscription

ITEMS = "".join(f"<item n='{n}'><name>i{n % 7}</name>text<price>{n}</price></item>" for n in range(40))
SHOP = f"<shop xmlns:m='urn:m'><m:head/>{ITEMS}<end>last</end></shop>".encode()
ENTITIES = "".join(f"<!ENTITY e{n} 'entity {n}'>" for n in range(60))
LONG = f"<!DOCTYPE shop [{ENTITIES}]><shop><item><name>&e7;</name></item>{ITEMS}</shop>".encode()
LATIN = f"<?xml version='1.0' encoding='ISO-8859-1'?><shop><item>caf\xe9</item>{ITEMS}</shop>".encode(
    "latin-1"
)
BODIES = {"shop": SHOP, "long": LONG, "latin": LATIN}
SUBSCRIPTIONS = {
    "path": "/shop/item/name",
    "twig": "//item[name='i3'][price='10']",
    "none": "//item[name='i3'][price='11']",
    "not": "/shop[not(gone)]",
    "value": "/shop[contains(., 'last')]",
    "namespace": "//Q{urn:m}head",
    "entity": "//name[.='entity 7']",
    "accent": "//item[.='café']",
    "count": "/shop[count(item) > 40]",
    "position": "/shop/item[3][@n='2']",
}


def table(spark: SparkSession, parts: list[Fragment]) -> DataFrame:
    rows = [(each.doc_id, each.number, encode_header(each).decode(), bytearray(each.body)) for each in parts]
    return spark.createDataFrame(rows, "doc_id string, number int, header string, body binary").repartition(3)


def cuts() -> list[tuple[str, CutRule, HeaderKind]]:
    return [
        (f"{kind} {number}", cut, kind)
        for kind in HEADER_KINDS
        for number, cut in enumerate((Spans(elements=7), Spans(bytes=300), Subtrees(9)))
    ]


def test_answers_are_those_of_whole_documents(spark: SparkSession) -> None:
    """For every cut and header, shuffled, with duplicates; with long openings, encodings and namespaces."""
    chance = random.Random(7)
    index = Index(SUBSCRIPTIONS.items())
    parts, bodies = [], {}
    for name, cut, kind in cuts():
        for key, body in BODIES.items():
            made = list(fragment(body, doc_id=f"{key} {name}", cut=cut, header=kind))
            assert len(made) > 3
            parts += made + chance.choices(made, k=2)
            bodies[f"{key} {name}"] = body
    chance.shuffle(parts)
    hits = tc.match_fragments(table(spark, parts), index).collect()
    found = {row.doc_id: (row.error, row.matches, bytes(row.body), row["size"]) for row in hits}
    answers = {key: list(index.match(body).positions) for key, body in BODIES.items()}
    assert found == {name: (None, answers[name.split()[0]], body, len(body)) for name, body in bodies.items()}


def test_deliveries_are_those_of_whole_documents(spark: SparkSession) -> None:
    """Whole documents and parts, with the same ids; as references, whole documents have no content."""
    index = Index(
        [
            Subscription("all", "/shop", subscriber="ada"),
            Subscription("names", "//item[price='10']/name", subscriber="bob", deliver="part"),
        ]
    )
    parts = list(fragment(SHOP, doc_id="shop", cut=Spans(elements=20)))
    whole = spark.createDataFrame([("shop", bytearray(SHOP))], "doc_id string, body binary")
    expected = sorted(tc.deliveries(tc.match(whole, index), index).drop("index_version").collect())
    hits = tc.match_fragments(table(spark, parts), index)
    assert sorted(tc.deliveries(hits, index).drop("index_version").collect()) == expected
    hits = tc.match_fragments(table(spark, parts), index, content="reference")
    outs = tc.deliveries(hits, index, content="reference").collect()
    assert {(row.subscription, row.content and bytes(row.content)) for row in outs} == {
        ("all", None),
        ("names", b"<name>i3</name>"),
    }


def test_bodies_are_null_if_no_delivery_needs_them(spark: SparkSession) -> None:
    """References need the whole document only for parts, and for what can be decided only on its tree."""
    parts = list(fragment(SHOP, doc_id="shop", cut=Spans(elements=20)))
    for xpath, is_needed in (("//item", False), ("/shop[count(item) = 40]", True)):
        (hit,) = tc.match_fragments(table(spark, parts), Index([("a", xpath)]), content="reference").collect()
        assert (hit.matches, hit.body is not None) == ([0], is_needed)


def test_every_fault_has_its_code_and_fragment(spark: SparkSession) -> None:
    """Missing, in conflict, overlapping, malformed, corrupt, and no fragment at all."""
    good = list(fragment(SHOP, doc_id="good", cut=Spans(elements=30)))
    lost = list(fragment(SHOP, doc_id="lost", cut=Spans(elements=30)))
    twice = list(fragment(SHOP, doc_id="twice", cut=Spans(elements=30)))
    other = list(fragment(SHOP.replace(b"text", b"TEXT"), doc_id="twice", cut=Spans(elements=30)))
    bad = list(fragment(SHOP.replace(b"i3", b"&x;"), doc_id="bad", cut=Spans(elements=30)))
    files = [encode(each) for each in (*good, *lost[:1], *lost[2:], *twice, other[1], *bad)]
    files += [encode(good[0])[:-1] + b"!", b"<a/>"]
    rows = spark.createDataFrame([(bytearray(each),) for each in files], "body binary").repartition(2)
    hits = tc.match_fragments(rows, Index([("a", "//item")]))
    letters = {(row.doc_id, row.code, row.fragment) for row in tc.dead_letters(hits).collect()}
    assert letters == {
        ("lost", "fragments-missing", None),
        ("twice", "fragment-conflict", 2),
        ("bad", "undeclared-entity", 1),
        ("good", "fragment-corrupt", 1),
        (None, "fragment-file", None),
    }
    matched = {row.doc_id for row in hits.where("matches is not null").collect()}
    assert matched == {"good"}


def test_unchecked_fragments_are_not_parsed_if_they_make_no_difference(spark: SparkSession) -> None:
    """The answer is the same, and an error in a fragment that nobody needs is not seen."""
    body = b"<a><b/><c>" + b"<d>x</d>" * 25 + b"<d>&e;</d>" + b"<d>x</d>" * 25 + b"</c><b/></a>"
    parts = list(fragment(body, doc_id="a", cut=Spans(elements=10)))
    index = Index([("b", "/a/b")])
    (hit,) = tc.match_fragments(table(spark, parts), index, checked=False).collect()
    assert (hit.error, hit.matches) == (None, [0])
    (hit,) = tc.match_fragments(table(spark, parts), index).collect()
    assert hit.error.code == "undeclared-entity"


def test_limits_hold_for_the_whole_document(spark: SparkSession) -> None:
    """A document larger than the limit is an error, though each of its fragments is small."""
    from twigcast import DocumentLimits

    parts = list(fragment(SHOP, doc_id="shop", cut=Spans(elements=20)))
    limits = DocumentLimits(bytes=1000)
    (hit,) = tc.match_fragments(table(spark, parts), Index([("a", "/shop")]), limits=limits).collect()
    assert hit.error.code == "too-large"


def test_a_column_of_another_type_is_refused(spark: SparkSession) -> None:
    """The error names the column."""
    rows = spark.createDataFrame([("a", 1, 2, "x")], "doc_id string, number int, header int, body string")
    with pytest.raises(StageError, match="header"):
        tc.match_fragments(rows, Index([("a", "/a")]))


def test_a_folder_of_fragments_is_read(spark: SparkSession, tmp_path: Path) -> None:
    """``.tcf`` files at any depth; other files, such as a manifest, are not read."""
    for each in fragment(SHOP, doc_id="shop", cut=Spans(elements=20)):
        file = tmp_path / str(each.number % 2) / f"{each.number}.tcf"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(encode(each))
    (tmp_path / "manifest.tcm").write_bytes(b"no fragment")
    hits = tc.match_fragments(tc.read(spark, str(tmp_path), format="fragments"), Index([("a", "//item")]))
    assert [(row.doc_id, row.matches) for row in hits.collect()] == [("shop", [0])]

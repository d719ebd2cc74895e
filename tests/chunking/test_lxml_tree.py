"""Tests of lxml in the place of the evaluator: the answers are the same, and its use is bounded."""

from __future__ import annotations

from random import Random

import pytest

from tests.chunking.strategies import plain_document, queries_of
from twigcast.chunking import ChunkQuery, plan, profile, run_queries
from twigcast.chunking.evaluation import part_trees
from twigcast.chunking.evaluation.lxml_tree import is_read_alike, lxml_tree
from twigcast.chunking.evaluation.part_trees import PartTrees
from twigcast.document import DocumentLimits, read
from twigcast.pattern import parse


def found(body: bytes, text: str, engine: str) -> list[tuple[object, ...]]:
    """The answers of one query in parts of one record each."""
    scheme = plan([ChunkQuery("q", text, engine=engine)], profile=profile([body]))
    return [
        (each.kind, each.start, each.end, each.content) for each in run_queries(body, scheme, part_bytes=1)
    ]


BODY = b"""<d><r k='1' id = "a>b"><n>5</n></r><r id='c' k='2'><n>7</n><n/></r><r k='id=3'/></d>"""


@pytest.mark.parametrize(
    "text",
    ["/d/r[n > 4]", "//n", "/d/r/@id", "/d/r[n]/@k", "/d/r[2]/n[1]", "/d/r/n/text()", "/d/r[n = 5]/@id"],
)
def test_auto_has_the_answers_of_the_evaluator(text: str) -> None:
    """Kind, byte range and content, attributes with what is written for them."""
    assert found(BODY, text, "auto") == found(BODY, text, "select") != []


def test_the_evaluator_is_not_needed_for_plain_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tree is seven times as slow to build."""
    monkeypatch.setattr(part_trees, "read", None)
    assert [each[3] for each in found(BODY, "/d/r[n = 7]/@id", "auto")] == [b"id='c'"]


@pytest.mark.parametrize(
    ("body", "alike"),
    [
        (b"<a/>", True),
        (b"<!DOCTYPE a SYSTEM 'a.dtd'><a/>", True),
        (b"""<!DOCTYPE a PUBLIC "a" 'a>[b].dtd'><a/>""", True),
        (b"<!--<!DOCTYPE a>--><!DOCTYPE a [<!ENTITY e 'x'>]><a/>", False),
        (b"<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", False),
        (b"<!DOCTYPE a [<!ATTLIST a x CDATA 'y'>]><a/>", False),
        ("<?xml version='1.0' encoding='shift_jis'?><a/>".encode("shift_jis"), False),
        ("<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>".encode("latin-1"), True),
        ("<a>é</a>".encode("utf-16"), False),
    ],
)
def test_what_lxml_may_read_otherwise_is_left_to_the_evaluator(body: bytes, alike: bool) -> None:
    """Declarations of entities and attributes, and rare encodings."""
    assert is_read_alike(body, lxml_tree(body)) is alike
    assert found(body, "/a[not(b)]", "auto") == found(body, "/a[not(b)]", "select") != []


def test_queries_of_the_document_are_mostly_left_to_lxml() -> None:
    """So the property tests of answers, which take any engine, compare something."""
    random = Random(2)
    body = plain_document(random, 5)
    queries = [each.pattern for each in queries_of(random, read(body), 100)]
    trees = PartTrees(body, DocumentLimits())
    plain = [each for each in queries if each is not None and trees.selection_by_lxml(each) is not None]
    assert len(plain) > 40


def test_a_limit_of_libxml2_is_no_limit() -> None:
    """A document that is too deep for lxml is evaluated without it."""
    deep = b"<a>" * 900 + b"<b/>" + b"</a>" * 900
    assert [each[1] for each in found(deep, "//b", "auto")] == [2700]
    assert PartTrees(b"<a><b/></a>", DocumentLimits()).selection_by_lxml(parse("//b")) is not None


def test_a_name_that_the_encoding_does_not_have_is_not_found() -> None:
    """The query has no answers, and does not fail."""
    body = "<?xml version='1.0' encoding='iso-8859-1'?><a é='1'/>".encode("latin-1")
    assert found(body, "/a/@語", "auto") == []
    assert [each[3] for each in found(body, "/a/@é", "auto")] == ["é='1'".encode("latin-1")]

"""Answers of chunks are documents of their own, with the bytes that ``match --select`` gives for them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.chunking.strategies import answered, any_scheme, expected, outline_of
from tests.document.test_parts import documents
from twigcast.chunking import ChunkQuery, plan, profile, run_queries
from twigcast.chunking.evaluation import part_trees
from twigcast.document import read
from twigcast.errors import ChunkingError

PREFIXES = {"a": "urn:a", "b": "urn:b"}
TEXTS = ["//*", "/*/*", "//a:*", "//b", "//c/@*", "//*[@i]", "//text()", "//*[b:a]/*", "/*/*[1]//*"]


def contents(body: bytes, text: str, **options: Any) -> list[Any]:
    """The contents of the answers of one query, in parts of one record each."""
    scheme = plan([ChunkQuery("q", text, **options)], profile=profile([body]))
    cut = run_queries(body, scheme, part_bytes=1)
    found = [answer.content for answer in cut]
    assert not cut.failures
    return found


@pytest.mark.parametrize("engine", ["auto", "select", "lxml"])
@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"<a xmlns:p='u'><x/><b p:k='1'/><b/></a>", b"<b xmlns:p=\"u\" p:k='1'/>"),
        (b"<a xmlns='u'><b><c/></b><b/></a>", b'<b xmlns="u"><c/></b>'),
        (b"<a xmlns='u'><b xmlns=''><c/></b><b/></a>", b"<b xmlns=''><c/></b>"),
        (b"<a xmlns:p='u'><b xmlns:p='v' p:k=''/><b/></a>", b"<b xmlns:p='v' p:k=''/>"),
        (b"<a><x xmlns:p='u'/><b>p:k</b><b/></a>", b"<b>p:k</b>"),
        (
            b"<!DOCTYPE a [<!ENTITY e 'x'>]><a><b>&e;</b><b/></a>",
            b'<!DOCTYPE b [<!ENTITY e "x">]><b>&e;</b>',
        ),
        (
            b"<!DOCTYPE a [<!ENTITY m '<b q:k=\"1\" xmlns:q=\"u\"/>'>]><a><y xmlns:ns='v'/>&m;<c/></a>",
            b'<b xmlns:ns2="u" ns2:k="1"/>',
        ),
        (
            b"<?xml version='1.0' encoding='iso-8859-1'?><a xmlns='u'><b>\xe9</b><b/></a>",
            b'<?xml version="1.0" encoding="iso-8859-1"?><b xmlns="u">\xe9</b>',
        ),
    ],
)
def test_an_element_is_a_document_of_its_own(body: bytes, part: bytes, engine: Any) -> None:
    """With the namespaces, entities and encoding that it needs of the ancestors, which are in every part."""
    assert contents(body, "/*/*[local-name() = 'b']", engine=engine)[0] == part


def test_the_form_range_is_the_bare_range() -> None:
    """The bytes that are written there."""
    assert contents(b"<a xmlns:p='u'><p:b/></a>", "/*/*", form="range") == [b"<p:b/>"]
    with pytest.raises(ChunkingError):
        ChunkQuery("q", "/a", form="bare")  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents(), st.randoms(use_true_random=False))
def test_contents_are_those_of_the_whole_document(body: bytes, random: Random) -> None:
    """For prefixes, default namespaces, entities with markup and encodings, with any scheme and engine."""
    document = read(body)
    queries = [
        ChunkQuery(text, text, PREFIXES, engine=random.choice(["auto", "select"]))
        for text in random.sample(TEXTS, 3)
    ]
    found = answered(body, any_scheme(random, queries, outline_of(body)), random.choice([1, 60, 1 << 20]))
    for query in queries:
        own = {key: count for key, count in found.items() if key[0] == query.id}
        assert own == dict(expected(query, document))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_elements_that_lxml_finds_have_the_same_contents(body: bytes) -> None:
    """But those that an entity brings in: libxml2 forgets the default namespace there."""
    document = read(body)
    query = ChunkQuery("q", "//*", engine="lxml")
    cut = run_queries(body, plan([query], profile=profile([body])), part_bytes=60)
    found = {(each.start, each.end): each.content for each in cut}
    wanted = {key[2:4]: key[4] for key in expected(query, document)}
    written = {place for place in wanted if body[place[0] : place[0] + 2].strip(b"\0").startswith(b"<")}
    assert {place: found[place] for place in written} == {place: wanted[place] for place in written}


def test_no_tree_is_needed_for_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twigcast's tree is seven times as slow to build as that of lxml."""
    monkeypatch.setattr(part_trees, "read", None)
    body = b"<?xml version='1.0'?><a xmlns='u' xmlns:p='v'><b/><p:b/><p:b xmlns:p='w'/><b/></a>"
    assert contents(body, "/*/p:b", namespaces={"p": "v"}) == [b'<p:b xmlns="u" xmlns:p="v"/>']


def test_parts_that_are_too_large_together_fail_alone() -> None:
    """Answers that lie in each other could have the square of the document; other queries go on."""
    body = b"<r>" + b"<a>" * 900 + b"x" * 9000 + b"</a>" * 900 + b"</r>"
    queries = [ChunkQuery("nested", "//a/a/a[1]"), ChunkQuery("one", "/r/a[1]/a")]
    cut = run_queries(body, plan(queries, profile=profile([body])))
    assert {answer.query for answer in cut} >= {"one"}
    assert [(id, error.code) for id, error in cut.failures.items()] == [("nested", "parts-too-large")]

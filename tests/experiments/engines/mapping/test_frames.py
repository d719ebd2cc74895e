"""Matching with frames: the answers are those on the image."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.mapping.frames import FrameEngine
from tests.experiments.engines.mapping.known_documents import known_document
from tests.pattern.strategies import NAMESPACES
from tests.rewriting.sources import mapping_of
from tests.rewriting.strategies import (
    random_mapping,
    random_pattern,
    random_schema,
    random_source_document,
)
from twigcast.document import read
from twigcast.errors import DocumentError, PatternError
from twigcast.pattern import matches, parse
from twigcast.rewriting import Downgrade, Exchange, Rename, Upgrade
from twigcast.rewriting.labels import QName

BOXES = mapping_of(
    """<!ELEMENT a (b*)> <!ELEMENT b (c*, e*, d*)> <!ELEMENT c EMPTY> <!ELEMENT d EMPTY>
    <!ELEMENT e EMPTY> <!ATTLIST e id CDATA #IMPLIED>""",
    Downgrade("a/b", ("a/b/c", "a/b/d"), "a/b/e"),
)
QUERY = parse("/a/b/e[@id=2][.//c][.//d]")


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        (b"<a><b><c/><e id='2'/><d/></b></a>", [0]),
        (b"<a><b><c/><e id='3'/><d/></b></a>", []),
        (b"<a><b><c/><e id='2'/></b><b><e id='2'/><d/></b></a>", []),
        (b"<a><b><c/><d/></b></a>", []),
    ],
)
def test_example_6_2(body: bytes, answer: list[int]) -> None:
    """An element that arrives before its holder is matched as if it were inside (thesis, Example 6.2)."""
    engine = FrameEngine([QUERY], BOXES)
    assert engine.on_tree == frozenset()
    assert engine.match(body) == answer


def test_a_holder_is_potential_until_its_start_tag() -> None:
    """The frame of e opens with c, is confirmed by its start tag, and closes at the end of b."""
    engine = FrameEngine([QUERY], BOXES)
    engine.match(b"<a><b><c/><e id='2'/><d/></b></a>")
    events = [status for path, status in engine.trace if path == "/a/b/e"]
    assert events == ["potential", "confirmed", "closed"]
    closing = [path for path, status in engine.trace if status == "closed"]
    assert closing.index("/a/b/e") < closing.index("/a/b")


def test_a_holder_that_never_comes_is_made() -> None:
    """At the end of b the potential frame becomes the made element."""
    engine = FrameEngine([parse("/a/b/e[c]"), parse("/a/b/e[@id]")], BOXES)
    assert engine.match(b"<a><b><c/></b></a>") == [0]
    assert ("/a/b/e", "made") in engine.trace


def test_not_and_count_wait_for_the_close() -> None:
    """What moves into an element after its end tag is counted, and denied, too: traps 20 and 21."""
    patterns = [parse("//e[not(d)]"), parse("//e[count(c)=2]"), parse("/a/b[e]/e//c")]
    engine = FrameEngine(patterns, BOXES)
    assert engine.on_tree == frozenset()
    assert engine.match(b"<a><b><e/><d/><c/><c/></b></a>") == [1, 2]


def test_copies_are_counted() -> None:
    """A copied element is one frame with several parents, but as many elements: trap 19."""
    engine = FrameEngine([parse("/self::node()[count(a/b/e/c)=2]")], BOXES)
    assert engine.match(b"<a><b><c/><e/><e/></b></a>") == [0]


def test_one_subscription_and_three_schemas() -> None:
    """The introduction's example: the same subscription, and a paper inside or around its author."""
    dtd = "<!ELEMENT title (#PCDATA)> <!ELEMENT name (#PCDATA)>"
    inside = "<!ELEMENT author (name, article*)> <!ELEMENT article (title)>" + dtd
    around = "<!ELEMENT article (title, author*)> <!ELEMENT author (name)>" + dtd
    wanted = [parse("/author[name='John']/paper/title")]
    first = b"<author><name>John</name><article><title/></article></author>"
    second = b"<article><title/><author><name>John</name></author></article>"
    paper = QName("", "paper")
    one = mapping_of(inside, Rename("author/article", paper))
    two = mapping_of(around, Exchange("article", "article/author"), Rename("article", paper))
    assert not matches(wanted[0], read(first))
    assert not matches(wanted[0], read(second))
    assert FrameEngine(wanted, one).match(first) == [0]
    assert FrameEngine(wanted, two).match(second) == [0]


def test_string_values_of_moved_text_are_decided_on_the_tree() -> None:
    """The engine says which patterns it cannot decide: traps 17 and 18."""
    mapping = mapping_of(
        "<!ELEMENT r (b*)> <!ELEMENT b (#PCDATA | c)*> <!ELEMENT c (#PCDATA)>", Upgrade("r/b", ("r/b/c",))
    )
    patterns = [parse("//b[text()='xy']"), parse("/r/*[2][self::c]"), parse("//b[not(c)]"), parse("//c='z'")]
    engine = FrameEngine(patterns, mapping)
    assert engine.on_tree == {0, 1}
    assert engine.match(b"<r><b>x<c>z</c>y</b></r>") == [0, 1, 2, 3]


@given(st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=120)
def test_frames_answer_as_the_image_does(random: Random) -> None:
    """Every pattern has the answer of the evaluator on the image, with strangers in the document or not."""
    tree = random_schema(random)
    tree.nodes()
    mapping = random_mapping(random, tree, random.randint(1, 5))
    make = random.choice([known_document, known_document, random_source_document])
    body = (
        make(random, tree)
        if not any(node.loops for node in tree.nodes())
        else random_source_document(random, tree)
    )
    try:
        image = mapping.apply(read(body))
    except DocumentError:
        return
    patterns = []
    for _ in range(8):
        try:
            patterns.append(parse(random_pattern(random).ours, NAMESPACES))
        except PatternError:
            continue
    wanted = [position for position, each in enumerate(patterns) if matches(each, image)]
    assert FrameEngine(patterns, mapping).match(body) == wanted

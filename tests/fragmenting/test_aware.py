"""Cuts that know the subscriptions: the same document, the same answers, and less to parse."""

from __future__ import annotations

import warnings
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.pattern.strategies import NAMESPACES, document, pattern
from tests.routing.overlay import any_document, subscription
from twigcast import Index
from twigcast.fragmenting import (
    Aware,
    Cutter,
    Fragment,
    FragmentIndex,
    HeaderKind,
    Outcome,
    Spans,
    assemble,
    fragment,
)
from twigcast.fragmenting.fragments import HEADER_KINDS

COLD = b"<c>" + b"<d>some text</d>" * 50 + b"</c>"
HOT = b"<b><e/></b>" * 20


def some_index(random: Random) -> Index:
    if random.random() < 0.5:
        texts = {number: pattern(random).ours for number in range(random.randint(1, 8))}
        return Index(texts.items(), namespaces=NAMESPACES)
    return Index((number, subscription(random)) for number in range(random.randint(1, 8)))


def outcome(feed: FragmentIndex, parts: list[Fragment]) -> Outcome:
    for part in parts:
        for news in feed.add(part):
            if isinstance(news, Outcome):
                return news
    return feed.finish("d")


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_any_index_has_the_answers_of_the_whole_document(random: Random) -> None:
    """The fragments make the document, and give this and another index the answers of the whole."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index, other = some_index(random), some_index(random)
    body = document(random) if random.random() < 0.5 else any_document(random)
    if index.match(body).error is not None:
        return
    kind = random.choice(HEADER_KINDS)
    parts = list(fragment(body, doc_id="d", cut=Aware(index, bytes=random.randint(1, 200)), header=kind))
    assert b"".join(part.body for part in parts) == body
    random.shuffle(parts)
    assert assemble(parts) == body
    for each in (index, other):
        found = outcome(FragmentIndex(each, checked=random.random() < 0.5), parts)
        assert found.match is not None
        assert found.match.ids == each.match(body).ids


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_headers_are_those_of_spans_cut_at_the_same_places(random: Random) -> None:
    """Events are joined to what the scanner says of a span as a whole."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index = some_index(random)
    body = document(random)
    if index.match(body).error is not None:
        return
    kind: HeaderKind = random.choice(HEADER_KINDS)
    made = list(fragment(body, cut=Aware(index, bytes=random.randint(1, 300)), header=kind))
    before = [sum(part.elements for part in made[:number]) for number in range(1, len(made))]
    nodes = tuple(count + 1 for count in before)
    if nodes:
        assert made == list(fragment(body, cut=Spans(nodes=nodes), header=kind))


def cold_and_hot(kind: HeaderKind = "prefix+level") -> tuple[Index, bytes, list[Fragment]]:
    index = Index([("e", "/a/b/e")])
    body = b"<a>" + HOT + COLD + HOT + COLD + b"</a>"
    return index, body, list(fragment(body, doc_id="d", cut=Aware(index, bytes=2000), header=kind))


@pytest.mark.parametrize("kind", ["prefix", "prefix+level", "prefix+paths"])
def test_cold_parts_are_fragments_of_their_own(kind: HeaderKind) -> None:
    """They are cut off exactly, and a receiver that trusts the headers does not parse them."""
    index, _, parts = cold_and_hot(kind)
    assert [part.body for part in parts] == [b"<a>" + HOT, COLD, HOT, COLD + b"</a>"]
    feed = FragmentIndex(index, checked=False)
    for part in parts[:-1]:
        feed.add(part)
    progress = feed.status("d")
    assert not isinstance(progress, Outcome | None)
    assert (progress.parsed, progress.skipped) == (2, 1)
    (last,) = feed.add(parts[-1])
    assert isinstance(last, Outcome)
    assert last.match is not None
    assert last.match.ids == ["e"]


def test_a_stream_is_cut_as_the_whole() -> None:
    """The places of cuts do not depend on how the bytes come in."""
    index, body, parts = cold_and_hot()
    cutter = Cutter(Aware(index, bytes=2000), doc_id="d")
    made = [part for start in range(0, len(body), 7) for part in cutter.feed(body[start : start + 7])]
    assert made + cutter.finish() == parts


def test_with_label_paths_what_is_above_hot_elements_may_be_cold() -> None:
    """With ``//`` anything may be hot by its place; the header with label paths shows that it is not."""
    index = Index([("e", "//b/e")])
    body = b"<a>" + HOT + COLD + HOT + b"</a>"
    for kind, count in (("prefix+paths", 3), ("prefix+level", 1)):
        assert len(list(fragment(body, cut=Aware(index, bytes=5000), header=kind))) == count


def test_no_cut_is_in_an_element_whose_text_is_asked_for() -> None:
    """The aim is passed rather than that."""
    index = Index([("text", "//b[contains(., 'x')]")])
    body = b"<a>" + b"<b>" + b"<i>x</i>" * 100 + b"</b>" + b"<b/>" * 100 + b"</a>"
    parts = list(fragment(body, cut=Aware(index, bytes=50)))
    assert parts[0].body.endswith(b"</i></b>")
    assert len(parts[0].body) > 800
    assert len(parts) > 5


def test_a_cut_is_where_the_fewest_conditions_are_open() -> None:
    """Of the places from half of the aim on, the one outside of the element with conditions is taken."""
    index = Index([("twig", "/a/p[x][y]/z"), ("other", "/a/q")])
    body = b"<a>" + (b"<p>" + b"<x/>" * 30 + b"<y/><z/></p>") * 20 + b"</a>"
    parts = list(fragment(body, cut=Aware(index, bytes=300)))
    assert len(parts) > 5
    assert all(part.body.startswith((b"<p>", b"<a>")) for part in parts)


def test_small_cold_parts_stay_with_their_neighbours() -> None:
    """A fragment of its own would cost more than it saves."""
    index = Index([("e", "/a/b/e")])
    body = b"<a>" + b"<b><e/><f/></b>" * 20 + b"</a>"
    assert len(list(fragment(body, cut=Aware(index, bytes=10_000)))) == 1


def test_an_aim_is_positive() -> None:
    """No fragment has 0 bytes."""
    with pytest.raises(ValueError, match="at least 1 byte"):
        Aware(Index([]), bytes=0)

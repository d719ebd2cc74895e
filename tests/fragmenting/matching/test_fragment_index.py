"""Documents in fragments: the answers of the whole document, whatever the cut, the order and the schedule."""

from __future__ import annotations

import os
import warnings
from math import inf
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.pattern.strategies import NAMESPACES, document, pattern
from tests.routing.overlay import any_document, subscription
from twigcast import DocumentLimits, Index
from twigcast.document import read
from twigcast.errors import FragmentError
from twigcast.fragmenting import (
    Certain,
    Fragment,
    FragmentIndex,
    FragmentLimits,
    Manifest,
    Outcome,
    Spans,
    Subtrees,
    assemble,
    decode,
    encode,
    fragment,
)
from twigcast.fragmenting.fragments import HEADER_KINDS
from twigcast.fragmenting.scheduling import POLICIES
from twigcast.pattern import matches, parse

CASES = int(os.environ.get("TWIGCAST_FRAGMENT_CASES", "120"))


def load(random: Random) -> tuple[Index, bytes]:
    """Random subscriptions of the whole language, or twigs that match often, and a document for them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while True:
            if random.random() < 0.5:
                texts = {number: pattern(random).ours for number in range(12)}
                index, body = Index(texts.items(), namespaces=NAMESPACES), document(random)
            else:
                index = Index((number, subscription(random)) for number in range(12))
                body = any_document(random)
            if index.match(body).error is None:
                return index, body


def cut(random: Random, body: bytes, kind: str | None = None) -> list[Fragment]:
    rule = random.choice(
        [
            Spans(elements=random.randint(1, 6)),
            Spans(bytes=random.randint(1, 80)),
            Subtrees(random.randint(1, 6)),
        ]
    )
    parts = list(fragment(body, doc_id="d", cut=rule, header=kind or random.choice(HEADER_KINDS)))
    assert assemble(parts) == body
    return parts


def outcome(feed: FragmentIndex, parts: list[Fragment]) -> tuple[Outcome, list[object]]:
    """The outcome of a document, and the ids that were certain before."""
    told: list[object] = []
    for part in parts:
        for news in feed.add(part):
            if isinstance(news, Outcome):
                return news, told
            told += news.ids
    return feed.finish("d"), told


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_answers_are_those_of_the_whole_document(random: Random) -> None:
    """For every cut, header, order, schedule, window and trust; certain answers are final."""
    index, body = load(random)
    expected = index.match(body).ids
    parts = cut(random, body)
    order = random.sample(parts, len(parts))
    if random.random() < 0.3:
        order.insert(random.randrange(len(order)), random.choice(parts))
    feed = FragmentIndex(
        index,
        schedule=random.choice([None, *POLICIES]),
        window=random.choice([1, 2, 5, inf]),
        early=random.random() < 0.5,
        checked=random.random() < 0.5,
    )
    if random.random() < 0.3:
        feed.expect(Manifest.of(parts))
    if random.random() < 0.3:
        order = [decode(encode(part)) for part in order]
    found, told = outcome(feed, order)
    assert found.status == "complete", found
    assert found.match is not None
    assert found.match.ids == expected
    assert set(told) <= set(expected)
    assert len(set(told)) == len(told)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_a_positive_match_is_certain_as_soon_as_it_can_be(random: Random) -> None:
    """After each span, the certain ids are those of the document so far, with its elements closed."""
    patterns = {number: f"//{a}[{b}]/{c}" for number, (a, b, c) in enumerate(TWIGS)}
    index = Index(patterns.items())
    body = any_document(random)
    parts = list(fragment(body, doc_id="d", cut=Spans(elements=random.randint(1, 4)), header="prefix"))
    feed = FragmentIndex(index, early=True)
    certain: set[object] = set()
    so_far = b""
    for part in parts[:-1]:
        for news in feed.add(part):
            assert isinstance(news, Certain)
            certain.update(news.ids)
        so_far += part.body
        run = part.runs[0]
        opened = (*(run.context or ())[: run.depth - run.closes], *run.opens)
        closed = read(so_far + b"".join(f"</{each.name}>".encode() for each in reversed(opened)))
        assert certain == {number for number, text in patterns.items() if matches(parse(text), closed)}


TWIGS = [(a, b, c) for a in "abcd" for b in "abc" for c in ("a", "b", "*")]


# Faults (section 3.1 of the design)

BODY = b"<r><a>1</a><b>2</b><c>3</c><d>4</d></r>"


def parts_of(body: bytes = BODY, doc_id: str = "d") -> list[Fragment]:
    return list(fragment(body, doc_id=doc_id, cut=Spans(elements=1), header="prefix"))


def feed_of(*texts: str, **options: object) -> FragmentIndex:
    index = Index([(text, text) for text in texts or ("//a", "//d")])
    return FragmentIndex(index, **options)  # type: ignore[arg-type]


def test_a_duplicate_is_counted_and_ignored() -> None:
    """It has the number and the digest of a fragment that is there."""
    feed, parts = feed_of(), parts_of()
    feed.add(parts[0])
    assert feed.add(parts[0]) == []
    progress = feed.status("d")
    assert progress is not None
    assert getattr(progress, "duplicates") == 1  # noqa: B009
    assert getattr(progress, "fragments") == 1  # noqa: B009


def test_the_same_number_with_other_bytes_breaks_the_document() -> None:
    """There is no way to tell which of the two is right."""
    feed = feed_of()
    feed.add(parts_of()[1])
    (news,) = feed.add(parts_of(BODY.replace(b"1", b"9"))[1])
    assert isinstance(news, Outcome)
    assert (news.status, news.error and news.error.code) == ("broken", "fragment-conflict")


def test_a_fragment_after_the_outcome_is_late() -> None:
    """It is refused with its document and number, for the dead letters."""
    feed = feed_of()
    for part in parts_of():
        feed.add(part)
    with pytest.raises(FragmentError) as refused:
        feed.add(parts_of()[2])
    assert (refused.value.code, refused.value.doc_id, refused.value.number) == ("fragment-late", "d", 3)


def test_what_is_missing_is_named() -> None:
    """Certain matches stand; the rest is undecided."""
    feed, parts = feed_of("//a", "//b", "/r[not(x)]"), parts_of()
    for part in (parts[1], parts[4]):
        feed.add(part)
    found = feed.finish("d")
    assert (found.status, found.missing, found.certain, found.reason) == (
        "incomplete",
        (range(1, 2), range(3, 5)),
        ("//a",),
        "ended",
    )


def test_two_runs_in_one_place_break_the_document() -> None:
    """The fragments of two cuts of one document do not mix."""
    feed = feed_of()
    feed.add(parts_of()[1])
    other = list(fragment(BODY, doc_id="d", cut=Spans(elements=2), header="prefix"))[1]
    news = feed.add(other)
    assert isinstance(news[0], Outcome)
    assert news[0].status == "broken"
    assert news[0].error is not None
    assert news[0].error.code in ("fragments-overlap", "fragment-conflict", "fragment-inconsistent")


def test_a_malformed_document_is_broken_with_its_error() -> None:
    """Even if matches were certain before (trap 25)."""
    whole = parts_of()
    feed = feed_of(early=True)
    assert feed.add(whole[0]) == []
    (news,) = feed.add(whole[1])
    assert isinstance(news, Certain)
    assert news.ids == ("//a",)
    broken = Fragment(whole[2].header, whole[2].body.replace(b"</b>", b"</x>"))
    (news,) = feed.add(broken)
    assert isinstance(news, Outcome)
    assert (news.status, news.error and news.error.code) == ("broken", "malformed")


def test_a_skipped_fragment_is_not_checked() -> None:
    """Only fragments of a trusted cutter may be skipped (trap 15)."""
    parts = [
        Fragment(part.header, part.body.replace(b"3", b"<!-")) if part.number == 4 else part
        for part in parts_of()
    ]
    trusting, found = feed_of("/r/a", "/r/d", checked=False), None
    for part in parts:
        for news in trusting.add(part):
            found = news
    assert isinstance(found, Outcome)
    assert found.status == "complete"
    checking = feed_of()
    results = [news for part in parts[:4] for news in checking.add(part)]
    assert isinstance(results[0], Outcome)
    assert results[0].status == "broken"


def test_the_oldest_document_is_given_up_if_there_are_too_many() -> None:
    """Its outcome says so."""
    feed = feed_of(limits=FragmentLimits(documents=2))
    news = [each for number in range(3) for each in feed.add(parts_of(doc_id=f"d{number}")[0])]
    assert [(each.doc_id, each.status, each.reason) for each in news if isinstance(each, Outcome)] == [
        ("d0", "incomplete", "limit")
    ]
    assert list(feed.open_documents()) == ["d1", "d2"]


def test_the_limit_on_bytes_is_of_the_whole_document() -> None:
    """Not of a fragment (trap 27)."""
    index = Index([("a", "//a")], limits=DocumentLimits(bytes=20))
    found, _ = outcome(FragmentIndex(index), parts_of())
    assert found.status == "broken"
    assert found.error is not None
    assert found.error.code == "too-large"


def test_the_limit_on_depth_counts_the_elements_around() -> None:
    """600 levels above a fragment and 600 in it are 1,200 (trap 27)."""
    body = b"<a>" * 1200 + b"</a>" * 1200
    parts = list(
        fragment(
            body, doc_id="d", cut=Spans(elements=600), header="prefix", limits=DocumentLimits(depth=2000)
        )
    )
    found, _ = outcome(FragmentIndex(Index([("a", "//a")])), parts)
    assert found.error is not None
    assert found.error.code == "too-deep"


def test_a_fragment_that_no_subscription_looks_at_is_not_parsed() -> None:
    """Its header shows it, and the answer is the same."""
    feed = feed_of("/r/d", checked=False)
    parts = parts_of()
    for part in parts[:-1]:
        feed.add(part)
    progress = feed.status("d")
    assert getattr(progress, "skipped") == 3  # noqa: B009
    (news,) = feed.add(parts[-1])
    assert isinstance(news, Outcome)
    assert news.match is not None
    assert news.match.ids == ["/r/d"]


@pytest.mark.parametrize(
    ("text", "body", "matches_whole"),
    [
        ("/a[.='xy']", b"<a>x<b>y</b></a>", True),  # trap 16: dead by structure, needed by text
        ("/a[text()='xy']", b"<a>x<b/>y</a>", False),  # trap 17: a hole ends a text node
        ("/a[contains(text(),'x')]", b"<a>y<b/><c/>x</a>", False),  # trap 18: the first text
        ("/a/b[2]", b"<a><b/><c/><b/></a>", True),  # trap 19: positions
        ("/a[contains(b,'x')]", b"<a><b>y</b><c/><b>x</b></a>", False),  # trap 19: the first of several
        ("/a[not(b)]", b"<a><c/><b/></a>", False),  # trap 20: absence
        ("/a[count(b)<2]", b"<a><b/><c/><b/></a>", False),
        ("/a[b!='x']", b"<a><b>x</b><c/><b>y</b></a>", True),  # trap 21
        ("/*:r/Q{u}a", b'<r xmlns="u"><a/></r>', True),  # trap 22: a namespace bound in another fragment
        ("//a[@x=1]", b'<!DOCTYPE r [<!ATTLIST a x CDATA "1">]><r><b/><a/></r>', True),  # trap 23
        ("/self::node()[a][not(b)]", b"<a><c/><d/></a>", True),  # trap 29: the document node
    ],
)
@pytest.mark.parametrize("kind", HEADER_KINDS)
@pytest.mark.parametrize("checked", [True, False])
def test_traps_of_the_language(text: str, body: bytes, matches_whole: bool, kind: str, checked: bool) -> None:
    """Each is decided as on the whole document, in every order of its fragments."""
    index = Index([("s", text)])
    assert bool(index.match(body).ids) is matches_whole
    for rule in (Spans(elements=1), Subtrees(1), Subtrees(2)):
        parts = list(fragment(body, doc_id="d", cut=rule, header=kind))  # type: ignore[arg-type]
        for order in (parts, parts[::-1]):
            found, _ = outcome(FragmentIndex(index, checked=checked, early=True), order)
            assert found.match is not None
            assert bool(found.match.ids) is matches_whole


def test_an_id_is_reported_once() -> None:
    """A union may match in two fragments (trap 29)."""
    feed = feed_of("/r/a | //d", early=True)
    told = [news for part in parts_of()[:-1] for news in feed.add(part)]
    assert [each.ids for each in told if isinstance(each, Certain)] == [("/r/a | //d",)]


def test_a_missing_span_is_not_mistaken_for_a_filled_hole() -> None:
    """Spans 1 and 3 of 3 open one hole and fill one, but not the same (trap 24)."""
    feed = feed_of("/r[not(b)]")
    parts = list(fragment(BODY, doc_id="d", cut=Spans(elements=2), header="prefix"))
    assert feed.add(parts[0]) == []
    assert feed.add(parts[-1]) == []
    assert feed.finish("d").status == "incomplete"


def test_a_document_keeps_the_subscriptions_of_its_first_fragment() -> None:
    """What is subscribed later counts for documents that begin later (trap 26)."""
    index = Index([("a", "//a")])
    feed, parts = FragmentIndex(index), parts_of()
    feed.add(parts[0])
    index.add("d", "//d")
    found, _ = outcome(feed, parts[1:])
    assert found.match is not None
    assert found.match.ids == ["a"]

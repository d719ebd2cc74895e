"""Partials: merged in any order and grouping they give the answer of the whole; foreign bytes are refused."""

from __future__ import annotations

from hashlib import blake2b
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twigcast import DocumentError, Index
from twigcast.errors import PartialError
from twigcast.filtering import Partial, PartialMatcher, Piece, PieceHole

BODY = b"<a><b x='1'/>t<c><d>5</d></c><b/></a>"
INDEX = Index(
    [
        ("twig", "/a[b]/c/d"),
        ("attribute", "/a[b/@x=1]/c"),
        ("not", "/a[not(e)]/b"),
        ("value", "/a[c='5']"),
        ("text", "/a[text()='t']"),
        ("count", "/a[count(b)=2]"),
        ("absent", "//e"),
    ]
)
EVERY = ["twig", "attribute", "not", "value", "text", "count"]


def spans() -> list[list[Piece]]:
    """The document in three spans: before c, and before the last b."""
    first, second = BODY.index(b"<c>"), BODY.rindex(b"<b")
    root = 1 << 32 | 1
    return [
        [
            Piece(
                BODY[:first],
                0,
                closing=b"</a>",
                holes=(PieceHole(first, 1 << 32 | 1, first),),
                first=root,
                starts_document=True,
            )
        ],
        [
            Piece(
                BODY[first:second],
                first,
                b"<a>",
                b"</a>",
                (root,),
                (PieceHole(second - first, 2 << 32 | 1, second),),
                1 << 32 | 1,
                2 << 32 | 1,
            )
        ],
        [
            Piece(
                BODY[second:], second, b"<a>", b"", (root,), (), 2 << 32 | 1, 3 << 32 | 1, ends_document=True
            )
        ],
    ]


def evaluated(matcher: PartialMatcher) -> list[Partial]:
    return [matcher.evaluate(number, pieces) for number, pieces in enumerate(spans(), 1)]


def test_the_parts_give_the_answer_of_the_whole() -> None:
    """Values, negation and counts included."""
    assert INDEX.match(BODY).ids == EVERY
    matcher = INDEX.partials()
    first, second, third = evaluated(matcher)
    matcher.merge(third, first)
    matcher.derive(third, early=True)
    assert not third.is_decided
    assert matcher.certain(third) == ["text"]
    matcher.merge(third, second)
    matcher.derive(third)
    assert third.is_decided
    assert third.members == [(1, 4)]
    assert matcher.match(third, BODY).ids == EVERY


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_merging_is_commutative_and_associative(random: Random) -> None:
    """Also after elements were closed anywhere in the tree of merges, and over bytes."""
    matcher = INDEX.partials()
    parts = evaluated(matcher)
    random.shuffle(parts)
    while len(parts) > 1:
        into, other = parts.pop(random.randrange(len(parts))), parts.pop()
        for each in (into, other):
            if random.random() < 0.4:
                matcher.derive(each, early=random.random() < 0.5)
        matcher.merge(into, matcher.decode(other.encode()) if random.random() < 0.5 else other)
        parts.append(into)
    matcher.derive(parts[0])
    assert matcher.match(parts[0], BODY).ids == EVERY


def test_a_partial_survives_its_bytes() -> None:
    """Encoding what was decoded gives the same bytes."""
    matcher = INDEX.partials()
    for partial in evaluated(matcher):
        data = partial.encode()
        assert matcher.decode(data).encode() == data


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_foreign_bytes_are_refused_or_harmless(random: Random) -> None:
    """Altered bytes are refused, or are a partial that can be merged and derived from."""
    matcher = INDEX.partials()
    first, second, _ = evaluated(matcher)
    data = bytearray(first.encode())
    for _ in range(random.randint(1, 3)):
        data[random.randrange(len(data))] = random.randrange(256)
    if random.random() < 0.3:
        del data[random.randrange(len(data)) :]
    try:
        altered = matcher.decode(bytes(data))
        matcher.merge(second, altered)
    except PartialError:
        return
    matcher.derive(second, early=True)
    matcher.certain(second)


def test_partials_of_other_subscriptions_are_refused() -> None:
    """Their numbers would mean other conditions."""
    data = evaluated(INDEX.partials())[0].encode()
    other = Index([("twig", "/a[b]/c/d"), ("more", "//x")]).partials()
    with pytest.raises(PartialError) as refused:
        other.decode(data)
    assert refused.value.code in ("other-version", "partial")


def test_a_part_is_added_once() -> None:
    """An element that was closed must not come back (trap 30)."""
    matcher = INDEX.partials()
    first, second, _ = evaluated(matcher)
    matcher.merge(first, second)
    with pytest.raises(PartialError) as refused:
        matcher.merge(first, evaluated(matcher)[1])
    assert refused.value.code == "common-parts"


def test_the_subscriptions_are_those_of_the_beginning() -> None:
    """A change of the index counts for matchers that are made later (trap 26)."""
    index = Index([("b", "//b")])
    matcher = index.partials()
    version = matcher.version
    index.add("c", "//c")
    index.remove("b")
    parts = evaluated(matcher)
    for part in parts[1:]:
        matcher.merge(parts[0], part)
    matcher.derive(parts[0])
    assert matcher.match(parts[0]).ids == ["b"]
    assert index.partials().version != version


@pytest.mark.parametrize(
    ("body", "closing", "code"),
    [
        (b"<a><b></a>", b"", "malformed"),
        (b"<a><!-- ", b"</a>", "truncated"),
        (b"<a>", b"</b>", "malformed"),
        (b"<a x='", b"</a>", "malformed"),
    ],
)
def test_a_piece_that_does_not_fit_is_an_error(body: bytes, closing: bytes, code: str) -> None:
    """The parser reads the piece between the tags of its surroundings."""
    ends = not closing
    holes = () if ends else (PieceHole(len(body), 1 << 32 | 1, len(body)),)
    piece = Piece(body, 0, closing=closing, holes=holes, first=1, starts_document=True, ends_document=ends)
    with pytest.raises(DocumentError) as refused:
        INDEX.partials().evaluate(1, [piece])
    assert refused.value.code == code


def test_a_hole_is_between_two_nodes() -> None:
    """A place inside a comment is refused."""
    piece = Piece(
        b"<a><!-- x --></a>", 0, holes=(PieceHole(8, 3, 8),), starts_document=True, ends_document=True
    )
    with pytest.raises(DocumentError) as refused:
        INDEX.partials().evaluate(1, [piece])
    assert refused.value.code == "cut-in-markup"


def test_where_an_error_is() -> None:
    """The offset is in the document, line and column are in the piece."""
    piece = Piece(b"<b/>\n<c></d>", 100, b"<a>", b"</a>", (7,), (), 9, 11)
    with pytest.raises(DocumentError) as refused:
        INDEX.partials().evaluate(2, [piece])
    error = refused.value
    assert (error.line, error.column, error.offset) == (2, 6, 110)


def test_what_a_label_path_can_contribute() -> None:
    """Paths that no subscription looks at contribute nothing."""
    matcher = Index([("twig", "/a/b[c]"), ("string", "/a/s[.='x']"), ("named", "/Q{u}r/x")]).partials()
    assert matcher.interest(["a", "b"], below=True)
    assert matcher.interest(["a", "b", "c"], below=False)
    assert not matcher.interest(["a", "x"], below=True)
    assert not matcher.interest(["a", "b", "x"], below=True)
    assert matcher.interest(["a", "s", "x"], below=False)  # its text is part of the string-value
    assert matcher.reads_text(["a", "s"])
    assert not matcher.reads_text(["a", "b"])
    assert matcher.interest(["r"], below=True, any_namespace=True)
    assert matcher.interest(["{u}r", "x"], below=False)
    assert not matcher.interest(["r"], below=True)


def test_the_version_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads all compiled subscriptions; a change of them has another one."""
    hashed = 0

    def counted(*given: bytes, digest_size: int = 64) -> object:
        nonlocal hashed
        hashed += 1
        return blake2b(*given, digest_size=digest_size)

    monkeypatch.setattr("twigcast.filtering.collection.blake2b", counted)
    index = Index([("a", "//a")])
    versions = {index.partials().version for _ in range(5)}
    assert len(versions) == 1
    assert hashed == 3
    index.add("b", "//b")
    assert index.partials().version not in versions

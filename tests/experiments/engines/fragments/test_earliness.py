"""Earliness: the share of the bytes that had arrived when a match became certain."""

from __future__ import annotations

import pytest

from experiments.engines.fragments.earliness import Earliness, earliness
from twigcast import Index
from twigcast.errors import DocumentError
from twigcast.fragmenting import Manifest, Spans, fragment

BODY = b"<a>" + b"<b/>" * 25 + b"<c>x</c>" + b"<b/>" * 24 + b"</a>"


def test_a_match_counts_when_it_is_certain() -> None:
    """In document order an early element is known early, an absence at the end."""
    index = Index([("b", "//b"), ("c", "//c"), ("no d", "/a[not(d)]"), ("d", "//d")])
    parts = list(fragment(BODY, cut=Spans(bytes=20)))
    found = earliness(index, parts)
    assert len(found.shares) == 3
    assert found.shares[0] < 0.15 < 0.4 < found.shares[1] < 0.7 < found.shares[2] == 1.0
    assert found.mean == pytest.approx(sum(found.shares) / 3)
    last = earliness(index, parts[::-1])
    assert last.shares[0] < 0.15


def test_the_part_that_is_known_at_a_share() -> None:
    """A match that is certain at exactly this share is known."""
    found = Earliness((0.1, 0.25, 0.5, 1.0))
    assert [found.known(share) for share in (0.05, 0.1, 0.3, 0.5, 1.0)] == [0, 0.25, 0.5, 0.75, 1.0]
    assert (Earliness(()).mean, Earliness(()).known(0.1)) == (0.0, 1.0)


def test_with_a_manifest_of_label_paths_nothing_need_arrive() -> None:
    """Subscriptions to names and places are known from the headers."""
    index = Index([("b", "//b"), ("c", "/a/c")])
    parts = list(fragment(BODY, cut=Spans(bytes=20), header="prefix+paths"))
    assert earliness(index, parts, Manifest.of(parts)).shares == (0.0, 0.0)


def test_a_document_must_be_whole() -> None:
    """Neither broken nor incomplete documents have an earliness."""
    parts = list(fragment(BODY, cut=Spans(bytes=20)))
    with pytest.raises(ValueError, match="missing"):
        earliness(Index([("b", "//b")]), parts[:-1])
    broken = list(fragment(BODY.replace(b"x", b"&x;"), cut=Spans(bytes=20)))
    with pytest.raises(DocumentError):
        earliness(Index([("b", "//b")]), broken)

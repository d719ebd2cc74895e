"""One large file on several cores: the answers of the whole document."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast import DocumentLimits, Index
from twigcast.fragmenting import match_large

BODY = b"<a>" + b"<b><c>1</c></b>" * 200 + b"<d/></a>"
SUBSCRIPTIONS = {"d": "//d", "second": "//b[2][c]", "x": "//x", "second x": "//x[2][c]", "c": "//b[c = 1]"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "large.xml"
    path.write_bytes(BODY)
    return path


def test_a_subscription_that_needs_a_document_beyond_the_limit_is_undecided_alone(file: Path) -> None:
    """It is named with its error, and the others are answered."""
    index = Index(SUBSCRIPTIONS, limits=DocumentLimits(bytes=len(BODY) - 1))
    match = match_large(index, file, fragment_bytes=500)
    assert match.error is None
    assert match.ids == ["d", "c"]
    [undecided] = match.undecided
    assert (undecided.id, undecided.error.code) == ("second", "too-large")
    assert f"(limit bytes: {len(BODY) - 1:,})" in str(undecided.error)


def test_a_document_within_the_limit_is_read_for_such_a_subscription(file: Path) -> None:
    """The answer is that of the whole document."""
    index = Index(SUBSCRIPTIONS, limits=DocumentLimits(bytes=len(BODY)))
    match = match_large(index, file, fragment_bytes=500)
    assert (match.ids, match.undecided) == (index.match(BODY).ids, ())


def test_without_such_a_subscription_the_size_has_no_limit(file: Path) -> None:
    """Of those that are decided in parts, none needs the document again."""
    index = Index({"d": "//d", "second x": "//x[2][c]"}, limits=DocumentLimits(bytes=10))
    match = match_large(index, file, fragment_bytes=500)
    assert (match.ids, match.undecided) == (["d"], ())

"""A document as start and end tags."""

from __future__ import annotations

from twigcast.document import read
from twigcast.filtering.reference.events import events


def test_tags_in_the_order_of_the_document() -> None:
    """An element's name comes before, and its end after, everything in it."""
    document = read(b"<a>x<b><c/></b><p:d xmlns:p='u'/></a>")
    assert list(events(document)) == [("", "a"), ("", "b"), ("", "c"), None, None, ("u", "d"), None, None]

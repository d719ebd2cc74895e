"""The start and end tags of a document."""

from __future__ import annotations

from experiments.engines.filtering.events import events
from twigcast.document import read


def test_tags_in_the_order_of_the_document() -> None:
    """The start tag of an element comes before its content, and the end tag after it."""
    document = read(b"<a>x<b><c/></b><p:d xmlns:p='u'/></a>")
    assert list(events(document)) == [("", "a"), ("", "b"), ("", "c"), None, None, ("u", "d"), None, None]

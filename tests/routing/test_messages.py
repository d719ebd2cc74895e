"""Messages are values; a document can be marked for flooding."""

from __future__ import annotations

from twigcast.routing.messages import Envelope, Send, Unsubscribe, flooded, is_flooded


def test_messages_are_values() -> None:
    """Messages with the same content are equal."""
    assert Send("n", Unsubscribe("s")) == Send("n", Unsubscribe("s"))


def test_a_flooded_document_says_so_in_its_headers() -> None:
    """The rest of the envelope is unchanged."""
    envelope = Envelope("d", b"<a/>", "p", (("k", "v"),))
    marked = flooded(envelope, "because")
    assert not is_flooded(envelope)
    assert is_flooded(marked)
    assert marked.headers == (("k", "v"), ("flooded", "because"))
    assert (marked.doc_id, marked.body, marked.publisher) == ("d", b"<a/>", "p")

"""Messages: values, and documents that are to be flooded."""

from __future__ import annotations

from twigcast.routing.messages import Envelope, Send, Unsubscribe, flooded, is_flooded


def test_messages_are_values() -> None:
    """Equal ones cannot be told apart."""
    assert Send("n", Unsubscribe("s")) == Send("n", Unsubscribe("s"))


def test_a_flooded_document_says_so_in_its_headers() -> None:
    """Everything else of it stays."""
    envelope = Envelope("d", b"<a/>", "p", (("k", "v"),))
    marked = flooded(envelope, "because")
    assert not is_flooded(envelope)
    assert is_flooded(marked)
    assert marked.headers == (("k", "v"), ("flooded", "because"))
    assert (marked.doc_id, marked.body, marked.publisher) == ("d", b"<a/>", "p")

"""The events of a document."""

from __future__ import annotations

from experiments.engines.mapping.streaming import (
    CommentEvent,
    EndEvent,
    EventAttribute,
    InstructionEvent,
    StartEvent,
    TextEvent,
    events,
)
from tests.rewriting.images import name
from twigcast.document import read
from twigcast.rewriting.labels import QName


def test_events_are_in_document_order() -> None:
    """One for each tag, text, comment and processing instruction."""
    body = b"<!--0--><a x='1' p:y='2' xmlns:p='urn:p'>t<b/><?pi z?></a>"
    assert list(events(read(body))) == [
        CommentEvent("0"),
        StartEvent(name("a"), (EventAttribute(name("x"), "1"), EventAttribute(QName("urn:p", "y"), "2"))),
        TextEvent("t"),
        StartEvent(name("b")),
        EndEvent(),
        InstructionEvent("pi", "z"),
        EndEvent(),
    ]


def test_keys_do_not_count_when_events_are_compared() -> None:
    """They belong to a schema, not to the document."""
    assert StartEvent(name("a"), key="r/a") == StartEvent(name("a"))
    assert StartEvent(name("a")) != StartEvent(name("b"))


def test_deep_documents_have_events() -> None:
    """Without a recursion for each level."""
    assert len(list(events(read(b"<a>" * 1000 + b"</a>" * 1000)))) == 2000

"""The overlay of all routers of one process."""

from __future__ import annotations

import pytest

from twigcast.errors import DocumentError, RoutingError
from twigcast.pattern import parse
from twigcast.routing import Delivery, Envelope, Network, Overlay, Publish, Strategy, Subscribe

NETWORK = Network(("a", "b"), (("a", "b"),), (("writer", "a"), ("reader", "b")))


def test_what_is_sent_is_handed_on_until_everyone_is_silent() -> None:
    """A subscription reaches the other router and a document the subscriber; each message is counted once."""
    overlay = Overlay(NETWORK, Strategy(advertising=False))
    assert overlay.send("reader", Subscribe("s", parse("/x"))) == []
    assert overlay.send("writer", Publish(Envelope("d", b"<x/>"))) == [Delivery("reader", "d", ("s",))]
    assert overlay.send("writer", Publish(Envelope("e", b"<y/>"))) == []
    assert overlay.received == {"Subscribe": 2, "Publish": 3}


def test_what_is_refused_changes_nothing() -> None:
    """A refused batch changes neither the tables nor the message counts."""
    overlay = Overlay(NETWORK, Strategy(advertising=False))
    overlay.send("reader", Subscribe("s", parse("/x")))
    with pytest.raises(RoutingError):
        overlay.send("reader", Subscribe("t", parse("/y")), Subscribe("s", parse("/z")))
    with pytest.raises(DocumentError):
        overlay.send("writer", Publish(Envelope("d", b"<x>")))
    assert overlay.received == {"Subscribe": 2}
    assert list(overlay.routers["a"].subscriptions("b")) == ["s"]

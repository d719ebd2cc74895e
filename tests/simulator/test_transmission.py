"""Times of transmissions, whole and header first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.simulator.cost import LinkModel
from twigcast.simulator.transmission import Links

MODEL = LinkModel(latency=0.5, bandwidth=100.0)


def test_a_message_takes_its_bytes_and_the_latency() -> None:
    """The header arrives before the rest."""
    links = Links(MODEL)
    assert links.send("x", "y", 1.0, 20, 100) == (1.0 + 0.2 + 0.5, 1.0 + 1.2 + 0.5)


def test_messages_of_a_link_follow_one_another() -> None:
    """Other links, and the same link in the other direction, are not busy."""
    links = Links(MODEL)
    links.send("x", "y", 0.0, 0, 100)
    assert links.send("x", "y", 0.5, 0, 100).complete == 2.5
    assert links.send("y", "x", 0.5, 0, 100).complete == 2.0
    assert links.send("x", "z", 0.5, 0, 100).complete == 2.0


def test_a_relayed_body_ends_when_it_has_come() -> None:
    """A link that has caught up with the body waits for it, and carries nothing else meanwhile."""
    links = Links(MODEL)
    assert links.send("x", "y", 1.0, 20, 100, complete=9.0).complete == 9.5
    assert links.send("x", "y", 2.0, 0, 100).complete == 10.5
    assert Links(MODEL).send("x", "y", 1.0, 20, 100, complete=2.0).complete == 2.7


def relayed(hops: int, header: int, body: int, model: LinkModel) -> float:
    """The response of a line of routers that decide from the header, in no time."""
    links = Links(model)
    ready = complete = 0.0
    for hop in range(hops):
        ready, complete = links.send(f"b{hop}", f"b{hop + 1}", ready, header, body, complete)
    return complete


def stored(hops: int, header: int, body: int, model: LinkModel) -> float:
    """The response of the same line if each router waits for the whole document."""
    links = Links(model)
    ready = 0.0
    for hop in range(hops):
        ready = links.send(f"b{hop}", f"b{hop + 1}", ready, header, body).complete
    return ready


def test_a_line_of_eight_takes_one_transmission() -> None:
    """At 1 MB and 10 MB/s, eight hops take less than a fifth of store and forward."""
    model = LinkModel(bandwidth=1e7)
    assert stored(8, 500, 1_000_000, model) == pytest.approx(8 * (0.10005 + model.latency))
    expected = 0.1 + 8 * (0.00005 + model.latency)
    assert relayed(8, 500, 1_000_000, model) == pytest.approx(expected)
    assert relayed(8, 500, 1_000_000, model) <= 0.2 * stored(8, 500, 1_000_000, model)


@given(
    st.lists(st.tuples(st.floats(0, 10), st.integers(0, 50)), min_size=1, max_size=6),
    st.integers(1, 300),
    st.integers(0, 40),
)
def test_the_end_is_that_of_sending_byte_by_byte(
    load: list[tuple[float, int]], body: int, header: int
) -> None:
    """The closed form equals sending each byte as soon as it has come and the link is free.

    Each link of the line is busy with another message at first.
    """
    links = Links(MODEL)
    second = 1.0 / MODEL.bandwidth
    ready = complete = 0.0
    has = [0.0] * body  # when the sender has each byte of the body
    for hop, (at, size) in enumerate(load):
        name, other = f"b{hop}", f"b{hop + 1}"
        links.send(name, other, at, size, 0)
        time = max(ready, at + size * second) + header * second
        if ready < at:  # the document is sent first, the other message comes too late to delay it
            links = Links(MODEL)
            time = ready + header * second
        sent = []
        for byte in has:
            time = max(time + second, byte)
            sent.append(time)
        ready, complete = links.send(name, other, ready, header, body, complete)
        assert complete == pytest.approx(sent[-1] + MODEL.latency)
        has = [each + MODEL.latency for each in sent]

"""The forwarded subscriptions of a link, as both of its ends know them."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from twigcast.pattern import Pattern, parse
from twigcast.routing.messages import Envelope, Message, Publish, Subscribe, Unsubscribe
from twigcast.routing.piggyback import ToldSet

PATTERNS = [parse(text) for text in ("//a", "//b", "/a/b")]


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_fingerprint_names_the_content(random: Random) -> None:
    """It depends neither on the order of the changes nor on what was withdrawn."""
    told = ToldSet()
    content: dict[str, Pattern] = {}
    for _ in range(random.randint(0, 12)):
        id = random.choice("xyz")
        message: Message
        if id in content and random.random() < 0.5:
            del content[id]
            message = Unsubscribe(id)
        else:
            content[id] = random.choice(PATTERNS)
            message = Subscribe(id, content[id])
        told.apply([message, Publish(Envelope("d", b"<a/>"))])
    assert told.patterns == content
    assert told.ids == tuple(sorted(content))
    assert len(told) == len(content)
    shuffled = ToldSet(dict(random.sample(list(content.items()), len(content))))
    assert told.fingerprint == shuffled.fingerprint != 0


def test_an_id_with_another_pattern_is_another_content() -> None:
    """Ids alone do not say what an annotation means."""
    one, other = ToldSet({"x": PATTERNS[0]}), ToldSet({"x": PATTERNS[1]})
    assert one.fingerprint != other.fingerprint
    assert ToldSet({"xy": PATTERNS[0]}).fingerprint != ToldSet({"x": PATTERNS[0]}).fingerprint


def test_the_version_never_comes_back() -> None:
    """A content that was there before has its old fingerprint, and a new version."""
    told = ToldSet({"x": PATTERNS[0]})
    before = told.fingerprint, told.version
    told.apply([Unsubscribe("x"), Subscribe("x", PATTERNS[0])])
    assert told.fingerprint == before[0]
    assert told.version > before[1]


def test_the_end_of_an_unknown_subscription_changes_nothing() -> None:
    """A router may withdraw what it has never forwarded."""
    told = ToldSet({"x": PATTERNS[0]})
    before = told.version
    told.apply([Unsubscribe("y")])
    assert told.version == before

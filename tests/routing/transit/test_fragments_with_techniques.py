"""Documents in fragments together with annotations and mappings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twigcast.fragmenting import Spans, fragment
from twigcast.pattern import parse
from twigcast.rewriting import Mapping, Rename, SchemaTree
from twigcast.rewriting.labels import QName
from twigcast.routing import (
    Announce,
    Deliver,
    Envelope,
    Message,
    NetworkMediation,
    Publish,
    PublishFragment,
    RequestAnnotations,
    Router,
    Strategy,
    Subscribe,
    Work,
)
from twigcast.schema import read_dtd

BODY = b"<cmu>" + b"<Course>XML</Course>" * 200 + b"</cmu>"
CMU = SchemaTree.of(read_dtd(b"<!ELEMENT cmu (Course*)> <!ELEMENT Course (#PCDATA)>"))
MAPPING = Mapping(
    "cmu", CMU, (Rename("cmu", QName("", "catalogue")), Rename("cmu/Course", QName("", "course")))
)


def pair(
    piggyback: str | None, rows: dict[str, dict[str, str]], mediation: NetworkMediation | None = None
) -> tuple[Router, Router]:
    """source ─ i ─ j, which has the neighbour k and the client c; ``rows`` are patterns by link of j."""
    strategy = Strategy(
        advertising=False, publication="fragments", piggyback=piggyback, fragment_bytes=512, covering=False
    )
    i = Router("i", ["j"], ["source"], strategy=strategy, mediation=mediation)
    j = Router("j", ["i", "k"], ["c"], strategy=strategy, mediation=mediation)
    for link, patterns in rows.items():
        for id, text in patterns.items():
            tell(j, i, [Subscribe(id, parse(text))], link)
    if mediation is not None:
        tell(i, j, [Announce(MAPPING)], "source")
    for link, message in j.replan():
        if link == "i":
            i.exchange([message], "j")
    return i, j


def tell(one: Router, other: Router, messages: list[Message], link: str) -> None:
    """Let a router handle messages, and the other one what it is sent."""
    outgoing = one.exchange(messages, link)
    if sent := outgoing.get(other.name):
        other.exchange(sent, one.name)


def relayed(i: Router, j: Router) -> tuple[dict[str, list[Message]], Work, list[Message]]:
    """What j sends for a document that enters at i, what it did for that, and what i has sent it."""
    sent = i.exchange([Publish(Envelope("d", BODY, "cmu"))], "source")["j"]
    work, together = Work(), dict[str, list[Message]]()
    for message in sent:
        for link, messages in j.exchange([message], "i", work).items():
            together.setdefault(link, []).extend(messages)
    return together, work, sent


@pytest.mark.parametrize("piggyback", ["L+t", "L+a", "L+s-sd"])
def test_fragments_that_annotations_decide_are_not_evaluated(piggyback: str) -> None:
    """The first fragment says enough; the document reaches all that want it, byte for byte."""
    i, j = pair(piggyback, {"k": {"s": "//Course"}, "c": {"t": "//cmu", "u": "//z"}})
    outgoing, work, sent = relayed(i, j)
    first, *others = sent
    assert isinstance(first, PublishFragment)
    assert first.annotations
    assert not any(each.annotations for each in others if isinstance(each, PublishFragment))
    assert len(work.fragments) == len(sent) > 3
    assert not any(each.parsed for each in work.fragments[1:])
    assert [type(each) for each in outgoing["k"]] == [PublishFragment] * len(sent)
    (delivered,) = outgoing["c"]
    assert isinstance(delivered, Deliver)
    assert (delivered.envelope.body, delivered.subscriptions) == (BODY, ("t",))


def test_annotations_that_leave_something_open_send_the_proven_link_its_fragments_at_once() -> None:
    """The client's row asks for text, which a structure does not have."""
    i, j = pair("L+t", {"k": {"s": "//Course"}, "c": {"t": "//Course[. = 'XML']"}})
    first, *others = i.exchange([Publish(Envelope("d", BODY))], "source")["j"]
    outgoing = j.exchange([first], "i")
    assert [type(each) for each in outgoing["k"]] == [PublishFragment]
    assert "c" not in outgoing
    (delivered,) = [each for other in others for each in j.exchange([other], "i").get("c", ())]
    assert isinstance(delivered, Deliver)


@pytest.mark.parametrize("piggyback", [None, "L+t", "L+a"])
def test_fragments_of_a_document_with_a_mapping_are_matched_as_its_image(piggyback: str | None) -> None:
    """They are put together, unless annotations decide before; subscribers get the publisher's bytes."""
    i, j = pair(piggyback, {"k": {"s": "/catalogue"}, "c": {"t": "//course"}}, NetworkMediation())
    outgoing, work, sent = relayed(i, j)
    assert len(sent) > 3
    assert [type(each) for each in outgoing["k"]] == [PublishFragment] * len(sent)
    (delivered,) = outgoing["c"]
    assert isinstance(delivered, Deliver)
    assert delivered.envelope.body == BODY
    assert any(each.parsed for each in work.fragments[1:]) == (piggyback is None)


def test_a_publishers_own_fragments_get_their_mapping_when_they_are_complete() -> None:
    """The mapping is chosen by the whole document, and travels with each fragment."""
    i, _ = pair(None, {"k": {"s": "/catalogue"}}, NetworkMediation())
    parts = list(fragment(BODY, doc_id="d", cut=Spans(bytes=1000)))
    sent = [i.exchange([PublishFragment(each, "cmu")], "source").get("j", []) for each in parts]
    assert [len(each) for each in sent[:-1]] == [0] * (len(parts) - 1)
    assert len(sent[-1]) == len(parts)
    for message in sent[-1]:
        assert isinstance(message, PublishFragment)
        assert dict(message.headers)["mapping"] == MAPPING.reference


def test_annotations_of_another_mapping_are_ignored() -> None:
    """They name the mapping of the image that they are about."""
    i, j = pair("L+t", {"k": {"s": "/catalogue"}, "c": {"t": "//course"}}, NetworkMediation())
    first, *_ = i.exchange([Publish(Envelope("d", BODY, "cmu"))], "source")["j"]
    assert isinstance(first, PublishFragment)
    other = replace(MAPPING, operators=(Rename("cmu", QName("", "list")),), version=2)
    j.exchange([Announce(other)], "i")
    assert j.exchange([replace(first, headers=(("mapping", other.reference),))], "i") == {}


def test_a_plan_is_sent_with_the_first_fragment() -> None:
    """As with the first whole document."""
    i, j = pair("L-d", {"k": {"s": "//Course"}})
    fresh = Router.restore(j.save())
    first, *_ = i.exchange([Publish(Envelope("d", BODY))], "source")["j"]
    assert any(isinstance(each, RequestAnnotations) for each in fresh.exchange([first], "i")["i"])

"""The open documents of a router: limits, links that leave, restarts; and deliveries that nothing changes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.routing.overlay import Delivery, Overlay, any_document, expected, story, subscription
from twigcast.document import read
from twigcast.fragmenting import CutRule, Cuts, Fragment, Spans, fragment
from twigcast.fragmenting.fragments import HEADER_KINDS
from twigcast.pattern import Pattern, parse
from twigcast.routing import Network, Router, Strategy
from twigcast.routing import Overlay as JoinedOverlay
from twigcast.routing.messages import (
    Deliver,
    DeliverFragment,
    Envelope,
    Message,
    Publish,
    PublishFragment,
    Send,
    Subscribe,
    Unpublish,
    Unsubscribe,
)
from twigcast.routing.stages.aggregating import sample_selectivity
from twigcast.routing.transit import fragment_relay as relay_module

BY_FRAGMENTS = Strategy(advertising=False, covering=False, publication="fragments", fragment_bytes=8)
BODY = b"<a><b/><c><d/></c><e/></a>"
COMBINATIONS = [each for each in Strategy.all_combinations() if each.publication == "fragments"]


def parts(body: bytes = BODY, doc_id: str = "d") -> list[Fragment]:
    return list(fragment(body, doc_id=doc_id, cut=Spans(elements=1)))


def first_two(made: Router, link: str = "n") -> list[Send]:
    first, second, *_ = parts()
    return made.handle([PublishFragment(each, origin="p") for each in (first, second)], link)


def router(strategy: Strategy = BY_FRAGMENTS) -> Router:
    """A router with neighbours n and m and clients c and x; m subscribes to /a/b."""
    made = Router("r", ["n", "m", "o"], ["c", "x"], strategy=strategy)
    made.subscribe("m1", parse("/a/b"), "m")
    return made


# Deliveries


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False), st.sampled_from(COMBINATIONS))
def test_fragments_of_publishers_are_delivered_as_flooding_does(random: Random, strategy: Strategy) -> None:
    """Publishers cut documents in any way and send the fragments in any order, those of several in between.

    Some clients take fragments as they come.
    """
    strategy = replace(strategy, held_bytes=random.choice([0, 64, 1 << 20]))
    told = story(random, 8)
    selectivity = sample_selectivity(map(read, told.sample))
    overlay = Overlay(told.edges, told.clients, strategy, told.schema, selectivity)
    takers = {client for client in told.clients if random.randint(0, 2) == 0}
    for client in takers:
        relay = overlay.routers[told.clients[client]].fragments
        assert relay is not None
        relay.takers.add(client)
    live: dict[str, tuple[str, Pattern]] = {}
    waiting: list[tuple[str, Envelope]] = []
    for client, messages in told.events:
        for message in messages:
            if isinstance(message, Publish):
                waiting.append((client, message.envelope))
                continue
            if waiting:
                publish(overlay, waiting, random)
                assert overlay.take() == due(live, waiting)
                waiting.clear()
            overlay.do(client, message)
            if isinstance(message, Subscribe):
                live[message.id] = client, message.pattern
            elif isinstance(message, Unsubscribe):
                del live[message.id]
    publish(overlay, waiting, random)
    assert overlay.take() == due(live, waiting)
    for each in overlay.routers.values():
        assert each.fragments is not None
        assert len(each.fragments) == 0


def publish(overlay: Overlay, documents: Sequence[tuple[str, Envelope]], random: Random) -> None:
    """Publish documents by fragments, in any order and any batches."""
    arriving: list[tuple[str, Message]] = []
    for client, envelope in documents:
        rules: list[CutRule] = [Spans(elements=1), Spans(bytes=20), Cuts((2, 3, 5))]
        header = random.choice(HEADER_KINDS)
        made = fragment(envelope.body, doc_id=envelope.doc_id, cut=random.choice(rules), header=header)
        arriving += [(client, PublishFragment(each)) for each in made]
    random.shuffle(arriving)
    for client, message in arriving:
        overlay.do(client, message)


def due(live: dict[str, tuple[str, Pattern]], documents: Sequence[tuple[str, Envelope]]) -> list[Delivery]:
    return sorted(each for _, envelope in documents for each in expected(live, envelope))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_changes_while_documents_are_under_way_count_for_later_ones(random: Random) -> None:
    """A document is matched against the subscriptions that the router had at its first fragment."""
    made = Router("r", ["n", "m"], ["c", "x"], strategy=BY_FRAGMENTS)
    live: dict[str, tuple[str, Pattern]] = {}
    arriving: list[tuple[Envelope, Fragment]] = []
    for number in range(4):
        envelope = Envelope(f"d{number}", any_document(random))
        parts = fragment(envelope.body, doc_id=envelope.doc_id, cut=Spans(elements=random.randint(1, 3)))
        arriving += [(envelope, each) for each in parts]
    random.shuffle(arriving)
    left = Counter(envelope.doc_id for envelope, _ in arriving)
    as_begun: dict[str, dict[str, tuple[str, Pattern]]] = {}
    forwarded: Counter[str] = Counter()
    sizes = left.copy()
    for step, (envelope, each) in enumerate(arriving):
        link, id = random.choice("mcx"), f"s{step}"
        live[id] = link, subscription(random)
        made.subscribe(id, live[id][1], link)
        if random.randint(0, 1):
            id = random.choice(list(live))
            made.unsubscribe(id, live.pop(id)[0])
        subscribed = as_begun.setdefault(envelope.doc_id, dict(live))
        sent = made.handle([PublishFragment(each, origin="p")], "n")
        forwarded[envelope.doc_id] += sum(link == "m" for link, _ in sent)
        left[envelope.doc_id] -= 1
        if not left[envelope.doc_id]:
            due = expected(subscribed, envelope)
            found = [
                (link, message.envelope.doc_id, tuple(sorted(message.subscriptions)))
                for link, message in sent
                if isinstance(message, Deliver)
            ]
            assert sorted(found) == [each for each in due if each[0] != "m"]
            wanted = any(client == "m" for client, *_ in due)
            assert forwarded[envelope.doc_id] == (sizes[envelope.doc_id] if wanted else 0)


@pytest.mark.parametrize("order", ["document", "novelty"])
def test_a_whole_document_is_cut_by_its_first_router(order: str) -> None:
    """Its publisher publishes it as anywhere else; fragments travel between routers."""
    network = Network(("r", "s"), (("r", "s"),), (("w", "r"), ("c", "s"), ("x", "s")))
    overlay = JoinedOverlay(network, replace(BY_FRAGMENTS, fragment_order=order))  # type: ignore[arg-type]
    for id in "cx":
        overlay.send(id, Subscribe(id, parse("/a/c/d")))
    taken = overlay.routers["s"].fragments
    assert taken is not None
    taken.takers.add("x")
    assert {each.client for each in overlay.send("w", Publish(Envelope("d", BODY)))} == {"c", "x"}
    assert overlay.received["PublishFragment"] == 3
    assert overlay.send("w", Publish(Envelope("e", b"<a/>"))) == []


def test_a_client_of_the_same_router_takes_fragments_too() -> None:
    """Also if the document was published there as a whole."""
    made = router()
    assert made.fragments is not None
    made.fragments.takers.add("c")
    made.subscribe("c1", parse("/a"), "c")
    taken = [each for link, each in made.receive(Envelope("d", BODY), "x") if link == "c"]
    assert all(isinstance(each, DeliverFragment) and each.subscriptions == ("c1",) for each in taken)
    assert b"".join(each.fragment.body for each in taken) == BODY  # type: ignore[union-attr]
    assert [each.is_complete for each in taken] == [False, False, True]  # type: ignore[union-attr]


# Limits


def test_beyond_the_bytes_that_may_be_held_a_document_is_forwarded() -> None:
    """The oldest one goes to all neighbours that subscribe to anything; clients still get what they match."""
    made = router(replace(BY_FRAGMENTS, held_bytes=8))
    made.subscribe("m2", parse("/f"), "m")
    made.subscribe("c1", parse("/f"), "c")
    first, second, third, *rest = parts(b"<a><x/><c><d/></c><e/></a>")
    assert made.handle([PublishFragment(each, origin="p") for each in (first, second)], "n") == []
    sent = made.handle([PublishFragment(third, origin="p")], "n")
    assert [(link, each.fragment.number) for link, each in sent] == [("m", 1), ("m", 2), ("m", 3)]  # type: ignore[union-attr]
    assert [link for each in rest for link, _ in made.handle([PublishFragment(each, origin="p")], "n")] == [
        "m"
    ] * len(rest)


def test_beyond_the_number_of_open_documents_the_oldest_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that were sent some of it are told."""
    monkeypatch.setattr(relay_module, "MOST_OPEN", 2)
    made = router()
    first_two(made)
    assert made.handle([PublishFragment(parts(doc_id="e")[0])], "c") == []
    (sent,) = made.handle([PublishFragment(parts(doc_id="f")[0])], "c")
    assert sent == Send("m", Unpublish("d", "p", "more than 2 open documents"))
    (told,) = made.handle([PublishFragment(parts(doc_id="g")[0])], "c")
    assert told == Send("c", Unpublish("e", "r/c/1", "more than 2 open documents"))


def test_a_caller_with_a_clock_gives_documents_up() -> None:
    """A router has no clock; it says which documents are open, the oldest first."""
    made = router()
    assert made.fragments is not None
    first_two(made)
    made.handle([PublishFragment(parts(doc_id="e")[0])], "c")
    assert [each.doc_id for each in made.fragments] == ["d", "e"]
    assert made.fragments.give_up(made.fragments, "late") == [
        Send("m", Unpublish("d", "p", "late")),
        Send("c", Unpublish("e", "r/c/1", "late")),
    ]
    assert len(made.fragments) == 0


def test_the_memory_of_failed_documents_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fragment that comes later still begins a document, which is given up in its turn."""
    monkeypatch.setattr(relay_module, "MOST_FAILED", 1)
    made = router()
    made.handle([Unpublish("d", "p"), Unpublish("e", "q")], "n")
    assert len(first_two(made)) == 2


# Publishers


def test_a_publisher_may_take_a_document_back() -> None:
    """Then it may publish another one of that name."""
    made = router()
    assert len(first_two(made, "c")) == 2
    assert made.handle([Unpublish("d")], "c") == [
        Send("m", Unpublish("d", "r/c/1", "taken back by its publisher"))
    ]
    assert [each.origin for _, each in first_two(made, "c")] == ["r/c/2"] * 2  # type: ignore[union-attr]


def test_a_name_may_be_used_again() -> None:
    """After a document is complete, a fragment of its name begins another one."""
    made = router()
    for origin in ("r/c/1", "r/c/2"):
        sent = made.handle([PublishFragment(each) for each in parts()], "c")
        assert {each.origin for _, each in sent} == {origin}  # type: ignore[union-attr]
    assert {each.origin for _, each in made.receive(Envelope("d", BODY), "c")} == {"r/c/3"}  # type: ignore[union-attr]


# Links


def test_a_neighbour_that_leaves_ends_the_documents_that_come_from_it() -> None:
    """Others that were sent some of them are told; nothing goes to the neighbour itself."""
    made = router()
    first_two(made)
    sent = made.disconnect("n")
    assert sent == [Send("m", Unpublish("d", "p", "'n' is no longer connected"))]
    assert made.fragments is not None
    assert len(made.fragments) == 0


def test_a_neighbour_that_is_connected_again_gets_no_rest_of_a_document() -> None:
    """It has not got the beginning."""
    made = router()
    made.subscribe("o1", parse("/a/c"), "o")
    first_two(made)
    made.disconnect("m")
    made.connect("m")
    made.subscribe("m1", parse("/a/b"), "m")
    rest = [PublishFragment(each, origin="p") for each in parts()[2:]]
    assert {link for link, _ in made.handle(rest, "n")} == {"o"}
    assert made.detach("c") == []


def test_a_client_that_leaves_ends_its_documents() -> None:
    """A client that has left receives nothing."""
    made = router()
    made.subscribe("x1", parse("/a"), "x")
    first_two(made, "c")
    made.handle([PublishFragment(each, origin="q") for each in parts()[:4]], "n")
    assert made.detach("x") == [
        Send("n", Unsubscribe("x1")),
        Send("m", Unsubscribe("x1")),
        Send("o", Unsubscribe("x1")),
    ]
    assert [link for link, _ in made.detach("c")] == ["m"]
    assert [link for link, _ in made.handle([PublishFragment(parts()[4], origin="q")], "n")] == ["m"]


# Restarts


def test_documents_that_are_open_when_a_router_is_saved_fail() -> None:
    """The restored router tells the receivers of fragments with its next messages, and ignores the rest."""
    made = router()
    assert made.fragments is not None
    made.fragments.takers.add("x")
    first_two(made)
    made.handle([PublishFragment(each) for each in parts(doc_id="e")[:2]], "c")
    again = Router.restore(json.loads(json.dumps(made.save())))
    assert again.fragments is not None
    assert len(again.fragments) == 0
    assert again.fragments.takers == {"x"}
    sent = again.handle([PublishFragment(parts()[2], origin="p")], "n")
    why = "a router was restarted"
    assert sent == [
        Send("m", Unpublish("d", "p", why)),
        Send("m", Unpublish("e", "r/c/1", why)),
        Send("c", Unpublish("e", "r/c/1", why)),
    ]
    assert again.handle([PublishFragment(parts()[3], origin="p")], "n") == []
    assert first_two(again, "x") != []
    assert again.handle([PublishFragment(parts(doc_id="e")[2])], "c") == []
    again.handle([Unpublish("e")], "c")
    assert again.handle([PublishFragment(each) for each in parts(doc_id="e")], "c") != []


def test_a_restored_router_goes_on_with_new_origins() -> None:
    """A neighbour must not take a new document for one that the router sent before."""
    made = router()
    made.receive(Envelope("d", BODY), "c")
    again = Router.restore(made.save())
    assert {each.origin for _, each in again.receive(Envelope("d", BODY), "c")} == {"r/c/2"}  # type: ignore[union-attr]

"""When a router sends what it has to send, by the cost model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twigcast.pattern import parse
from twigcast.routing import Envelope, Publish, RequestAnnotations, Router, Strategy, Subscribe
from twigcast.simulator.cost import CostModel
from twigcast.simulator.processing import RouterProcess

COST = CostModel(control=0.0, publication=100.0, row=0.0, read=0.0, write=0.0, earliest=0.5)
PLAIN = Strategy(advertising=False, covering=False)
BODY = b"<a><b/><c/><d/></a>"


def process(
    piggyback: str, *, clients: bool = False, first_match: float | None = None, cost: CostModel | None = COST
) -> RouterProcess:
    """A router with a publisher and two neighbours; one wants documents with ``b``, one those with ``c``."""
    strategy = replace(PLAIN, piggyback=piggyback)
    router = Router("r", ["m", "n"], ["writer", "reader"], strategy=strategy)
    router.handle([Subscribe("1", parse("//b"))], "m")
    router.handle([Subscribe("2", parse("//c"))], "n")
    if clients:
        router.handle([Subscribe("3", parse("//d"))], "reader")
    return RouterProcess(router, cost, has_subscribers=clients, first_match=first_match)


def times(process: RouterProcess, body: bytes = BODY) -> tuple[dict[str, float], float]:
    """When each link is sent to, and when the router is free again."""
    done = process.handle([Publish(Envelope("d", body))], "writer", 0, 1)
    return {each.link: round(each.at, 6) for each in done.sendings}, round(done.end, 6)


def test_lazy_routers_send_at_the_end() -> None:
    """Neighbours and clients are sent to at the same time."""
    assert times(process("L", clients=True)) == ({"m": 100.0, "n": 100.0, "reader": 100.0}, 100.0)


def test_eager_routers_send_at_the_first_match_of_each_neighbour() -> None:
    """Of 19 bytes, b is found after 7 and c after 11; a client is served at the end."""
    early = {"m": round(50 + 50 * 7 / 19, 6), "n": round(50 + 50 * 11 / 19, 6)}
    assert times(process("ES", clients=True)) == (early | {"reader": 100.0}, 100.0)


def test_an_eager_router_stops_when_everyone_is_served() -> None:
    """Without clients, and if all neighbours want the document, the rest is not read."""
    early = {"m": round(50 + 50 * 7 / 19, 6), "n": round(50 + 50 * 11 / 19, 6)}
    assert times(process("ES")) == (early, early["n"])
    sent, end = times(process("ES"), b"<a><b/><x/><d/></a>")
    assert list(sent) == ["m"]
    assert end == 100.0


def test_the_first_match_may_be_given() -> None:
    """As it is in the papers, where a ``<test/>`` sets it."""
    assert times(process("ES", first_match=0.25))[0] == {"m": 62.5, "n": 62.5}


def test_changed_subscriptions_change_the_first_match() -> None:
    """What was computed for the table before is dropped."""
    one = process("ES")
    times(one)
    one.handle([Subscribe("4", parse("/a"))], "n", 1, 0)
    assert times(one)[0]["n"] == round(50 + 50 * 3 / 19, 6)


def test_adaptive_routers_are_lazy_until_they_know_their_times() -> None:
    """Afterwards they are eager where annotations save nothing, and lazy where the plan says that they do."""
    one = process("adaptive", clients=True)
    assert times(one)[0]["m"] == 100.0
    assert times(one)[0]["m"] < 100.0
    saving = Router("m", ["r"], ["x"], strategy=one.router.strategy)
    saving.subscribe("1", parse("//b"), "x")
    ((_, plan),) = saving.replan()
    assert isinstance(plan, RequestAnnotations)
    one.handle([RequestAnnotations(replace(plan.plan, saving=1000.0))], "m", 1, 0)
    sent, _ = times(one)
    assert (sent["m"], sent["n"] < 100.0) == (100.0, True)


def test_a_document_that_is_not_parsed_is_sent_on_at_once() -> None:
    """The structure of the document decides, and is passed on without being written again."""
    strategy = replace(PLAIN, piggyback="L+t")
    first = Router("q", ["r"], ["writer"], strategy=strategy)
    first.subscribe("1", parse("//b"), "r")
    body = b"<a>" + 100 * b"<b>text</b>" + b"<c/></a>"
    (sent,) = first.receive(Envelope("d", body), "writer")
    cost = replace(COST, read=1.0, write=1000.0)
    router = Router("r", ["q", "n"], ["reader"], strategy=strategy)
    router.handle([Subscribe("2", parse("//b"))], "n")
    router.handle([Subscribe("3", parse("//c"))], "reader")
    done = RouterProcess(router, cost, has_subscribers=True).handle([sent.message], "q", 0, 1)
    assert isinstance(sent.message, Publish)
    assert sent.message.envelope.annotations
    assert done.end == len(sent.message.envelope.annotations)
    assert not done.needs_body
    assert [(each.link, each.needs_body) for each in done.sendings] == [("n", False), ("reader", False)]


@pytest.mark.parametrize("piggyback", ["ES", "L", "adaptive"])
def test_measured_times_do_not_contain_the_search_for_the_first_match(piggyback: str) -> None:
    """The router itself takes less time than the process did."""
    sent, end = times(process(piggyback, cost=None))
    assert set(sent) == {"m", "n"}
    assert all(0.0 <= at <= end for at in sent.values())

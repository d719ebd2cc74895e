"""Annotations at a real router: hostile ones change no delivery, and plans follow what happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.routing.overlay import any_document, subscription
from tests.routing.piggyback.link import FIGURES, Line, annotated
from tests.routing.piggyback.running_example import chain
from tests.routing.piggyback.test_deliveries import decisions, parsed_decisions
from twigcast.errors import RoutingError
from twigcast.pattern import parse, render
from twigcast.routing import Network, Overlay, Router, Strategy
from twigcast.routing.messages import Deliver, Envelope, Message, Publish, RequestAnnotations, Subscribe
from twigcast.routing.overlay import join
from twigcast.routing.piggyback import (
    AnnotationKind,
    AnnotationPlan,
    Annotations,
    DocumentFigures,
    Wish,
    Work,
)
from twigcast.routing.piggyback.annotation_links import PATIENCE
from twigcast.routing.piggyback.payloads import encode_bits
from twigcast.routing.pool import Pool

EVERYTHING = "L+sdta-sdr"
BODY = b"<r><a><y><c/></y></a>" + b"<!-- long enough for a structure to travel -->" * 20 + b"</r>"
ROWS = {"k": {"s": "//a/y/c", "t": "//a/z/c"}, "l": {"u": "//a//c"}, "c": {"v": "//y", "w": "//z"}}
DECIDED = {"k": (), "l": (), "c": ("v",)}
SETTINGS = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def line(name: str = EVERYTHING, secret: bytes = b"") -> Line:
    """A line whose second router has two further neighbours and a client."""
    return Line(name, ROWS, secret=secret)


def test_a_document_is_sent_on_unread() -> None:
    """Without this the tests below would show nothing."""
    for name in (EVERYTHING, "L+t", "L+a", "L+s-sd", "L-s", "L-d"):
        at = line(name)
        decided, work = at.arrive(at.annotated(BODY))
        assert decided == DECIDED
        assert work.parsed == (name in ("L-s", "L-d")), name


# Hostile annotations


@SETTINGS
@given(st.data())
def test_altered_annotations_cost_a_parse(data: st.DataObject) -> None:
    """A changed bit, a missing end, or any other bytes are like no annotations."""
    at = line()
    sent = at.annotated(BODY)
    bit = data.draw(st.integers(0, 8 * len(sent.annotations) - 1))
    flipped = bytearray(sent.annotations)
    flipped[bit // 8] ^= 1 << bit % 8
    for wrong in (bytes(flipped), sent.annotations[: bit // 8], data.draw(st.binary(max_size=60))):
        decided, work = at.arrive(sent.with_annotations(wrong))
        assert decided == DECIDED
        assert work.parsed


def test_annotations_of_another_document_cost_a_parse() -> None:
    """Also if they are replayed under another id."""
    at = line()
    sent, other = at.annotated(BODY), at.annotated(b"<r><a><z><c/></z></a></r>", "other")
    for wrong in (sent.with_annotations(other.annotations), replace(sent, doc_id="replayed")):
        decided, work = at.arrive(wrong)
        assert decided == DECIDED
        assert work.parsed


def test_annotations_under_another_secret_cost_a_parse() -> None:
    """A sender outside the network does not know the secret."""
    at = line(secret=b"ours")
    sent = at.annotated(BODY)
    assert not at.arrive(sent)[1].parsed
    for secret in (b"", b"theirs"):
        said = Annotations.decode(sent.annotations, sent, b"ours")
        decided, work = at.arrive(annotated(sent, said, secret))
        assert decided == DECIDED
        assert work.parsed


def test_a_client_cannot_annotate() -> None:
    """What a client says about its document is neither used nor passed on."""
    at = line()
    no = encode_bits(np.ones(len(at.told), dtype=np.bool_))
    lie = Annotations(FIGURES, {AnnotationKind.NEGATIVE_SUBSCRIPTIONS: no}, told=at.told.fingerprint)
    document = annotated(Envelope("d", BODY), lie)
    (message,) = at.i.exchange([Publish(document)], "source")["j"]
    assert isinstance(message, Publish)
    assert message.envelope.annotations != document.annotations
    assert at.arrive(message.envelope)[0] == DECIDED
    assert decisions(at.j.exchange([Publish(document)], "c")) == DECIDED


KINDS = list(AnnotationKind)


@SETTINGS
@given(st.data())
def test_nonsense_with_a_right_digest_raises_nothing(data: st.DataObject) -> None:
    """A neighbour may write anything; a section that is malformed makes the others useless, too."""
    at = line()
    sent = at.annotated(BODY)
    said = Annotations.decode(sent.annotations, sent)
    kind = data.draw(st.sampled_from(KINDS))
    payload = data.draw(st.one_of(st.binary(max_size=30), st.just(said.sections.get(kind, b"") + b"\xff")))
    wrong = replace(said, sections={**said.sections, kind: payload})
    for message in (wrong, replace(wrong, sections={kind: payload}, whole=data.draw(st.booleans()))):
        outgoing = at.j.exchange([Publish(annotated(sent, message))], "i")
        assert outgoing.keys() <= {"k", "l", "c", "i"}
    decided, work = at.arrive(annotated(sent, replace(said, sections={**said.sections, kind: b"\xff" * 9})))
    assert decided == DECIDED
    assert work.parsed or kind is AnnotationKind.STRUCTURE  # the other kinds decide


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not AnnotationKind.STRUCTURE])
@pytest.mark.parametrize("first", [AnnotationKind.STRUCTURE, AnnotationKind.ANSWERS])
def test_a_malformed_section_beside_one_that_decides(kind: AnnotationKind, first: AnnotationKind) -> None:
    """It would be read when the document is annotated for the next router, after the decision."""
    at = line()
    at.j.handle([RequestAnnotations(AnnotationPlan((chain("q"),), positions=(chain("a"),)))], "k")
    at.replan()
    sent = at.annotated(BODY)
    said = Annotations.decode(sent.annotations, sent)
    sections = {int(first): said.sections[first], int(kind): b"\xff" * 9}
    decided, work = at.arrive(annotated(sent, replace(said, sections=sections)))
    assert decided == DECIDED
    assert work.parsed or kind is first


def test_claims_that_contradict_each_other_cost_a_parse() -> None:
    """A row that is both proven and refuted is not believed."""
    at = line("L+a-s")
    sent = at.annotated(BODY)
    said = Annotations.decode(sent.annotations, sent)
    no = encode_bits(np.ones(len(at.told), dtype=np.bool_))
    lie = replace(said, sections={**said.sections, int(AnnotationKind.NEGATIVE_SUBSCRIPTIONS): no})
    decided, work = at.arrive(annotated(sent, lie))
    assert decided == DECIDED
    assert work.parsed


def test_huge_figures_cost_a_parse() -> None:
    """A document that is said to be beyond the limits is parsed, which shows that it is not."""
    at = line()
    sent = at.annotated(BODY)
    said = Annotations.decode(sent.annotations, sent)
    huge = replace(said, figures=DocumentFigures(1 << 62, 1 << 62, 1 << 62))
    decided, work = at.arrive(annotated(sent, huge))
    assert decided == DECIDED
    assert work.parsed


def test_a_subscriber_never_sees_annotations() -> None:
    """Neither from a router nor through a whole overlay."""
    at = line()
    outgoing = at.j.exchange([Publish(at.annotated(BODY))], "i")
    (delivered,) = outgoing["c"]
    assert isinstance(delivered, Deliver)
    assert delivered.envelope == Envelope("d", BODY)
    network = Network(("i", "j"), (("i", "j"),), (("source", "i"), ("c", "j")))
    overlay = Overlay(network, Strategy(advertising=False, piggyback=EVERYTHING))
    overlay.send("c", Subscribe("s", parse("//y")))
    for number in range(3):
        (delivery,) = overlay.send("source", Publish(Envelope(f"d{number}", BODY)))
        assert delivery == ("c", f"d{number}", ("s",))


@SETTINGS
@given(st.randoms(use_true_random=False))
def test_foreign_and_stale_annotations_change_no_decision(random: Random) -> None:
    """Annotations of other documents and of other plans, signed for this one, are known by their epoch.

    Claims that are signed and false cannot be told from true ones, so those here are true or of no epoch.
    """
    rows = {f"s{at}": render(subscription(random)) for at in range(5)}
    at = Line(EVERYTHING, {"k": rows, "c": {"w": "//*"}})
    body = any_document(random) + b"<!--" + b" " * 2000 + b"-->"
    sent = at.annotated(body)
    said = Annotations.decode(sent.annotations, sent)
    stale = replace(said, epoch=said.epoch ^ 1, told=said.told ^ 1)
    sections = {kind: said.sections[kind] for kind in said.sections if random.random() < 0.5}
    for each in (said, stale, replace(said, sections=sections)):
        outgoing = at.j.exchange([Publish(annotated(sent, each))], "i")
        assert decisions(outgoing) == parsed_decisions(at.j, sent, "i", flooded=False)


# Plans


def test_a_client_cannot_ask_for_annotations() -> None:
    """A plan comes from a neighbour; the batch is refused."""
    with pytest.raises(RoutingError, match="does not accept RequestAnnotations") as caught:
        line().j.handle([RequestAnnotations(AnnotationPlan())], "c")
    assert caught.value.code == "unexpected-message"


def test_a_router_without_piggyback_takes_no_plan() -> None:
    """All routers of a network have the same strategy."""
    router = Router("r", ["n"], strategy=Strategy(advertising=False))
    with pytest.raises(RoutingError, match="does not accept RequestAnnotations"):
        router.handle([RequestAnnotations(AnnotationPlan())], "n")


@pytest.mark.parametrize(
    "plan",
    [
        AnnotationPlan(((),)),
        AnnotationPlan(positions=((),)),
        AnnotationPlan(((("", "\ud800"),),)),
        AnnotationPlan(((("", "a b"),),)),
        AnnotationPlan(wishes=(Wish(parse("//a"), (3,), 1),)),
        AnnotationPlan(saving=float("nan")),
    ],
)
def test_a_malformed_plan_refuses_its_batch_and_stops_no_document(plan: AnnotationPlan) -> None:
    """An index that refuses a question would refuse all documents from then on."""
    at = line()
    with pytest.raises(RoutingError):
        at.j.handle([Subscribe("new", parse("//q")), RequestAnnotations(plan)], "k")
    assert "new" not in at.j.subscriptions("k")
    assert at.arrive(at.annotated(BODY))[0] == DECIDED


def test_a_plan_is_sent_with_the_first_document() -> None:
    """And not again, as long as the rows stay and the neighbour follows it."""
    strategy = Strategy(advertising=False, piggyback="L-d")
    router = Router("j", ["i", "k"], strategy=strategy)
    router.subscribe("s", parse("//a/b"), "k")
    sent = [router.receive(Envelope(f"d{at}", b"<r/>"), "i") for at in range(3)]
    assert [len(each) for each in sent] == [1, 0, 0]
    assert isinstance(sent[0][0].message, RequestAnnotations)


def test_a_plan_is_sent_again_to_a_neighbour_that_has_lost_it() -> None:
    """Its documents come without annotations, or with those that need no plan."""
    at = Line("L-sd", {"k": {"s": "//a/b"}, "l": {"t": "//a"}})
    lost = Router.restore({**at.i.save(), "plans": {}})
    plans = 0
    for number in range(PATIENCE + 2):
        (message,) = lost.exchange([Publish(Envelope(f"d{number}", b"<a/>"))], "source")["j"]
        for answer in at.j.exchange([message], "i").get("i", ()):
            lost.exchange([answer], "j")
            plans += 1
    assert plans == 1
    assert at.j.replan()


@pytest.mark.parametrize("name", ["L+a", "L+s-sd", "L+t"])
def test_no_router_but_the_first_parses_on_a_long_route(name: str) -> None:
    """Each router asks for what those behind it ask; without that, every second router would parse."""
    routers = ("r1", "r2", "r3", "r4")
    clients = (("source", "r1"), *[(f"c{router}", router) for router in routers])
    network = Network(routers, (("r1", "r2"), ("r2", "r3"), ("r3", "r4")), clients)
    joined = join(network, Strategy(advertising=False, piggyback=name), Pool)
    parsed: dict[str, bool] = {}

    def send(router: str, link: str, messages: Sequence[Message]) -> None:
        work = Work()
        outgoing = joined[router].exchange(messages, link, work)
        for document in work.documents:
            parsed[router] = document.parsed
        for target, sent in outgoing.items():
            if target in joined:
                send(target, router, sent)

    for router in routers:
        rows = [f"//a/{local}" for local in "vwxyz"] + ["//a"]
        send(router, f"c{router}", [Subscribe(f"{router}{row}", parse(row)) for row in rows])
    for at in range(12):
        body = f"<r><a><{'vwxyz'[at % 5]}/></a></r>".encode() + b" " * 2000
        send("r1", "source", [Publish(Envelope(f"d{at}", body))])
    assert parsed == {"r1": True, "r2": False, "r3": False, "r4": False}


def test_a_single_new_row_gets_a_plan_once_it_has_cost_many_parses() -> None:
    """It may be the only thing that is left open, for every document."""
    at = Line("L+a", {"c": {"s": "//a"}})
    at.at_j("c", Subscribe("t", parse("//b")))
    parsed = []
    for number in range(PATIENCE + 3):
        work = Work()
        outgoing = at.j.exchange([Publish(at.annotated(b"<a/>", f"d{number}"))], "i", work)
        at.i.exchange(outgoing.pop("i", ()), "j")
        parsed.append(work.documents[0].parsed)
    assert parsed == [True] * (PATIENCE + 1) + [False] * 2


def test_explaining_changes_nothing() -> None:
    """An older plan is still read after a newer document was explained."""
    at = line("L-d")
    older = at.annotated(BODY, "older")
    at.at_j("k", Subscribe("x", parse("//x/x")))
    at.replan()
    newer = at.annotated(BODY, "newer")
    for _ in range(PATIENCE + 2):
        at.j.explain(newer, "i")
    assert at.j.explain(older, "i").rows["k"]["t"] == "refuted"
    assert "i" not in at.j.exchange([Publish(older)], "i")


# State


def test_a_restored_router_follows_the_plans_of_its_neighbours() -> None:
    """It annotates as before; of its own plans it sends new ones when documents come."""
    at = line()
    sent = at.annotated(BODY)
    at.i = Router.restore(at.i.save())
    assert at.annotated(BODY) == sent
    restored = Router.restore(at.j.save())
    assert restored.save() == at.j.save()
    outgoing = restored.exchange([Publish(sent)], "i")
    assert any(isinstance(message, RequestAnnotations) for message in outgoing.pop("i"))
    assert decisions(outgoing) == DECIDED


def test_the_state_of_an_older_version_is_refused() -> None:
    """The error names both versions."""
    saved = line().j.save()
    with pytest.raises(RoutingError, match=r"has version 2, not 3") as caught:
        Router.restore({**saved, "version": 2})
    assert caught.value.code == "router-state"


def test_a_state_with_a_malformed_plan_is_refused() -> None:
    """It is the state that cannot be read."""
    saved = line().i.save()
    plans = {"j": {**saved["plans"]["j"], "absences": [[]]}}
    with pytest.raises(RoutingError, match="a chain has no names") as caught:
        Router.restore({**saved, "plans": plans})
    assert caught.value.code == "router-state"

"""Routers: the messages they send, the messages they refuse, and deliveries that no strategy changes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.engines.routing.expression_automaton import advertisement_of
from experiments.engines.routing.path_expression import parse_path_expression
from tests.routing.overlay import Overlay, Story, expected, story
from twigcast.analysis import implication
from twigcast.document import read
from twigcast.errors import DocumentError, RoutingError
from twigcast.pattern import Axis, NameTest, Path, Pattern, Step, parse
from twigcast.routing import Advertisement, Router
from twigcast.routing.messages import (
    Advertise,
    Deliver,
    Envelope,
    Message,
    Paths,
    Publish,
    Send,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    is_flooded,
)
from twigcast.routing.stages.aggregating import sample_selectivity
from twigcast.routing.strategy import FLOODING, Strategy

COMBINATIONS = list(Strategy.all_combinations())


@pytest.mark.parametrize("strategy", COMBINATIONS, ids=str)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_every_combination_delivers_what_flooding_delivers(strategy: Strategy, random: Random) -> None:
    """This holds for any order of actions, with routers restarted and links cut and joined again."""
    tell(story(random), strategy, random)


@pytest.mark.parametrize("work", [0, 5, 40])
@settings(
    max_examples=30, deadline=None, suppress_health_check=[*HealthCheck, HealthCheck.function_scoped_fixture]
)
@given(st.randoms(use_true_random=False))
def test_deliveries_do_not_depend_on_the_work_for_proofs(
    monkeypatch: pytest.MonkeyPatch, work: int, random: Random
) -> None:
    """Where covering cannot be proved within the budget of a message, more subscriptions are forwarded."""
    monkeypatch.setattr(implication, "WORK_TOGETHER", work)
    monkeypatch.setattr(implication, "WORK_OF_EACH", 0)
    tell(story(random), random.choice(COMBINATIONS), random)


def tell(story: Story, strategy: Strategy, random: Random) -> None:
    """Run a story, and compare its deliveries with those of each subscription matched by itself."""
    selectivity = sample_selectivity(map(read, story.sample))
    overlay = Overlay(story.edges, story.clients, strategy, story.schema, selectivity)
    live: dict[str, tuple[str, Pattern]] = {}
    for client, messages in story.events:
        if random.randint(0, 9) == 0:
            overlay.restart(random.choice(list(overlay.routers)))
        if story.edges and random.randint(0, 9) == 0:
            overlay.reconnect(*random.choice(story.edges), restarted=random.random() < 0.5)
        overlay.do(client, *messages)
        for message in messages:
            if isinstance(message, Subscribe):
                live[message.id] = client, message.pattern
            elif isinstance(message, Unsubscribe):
                del live[message.id]
            elif isinstance(message, Publish):
                assert overlay.take() == expected(live, message.envelope)


# What is sent


def announced(*expressions: str, id: str = "x") -> Advertisement:
    return advertisement_of(id, map(parse_path_expression, expressions))


def test_a_subscription_goes_to_the_other_neighbours() -> None:
    """It is not sent back to its origin, and not to clients."""
    router = Router("r", ["n", "m"], ["c"], strategy=FLOODING)
    message = Subscribe("s", parse("/a"))
    assert router.subscribe("s", parse("/a"), "n") == [Send("m", message)]
    assert router.subscribe("t", parse("/a"), "c") == [
        Send("n", Subscribe("t", parse("/a"))),
        Send("m", Subscribe("t", parse("/a"))),
    ]


def test_with_advertising_a_subscription_goes_where_it_overlaps() -> None:
    """This holds also if the advertisement comes later, and until it ends."""
    router = Router("r", ["n", "m"], ["c"])
    assert router.subscribe("s", parse("/a/b"), "c") == []
    assert router.advertise(announced("/b", id="y"), "m") == [Send("n", Advertise(announced("/b", id="y")))]
    assert Send("n", Subscribe("s", parse("/a/b"))) in router.advertise(announced("/a/b"), "n")
    assert Send("n", Unsubscribe("s")) in router.unadvertise("x", "n")


def test_figure_1() -> None:
    """adv 1 comes from router 1; sub 1 goes 5-4-3-1, not to 2 and 6; pub 1 goes back; sub 2 stops at 4."""
    edges = [("1", "3"), ("2", "3"), ("3", "4"), ("4", "5"), ("4", "6")]
    overlay = Overlay(edges, {"publisher": "1", "one": "5", "two": "6"}, Strategy())
    overlay.do("publisher", Advertise(announced("/a/b/c")))
    overlay.do("one", Subscribe("sub 1", parse("/a/b")))
    holding = {name for name, router in overlay.routers.items() if router.table_size}
    assert holding == {"5", "4", "3", "1"}
    overlay.do("two", Subscribe("sub 2", parse("/a/b/c")))
    assert overlay.routers["4"].subscriptions("6") == {"sub 2": parse("/a/b/c")}
    assert overlay.routers["3"].subscriptions("4") == {"sub 1": parse("/a/b")}
    overlay.do("publisher", Publish(Envelope("pub 1", b"<a><b/></a>")))
    assert overlay.take() == [("one", "pub 1", ("sub 1",))]


def test_a_batch_sends_its_net_change() -> None:
    """A subscription that is added and removed in one batch is never sent; a replaced one is sent again."""
    router = Router("r", ["n"], ["c"], strategy=FLOODING)
    router.subscribe("s", parse("/a"), "c")
    batch: list[Message] = [
        Subscribe("t", parse("/b")),
        Unsubscribe("t"),
        Unsubscribe("s"),
        Subscribe("s", parse("/c")),
    ]
    assert router.handle(batch, "c") == [Send("n", Unsubscribe("s")), Send("n", Subscribe("s", parse("/c")))]
    assert router.handle([Unsubscribe("s"), Subscribe("s", parse("/c"))], "c") == []


def test_a_publication_in_a_batch_sees_what_came_before_it() -> None:
    """It does not see the changes after it."""
    router = Router("r", [], ["c"], strategy=FLOODING)
    document = Publish(Envelope("d", b"<a/>"))
    sends = router.handle([document, Subscribe("s", parse("/a")), document, Unsubscribe("s"), document], "c")
    assert sends == [Send("c", Deliver(document.envelope, ("s",)))]


def test_a_document_outside_its_advertisement_is_flooded() -> None:
    """A header marks it for all routers on the way."""
    router = Router("r", ["n", "m"], ["c"])
    router.advertise(announced("/a/b"), "c")
    assert router.receive(Envelope("d", b"<a/>"), "c") == []
    sends = router.receive(Envelope("e", b"<b/>"), "c")
    assert [send.link for send in sends] == ["n", "m"]
    assert all(isinstance(send.message, Publish) and is_flooded(send.message.envelope) for send in sends)
    assert isinstance(sends[0].message, Publish)
    onward = Router("n", ["r", "o"]).receive(sends[0].message.envelope, "r")
    assert onward == [Send("o", sends[0].message)]


def test_as_paths_only_those_asked_for_are_sent() -> None:
    """A link gets one message with all its paths; a client gets the document reassembled from its paths."""
    strategy = Strategy(advertising=False, publication="paths")
    router = Router("r", ["n"], ["c"], strategy=strategy)
    router.subscribe("s", parse("/a/b"), "n")
    router.subscribe("t", parse("/a[not(d)]/c"), "c")
    sends = {send.link: send.message for send in router.receive(Envelope("d", b"<a><b/><c/></a>"), "c")}
    assert isinstance(sends["n"], Paths)
    assert [path.body for path in sends["n"].paths] == [b"<a><b></b></a>"]
    assert sends["c"] == Deliver(Envelope("d", b"<a><c></c></a>"), ("t",))
    assert router.receive(Envelope("e", b"<a><c/><d/></a>"), "c") == []


def test_a_client_that_leaves_takes_its_subscriptions_with_it() -> None:
    """Its subscriptions and advertisements end, and its link no longer exists."""
    router = Router("r", ["n"], ["c"])
    router.advertise(announced("/a"), "n")
    router.subscribe("s", parse("/a"), "c")
    router.advertise(announced("/b", id="y"), "c")
    assert router.detach("c") == [Send("n", Unsubscribe("s")), Send("n", Unadvertise("y"))]
    assert router.clients == ()
    assert router.table_size == 0
    router.attach("c")
    router.subscribe("s", parse("/a"), "c")


@pytest.mark.parametrize("strategy", [FLOODING, Strategy(advertising=False), Strategy()], ids=str)
def test_a_new_neighbour_of_a_restored_router_is_told_what_it_must_know(strategy: Strategy) -> None:
    """It gets the advertisements and subscriptions of the other links; deliveries are those of flooding."""
    old = Router("r", ["n"], ["c"], strategy=strategy)
    old.advertise(announced("/a/b"), "c")
    old.subscribe("s", parse("/a"), "c")
    old.subscribe("t", parse("/a/b"), "n")
    router, new = Router.restore(old.save()), Router("new", [], ["d"], strategy=strategy)
    new.advertise(announced("/a/b", id="y"), "d")
    waiting = [("r", send) for send in router.connect("new")] + [("new", send) for send in new.connect("r")]
    for source, (target, message) in waiting:  # grows while it is walked
        if target in ("r", "new"):
            answers = (router if target == "r" else new).handle((message,), source)
            waiting += [(target, answer) for answer in answers]
    assert new.subscriptions("r") == {
        "s": parse("/a"),
        **({} if strategy.covering else {"t": parse("/a/b")}),
    }
    (onward,) = new.receive(Envelope("d", b"<a><b/></a>"), "d")
    assert [send.link for send in router.handle((onward.message,), "new")] == ["n", "c"]
    assert router.neighbours == ("n", "new")


def test_a_neighbour_that_leaves_takes_what_it_asked_for_with_it() -> None:
    """Its subscriptions are withdrawn from the other neighbours."""
    router = Router("r", ["n", "m"], ["c"], strategy=FLOODING)
    router.subscribe("s", parse("/a"), "n")
    assert router.disconnect("n") == [Send("m", Unsubscribe("s"))]
    assert router.receive(Envelope("d", b"<a/>"), "m") == []
    assert Router.restore(router.save()).neighbours == ("m",)


# What is refused


def busy() -> Router:
    router = Router("r", ["n", "m"], ["c", "d"])
    router.advertise(announced("/a/b"), "n")
    router.subscribe("s", parse("/a"), "c")
    router.subscribe("t", parse("/a"), "m")
    return router


Refused = Callable[[Router], object]


@pytest.mark.parametrize(
    ("ask", "code", "name"),
    [
        (lambda r: r.subscribe("u", parse("/a"), "z"), "unknown-link", "z"),
        (lambda r: r.subscribe("s", parse("/b"), "c"), "duplicate-id", "s"),
        (lambda r: r.subscribe("s", parse("/a"), "d"), "duplicate-id", "s"),
        (lambda r: r.subscribe("t", parse("/b"), "n"), "duplicate-id", "t"),
        (lambda r: r.subscribe("merge:/a", parse("/a"), "c"), "reserved-id", "merge:/a"),
        (lambda r: r.unsubscribe("s", "n"), "unknown-id", "s"),
        (lambda r: r.advertise(announced("/b"), "c"), "duplicate-id", "x"),
        (lambda r: r.unadvertise("x", "m"), "unknown-id", "x"),
        (lambda r: r.attach("n"), "duplicate-link", "n"),
        (lambda r: r.detach("n"), "unknown-link", "n"),
        (lambda r: r.detach("z"), "unknown-link", "z"),
        (lambda r: r.connect("c"), "duplicate-link", "c"),
        (lambda r: r.disconnect("c"), "unknown-link", "c"),
        (lambda r: r.handle([Paths("d", ())], "n"), "unexpected-message", "Paths"),
        (lambda r: r.handle([Subscribe("u", parse("/a")), Unsubscribe("v")], "c"), "unknown-id", "v"),
        (lambda r: Router("r", ["n", "n"]), "duplicate-link", "n"),
        (lambda r: Router("r", ["r"]), "duplicate-link", "r"),
    ],
)
def test_what_is_wrong_is_named_and_changes_nothing(ask: Refused, code: str, name: str) -> None:
    """The whole batch is refused."""
    router = busy()
    before = router.save()
    with pytest.raises(RoutingError) as refused:
        ask(router)
    assert (refused.value.code, refused.value.name) == (code, name)
    assert name in refused.value.message
    assert router.save() == before


def test_an_unreadable_document_refuses_its_batch() -> None:
    """No other message of the batch has an effect."""
    router = busy()
    before = router.save()
    with pytest.raises(DocumentError):
        router.handle([Subscribe("u", parse("/a")), Publish(Envelope("d", b"<a>"))], "c")
    assert router.save() == before


def test_an_id_that_routers_made_may_come_from_several_neighbours() -> None:
    """It stays in force until the last of them withdraws it."""
    router = Router("r", ["n", "m", "o"], strategy=FLOODING)
    assert len(router.subscribe("merge:/a", parse("/a"), "n")) == 2
    assert router.subscribe("merge:/a", parse("/a"), "m") == [Send("n", Subscribe("merge:/a", parse("/a")))]
    assert router.unsubscribe("merge:/a", "n") == [Send("m", Unsubscribe("merge:/a"))]
    assert router.unsubscribe("merge:/a", "m") == [
        Send("n", Unsubscribe("merge:/a")),
        Send("o", Unsubscribe("merge:/a")),
    ]


@pytest.mark.parametrize(
    "message",
    [
        Subscribe("a\0", parse("//a")),
        Subscribe("\ud800", parse("//a")),
        Subscribe("a", Pattern((Path((Step(Axis.CHILD, NameTest("", "a\0")),)),))),
        Subscribe("a", Pattern((Path((Step(Axis.CHILD, NameTest("\ud800", "a")),)),))),
    ],
    ids=["NUL", "surrogate", "name", "namespace"],
)
def test_text_that_xml_does_not_allow_is_refused_at_once(message: Subscribe) -> None:
    """Later it would stop the documents of all subscribers, who share an index."""
    router = Router("r", (), ("c", "d"))
    router.subscribe("good", parse("//a"), "d")
    with pytest.raises(RoutingError) as error:
        router.handle((message,), "c")
    assert error.value.code == "character"
    sends = router.handle((Publish(Envelope("1", b"<a/>")),), "c")
    assert [send.link for send in sends] == ["d"]

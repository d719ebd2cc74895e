"""A saved router continues where it was; an invalid state is refused."""

from __future__ import annotations

import json

import pytest

from experiments.engines.routing.expression_automaton import advertisement_of
from experiments.engines.routing.path_expression import parse_path_expression
from twigcast.errors import RoutingError
from twigcast.pattern import parse
from twigcast.routing import Router
from twigcast.routing.messages import Envelope, Subscribe
from twigcast.routing.state import RouterState
from twigcast.routing.strategy import Strategy


def filled() -> Router:
    router = Router("r", ["n", "m"], ["c"], strategy=Strategy(publication="paths"))
    router.advertise(advertisement_of("x", [parse_path_expression("/a/b/c")]), "n")
    router.subscribe("s", parse("/a[b]//c"), "c")
    router.subscribe("t", parse("/a/b"), "m")
    return router


def test_a_state_is_json_and_comes_back_the_same() -> None:
    """This includes patterns, advertisements, the strategy and the forwarded subscriptions."""
    saved = json.loads(json.dumps(filled().save()))
    assert RouterState.from_json(saved).to_json() == saved


def test_a_restored_router_behaves_as_the_saved_one() -> None:
    """It answers the same messages with the same messages."""
    old, new = filled(), Router.restore(filled().save())
    assert new.save() == old.save()
    assert new.told("n") == old.told("n")
    for message in (Subscribe("u", parse("//c")), Subscribe("v", parse("/a"))):
        assert new.handle((message,), "m") == old.handle((message,), "m")
    envelope = Envelope("d", b"<a><b><c/></b></a>")
    assert new.receive(envelope, "n") == old.receive(envelope, "n")
    assert new.unsubscribe("v", "m") == old.unsubscribe("v", "m")


@pytest.mark.parametrize(
    "change",
    [
        {"version": 1},
        {"strategy": {"merging": 7}},
        {"subscriptions": {"n": {"s": "///"}}},
        {"neighbours": ["n", "m", "new"]},
        {"trees": {"n": [["s"]]}},
    ],
)
def test_what_is_no_state_is_refused(change: dict[str, object]) -> None:
    """The error names the wrong version or the wrong field."""
    with pytest.raises(RoutingError) as refused:
        Router.restore(filled().save() | change)
    assert refused.value.code == "router-state"

"""The subscriptions that are forwarded to a neighbour, stage by stage."""

from __future__ import annotations

import pytest

from twigcast.errors import RoutingError
from twigcast.pattern import Pattern, parse
from twigcast.routing.stages.change import Change
from twigcast.routing.stages.interest import Interest
from twigcast.routing.strategy import FLOODING, Strategy


def patterns(**texts: str) -> dict[str, Pattern]:
    return {id: parse(text) for id, text in texts.items()}


def test_without_stages_all_is_told() -> None:
    """The whole interest is forwarded, and nothing is stored here."""
    interest = Interest(FLOODING)
    given = patterns(x="/a", y="/a/b")
    assert interest.change(given, ["z"]) == Change(tuple(given.items()), ("z",))
    assert interest.known == {}


def test_with_covering_the_uncovered_are_told() -> None:
    """When a coverer is removed, the patterns that it covered are forwarded."""
    interest = Interest(Strategy())
    assert interest.change(patterns(x="/a", y="/a/b"), ()).forward == (("x", parse("/a")),)
    change = interest.change({}, ["x"])
    assert change == Change((("y", parse("/a/b")),), ("x",))
    assert interest.known == patterns(y="/a/b")


def test_what_does_not_change_the_outcome_is_not_told() -> None:
    """A covered subscription is added and removed without a message."""
    interest = Interest(Strategy())
    interest.change(patterns(x="/a"), ())
    assert not interest.change(patterns(y="/a/b"), ())
    assert not interest.change({}, ["y"])


def test_after_a_restart_the_neighbour_keeps_what_it_knows() -> None:
    """When its interest changes, the difference is sent."""
    interest = Interest(Strategy())
    told = patterns(w="//b", x="/a")  # not what this stage would have told
    interest.restore(patterns(x="/a", y="/a/b"), told, ())
    assert interest.known == told
    assert not interest.change({}, ())
    assert interest.known == told
    assert interest.change(patterns(v="/c"), ()) == Change((("v", parse("/c")),), ("w",))
    assert interest.known == patterns(x="/a", v="/c")


def test_after_a_restart_a_change_is_compared_with_what_the_neighbour_knows() -> None:
    """The output of the restored stages covers the new subscription; what the neighbour knows does not."""
    interest = Interest(Strategy())
    interest.restore(patterns(x="//b", y="/a"), patterns(x="//b"), ())
    assert interest.change(patterns(z="/a/c"), ()) == Change((("y", parse("/a")),), ())
    assert interest.known == patterns(x="//b", y="/a")


def test_of_equal_patterns_the_one_that_was_told_is_told_again() -> None:
    """A restart alone changes nothing for the neighbour."""
    interest = Interest(Strategy())
    interest.restore(patterns(x="/a", y="/a"), patterns(y="/a"), ())
    assert interest.change({}, ["x"]) == Change()


@pytest.mark.parametrize("strategy", [Strategy(merging=0.0), Strategy(aggregation=0.5)])
def test_a_stage_that_lacks_what_it_needs_is_refused(strategy: Strategy) -> None:
    """Merging needs a schema, aggregation a selectivity."""
    with pytest.raises(RoutingError) as refused:
        Interest(strategy)
    assert refused.value.code == "strategy"

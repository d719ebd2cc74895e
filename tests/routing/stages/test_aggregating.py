"""Aggregation: fewer steps, no lost match, and the smallest loss of selectivity."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.analysis.subscriptions import general_pattern, linear_pattern, small_document, twig_pattern
from twigcast.analysis.twig import step_count
from twigcast.document import read
from twigcast.errors import SubscriptionError
from twigcast.pattern import Pattern, matches, parse
from twigcast.routing.stages.aggregating import AGGREGATED, Aggregating, sample_selectivity
from twigcast.routing.stages.change import Change

BODIES = [b"<a><b><c/></b></a>", b"<a><b><d/></b></a>", b"<a><f><g/></f></a>", b"<a><f/></a>", b"<h/>"]
SAMPLE = sample_selectivity([read(body) for body in BODIES])


def texts(aggregating: Aggregating) -> dict[str, str]:
    return {id: str(pattern) for id, pattern in aggregating.patterns.items()}


def test_with_all_steps_allowed_nothing_changes() -> None:
    """With a share of 1 all patterns are forwarded, except covered ones."""
    aggregating = Aggregating(1.0, SAMPLE)
    assert aggregating.add("x", parse("/a/b")) == Change(forward=(("x", parse("/a/b")),))
    assert aggregating.add("y", parse("/a/b/c")) == Change()
    assert texts(aggregating) == {"x": "/a/b"}


def test_alike_patterns_become_one() -> None:
    """The pair with the smallest loss for each saved step is aggregated, under an id made from its text."""
    aggregating = Aggregating(0.7, SAMPLE)
    aggregating.change([("x", parse("/a/b/c")), ("y", parse("/a/b/d")), ("z", parse("/a/f/g"))], ())
    assert texts(aggregating) == {"z": "/a/f/g", f"{AGGREGATED}/a/b/*": "/a/b/*"}
    assert aggregating.steps == 6


def test_what_no_document_has_goes_first() -> None:
    """Generalising a pattern that no sample document matches loses no selectivity."""
    aggregating = Aggregating(0.8, SAMPLE)
    aggregating.change([("x", parse("/a/b/c")), ("y", parse("/z/y/x/w"))], ())
    assert "x" in aggregating.patterns


def test_a_single_pattern_loses_leaves() -> None:
    """A pattern can always be shortened, down to one step."""
    aggregating = Aggregating(0.5, SAMPLE)
    aggregating.add("x", parse("/a/b/c/d"))
    assert aggregating.steps == 2
    tiny = Aggregating(0.01, SAMPLE)
    tiny.change([("x", parse("/a/b/c/d")), ("y", parse("//e/f"))], ())
    assert tiny.steps == 1


def test_an_aggregate_is_taken_back_when_a_part_leaves() -> None:
    """The aggregate is withdrawn, and the remaining pattern is forwarded."""
    aggregating = Aggregating(0.6, SAMPLE)
    aggregating.change([("x", parse("/a/b/c")), ("y", parse("/a/b/d")), ("z", parse("/a/b/e"))], ())
    assert texts(aggregating) == {f"{AGGREGATED}/a/b/*": "/a/b/*"}
    aggregating.share = 1.0
    change = aggregating.remove("z")
    assert change.withdraw == (f"{AGGREGATED}/a/b/*",)
    assert change.forward == (("x", parse("/a/b/c")), ("y", parse("/a/b/d")))


@pytest.mark.parametrize("share", [0.0, 1.5])
def test_a_share_is_a_share(share: float) -> None:
    """A share of 0, or above 1, is refused."""
    with pytest.raises(ValueError, match="share"):
        Aggregating(share, SAMPLE)


def test_a_refused_change_changes_nothing() -> None:
    """Ids are checked before anything is changed."""
    aggregating = Aggregating(1.0, SAMPLE)
    aggregating.add("x", parse("/a"))
    with pytest.raises(SubscriptionError):
        aggregating.change([("x", parse("/b"))], [])
    with pytest.raises(SubscriptionError):
        aggregating.change([("y", parse("/b"))], ["z"])
    assert texts(aggregating) == {"x": "/a"}
    assert len(aggregating) == 1


@given(st.integers(0, 1 << 32))
@example(88436)  # a union whose common pattern has more steps than the union
@settings(max_examples=40, deadline=None)
def test_no_match_is_lost_and_the_share_is_kept(seed: int) -> None:
    """After any changes, the output matches whatever the input matches, within its share of the steps."""
    random = Random(seed)
    documents = [small_document(random, 3) for _ in range(6)]
    make = random.choice([linear_pattern, twig_pattern, general_pattern])
    aggregating = Aggregating(random.choice([0.1, 0.3, 0.6, 0.9]), sample_selectivity(documents))
    stored: dict[str, Pattern] = {}
    forwarded: dict[str, Pattern] = {}
    for number in range(8):
        removed = random.sample(sorted(stored), min(len(stored), random.choice([0, 1, 4])))
        added = [(f"{number}.{each}", make(random)) for each in range(random.choice([0, 1, 6]))]
        change = aggregating.change(added, removed)
        stored = {id: pattern for id, pattern in stored.items() if id not in removed} | dict(added)
        for id in change.withdraw:
            del forwarded[id]
        for id, pattern in change.forward:
            assert id not in forwarded
            forwarded[id] = pattern
        assert forwarded == dict(aggregating.patterns)
        assert aggregating.steps == sum(map(step_count, forwarded.values()))
        allowed = aggregating.share * sum(map(step_count, stored.values()))
        assert aggregating.steps <= max(1, allowed)
        for document in documents:
            if any(matches(pattern, document) for pattern in stored.values()):
                assert any(matches(pattern, document) for pattern in forwarded.values())

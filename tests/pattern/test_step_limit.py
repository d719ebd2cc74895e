"""Counting steps no further than asked."""

from __future__ import annotations

import pytest

from twigcast.pattern import And, parse
from twigcast.pattern.cleaning import Route
from twigcast.pattern.node_conditions import above
from twigcast.pattern.step_limit import outweighs


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("/a/b", 2),
        ("/a[b/c][d]", 4),
        ("/a[not(b and c[d])]", 4),
        ("/a[b | c = 5][count(d) > 1]", 4),
        ("/a[@x]", 1),
    ],
)
def test_steps_in_conditions_count(text: str, steps: int) -> None:
    """Every name of an element anywhere in the path is a step."""
    (path,) = parse(text).alternatives
    assert not outweighs([Route(path.steps)], steps)
    assert outweighs([Route(path.steps)], steps - 1)


def test_conditions_above_and_guards_count() -> None:
    """What a route asks of the nodes it leaves is part of it."""
    (predicate,) = parse("/*[a/b]").alternatives[0].steps[0].predicates
    route = Route(filters=above(predicate, 2), guards=(predicate, True))
    assert not outweighs([route], 4)
    assert outweighs([route], 3)


def test_what_shares_its_parts_is_weighed_in_time() -> None:
    """A structure with a small body and an endless text is stopped at the bound."""
    (predicate,) = parse("/*[a]").alternatives[0].steps[0].predicates
    for _ in range(200):
        predicate = And((predicate, predicate))
    heavy = outweighs([Route(filters=predicate)], 1000)
    assert heavy

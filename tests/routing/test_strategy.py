"""Strategies: the six of the routing paper; invalid ones are refused."""

from __future__ import annotations

from typing import Any

import pytest

from twigcast.errors import RoutingError
from twigcast.routing.strategy import FLOODING, STRATEGIES, Strategy


def test_the_six_of_table_2() -> None:
    """They have the names of the paper, from flooding to imperfect merging."""
    assert list(STRATEGIES) == [
        "no-Adv-no-Cov",
        "no-Adv-with-Cov",
        "with-Adv-no-Cov",
        "with-Adv-with-Cov",
        "with-Adv-with-CovPM",
        "with-Adv-with-CovIPM",
    ]
    assert STRATEGIES["no-Adv-no-Cov"] == FLOODING
    assert STRATEGIES["with-Adv-with-CovPM"].merging == 0.0


def test_all_combinations_are_distinct_and_include_the_extremes() -> None:
    """The extremes are no technique at all, and all techniques."""
    combinations = list(Strategy.all_combinations())
    assert len(set(combinations)) == len(combinations) == 72
    assert FLOODING in combinations
    assert Strategy(merging=0.0, aggregation=0.5, publication="paths") in combinations


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("merging", 1.0),
        ("merging", -0.1),
        ("aggregation", 0.0),
        ("publication", "leaves"),
        ("fragment_bytes", 0),
        ("fragment_order", "random"),
        ("held_bytes", -1),
        ("annotation_bytes", -1),
    ],
)
def test_what_is_no_strategy_is_refused(field: str, value: Any) -> None:
    """The error names the field."""
    with pytest.raises(RoutingError) as refused:
        Strategy(**{field: value})
    assert (refused.value.code, refused.value.name) == ("strategy", field)

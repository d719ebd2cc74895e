"""The built-in scenarios."""

from __future__ import annotations

import pytest

from twigcast.errors import RoutingError
from twigcast.routing import STRATEGIES
from twigcast.simulator import named_scenario


def test_the_networks_of_the_paper_are_there_by_name() -> None:
    """They have 7 and 127 routers, documents as paths, and all six strategies."""
    assert len(named_scenario("seven").network.routers) == 7
    large = named_scenario("hundred-and-twenty-seven")
    assert len(large.network.routers) == 127
    assert list(large.strategies) == list(STRATEGIES)
    assert {each.publication for each in large.strategies.values()} == {"paths"}


def test_an_unknown_name_is_refused() -> None:
    """The error lists the known names."""
    with pytest.raises(RoutingError, match="seven") as refused:
        named_scenario("eight")
    assert refused.value.name == "eight"

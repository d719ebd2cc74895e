"""The built-in scenarios."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twigcast.errors import RoutingError
from twigcast.routing import STRATEGIES
from twigcast.simulator import Report, Scenario, line, named_scenario
from twigcast.simulator.cost import PAPER
from twigcast.simulator.simulation import Simulation


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


def test_the_network_of_the_papers_on_piggybacking() -> None:
    """Users at all of 15 routers, documents from the root, 10 MB/s, and the cost model that was fitted."""
    scenario = named_scenario("fifteen")
    assert (len(scenario.network.routers), scenario.subscribers.at, scenario.publishers.at) == (
        15,
        "all",
        "b1",
    )
    assert (scenario.link.bandwidth, scenario.cost) == (1e7, PAPER)
    assert {each.piggyback for each in scenario.strategies.values()} == set(scenario.strategies)
    assert {each.aggregation for each in scenario.strategies.values()} == {0.25}


def test_fifteen_routers_run_each_strategy_on_the_same_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deliveries are those of flooding, and the first match is where the ``<test/>`` is."""
    monkeypatch.setattr("twigcast.simulator.scenario.SAMPLE", 10)
    scenario = named_scenario("fifteen")
    scenario = replace(
        scenario,
        subscribers=replace(scenario.subscribers, count=6),
        publishers=replace(scenario.publishers, documents=2),
    )
    eager, lazy, structured = (_report(simulation) for simulation in scenario.simulations())
    assert eager.correct
    assert lazy.correct
    assert structured.correct
    assert eager.deliveries == lazy.deliveries == structured.deliveries > 0
    assert structured.work.downstream.parsed == 0
    assert lazy.work.downstream.refuted > 0
    assert 0.0 < eager.delay.mean < lazy.delay.mean


def test_a_scenario_has_a_strategy_with_any_piggyback() -> None:
    """It is the first strategy with that piggyback, also where documents travel as paths."""
    scenario = Scenario("x", line(2))
    assert scenario.with_piggyback("L+t") == replace(STRATEGIES["no-Adv-no-Cov"], piggyback="L+t")
    assert scenario.by_paths().with_piggyback("L+t").publication == "paths"


def _report(simulation: Simulation) -> Report:
    for _ in simulation.steps():
        pass
    return simulation.report()

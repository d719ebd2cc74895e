"""Networks whose publishers write dialects of one schema."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.engines.mapping.approaches import NETWORKS
from experiments.engines.mapping.publishers import provide
from twigcast.routing import FLOODING, STRATEGIES
from twigcast.simulator import Report, Scenario, line
from twigcast.simulator.dialects import DialectOptions
from twigcast.simulator.scenario import Publishers, Subscribers
from twigcast.workload import DocumentOptions, SubscriptionOptions

pytest.importorskip("rapidfuzz", reason="the extra schemas is not installed")
provide()

SCENARIO = Scenario(
    "dialects",
    line(3),
    subscribers=Subscribers(
        "all", 30, options=SubscriptionOptions(min_steps=3, max_steps=5, wildcard=0.0, descendant=0.1)
    ),
    publishers=Publishers("b1", documents=6, options=DocumentOptions(seed=1, elements=30)),
    strategies={"flooding": FLOODING, "all": STRATEGIES["with-Adv-with-Cov"]},
    mediation=DialectOptions(3, tuple(NETWORKS)),
)


def reports(scenario: Scenario) -> dict[str, Report]:
    """The report of each simulation, by name."""
    found = {}
    for simulation in scenario.simulations():
        for _ in simulation.steps():
            pass
        found[simulation.name] = simulation.report()
    return found


@pytest.fixture(scope="module")
def found() -> dict[str, Report]:
    """The reports of the scenario."""
    return reports(SCENARIO)


def test_each_strategy_is_run_with_each_approach(found: dict[str, Report]) -> None:
    """The name of a report has both."""
    assert set(found) == {f"{name}, {approach}" for name in SCENARIO.strategies for approach in NETWORKS}


def test_all_deliver_what_the_homogeneous_feed_would(found: dict[str, Report]) -> None:
    """With true mappings nothing is lost and nothing is too much."""
    for report in found.values():
        assert report.correct
        assert report.recall == 1.0
        assert report.received > 0
        assert report.documents_per_user == report.received / 3


def test_without_mediation_little_is_delivered() -> None:
    """Subscriptions to the global schema do not match the publishers' own names."""
    mediated = SCENARIO.simulations()[0]
    load = mediated.load
    plain = replace(SCENARIO, strategies={"flooding": FLOODING}, mediation=None).simulations()[0]
    plain.load = replace(load, mappings={})
    for _ in plain.steps():
        pass
    assert plain.report().recall < 0.5


def test_images_and_headers_are_bytes_on_links(found: dict[str, Report]) -> None:
    """SDR sends images, NDDR_data rules; the difference shows in all bytes."""
    sdr, data, router = (found[f"flooding, {each}"] for each in ("SDR", "NDDR_data", "NDDR_router"))
    assert sdr.image_bytes > 0
    assert data.image_bytes == router.image_bytes == 0
    assert data.header_bytes > router.header_bytes > 0
    assert sdr.bytes > data.bytes > router.bytes
    assert sdr.to_json()["recall"] == 1.0


def test_announcements_are_counted(found: dict[str, Report]) -> None:
    """Each router hears of each mapping once."""
    assert found["flooding, NDDR_router"].messages["announcement"] == 9

"""The report of a simulation."""

from __future__ import annotations

import json

from twigcast.routing import FLOODING
from twigcast.simulator import Delay, Report


def report(**changed: int) -> Report:
    figures = {"false_positives": 5, "deliveries": 3, "missing": 0, "extra": 0} | changed
    return Report("x", FLOODING, 2, {"subscription": 7, "publication": 20}, 100, 4, 3, 0,
                  delay=Delay(), **figures)  # fmt: skip


def test_the_delay_of_deliveries() -> None:
    """These are mean, median and 99th percentile, all 0 without deliveries."""
    seconds = [float(number) for number in range(1, 101)]
    assert Delay.of(seconds) == Delay(50.5, 50.0, 100.0)
    assert Delay.of([]) == Delay(0.0, 0.0, 0.0)


def test_figures_that_follow_from_others() -> None:
    """These are totals, rates, and whether all deliveries are correct."""
    assert report().total == 27
    assert report().false_positive_rate == 0.25
    assert report().correct
    assert not report(missing=1).correct
    assert not report(extra=1).correct


def test_a_report_is_json() -> None:
    """The JSON also has the derived figures."""
    assert json.loads(json.dumps(report().to_json()))["total"] == 27

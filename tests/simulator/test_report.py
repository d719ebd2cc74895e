"""The report of a simulation."""

from __future__ import annotations

import json
from dataclasses import replace

from twigcast.routing import FLOODING
from twigcast.simulator import Report
from twigcast.simulator.report import Delay, NetworkWork, WorkFigures


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


def test_the_work_of_a_network_is_summed_up() -> None:
    """Routers that received the document from another one are summed up by themselves."""
    first = WorkFigures(
        documents=2, parsed=2, rows=20, seconds=4.0, sent=4, sent_bytes=400, annotation_bytes=40
    )
    second = WorkFigures(documents=2, parsed=1, rows=10, proven=1, refuted=7, seconds=1.0)
    work = NetworkWork({"b1": first, "b2": second}, {0: first, 1: second})
    total = work.to_json()["total"]
    assert (work.total.documents, work.total.seconds, work.total.open) == (4, 5.0, 22)
    assert (total["seconds_per_document"], total["annotation_bytes_per_document"]) == (1.25, 10.0)
    assert total["annotation_share"] == 0.1
    assert work.downstream == second
    downstream = work.to_json()["downstream"]
    assert (downstream["parsed_share"], downstream["refuted_share"], downstream["open_share"]) == (
        0.5,
        0.7,
        0.2,
    )
    assert set(work.to_json()["by_router"]) == {"b1", "b2"}
    assert set(work.to_json()["by_level"]) == {"0", "1"}
    assert WorkFigures().to_json()["parsed_share"] == 0.0


def test_what_is_saved_of_another_delay() -> None:
    """Without deliveries nothing is saved."""
    slow, fast = (replace(report(), delay=Delay(mean)) for mean in (2.0, 0.5))
    assert (fast.saved(slow), slow.saved(slow), slow.saved(fast)) == (0.75, 0.0, -3.0)
    assert fast.saved(report()) == 0.0

"""What an index costs beside matching, measured on a small one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.building import changing, first_change, opening, sharing, two_threads

WORKLOAD = "news-linear-1k"


def test_changes_are_seen_by_the_next_document() -> None:
    """Each addition and removal is checked by a match."""
    outcomes = changing(WORKLOAD, lambda step: None)
    assert [outcomes[change].wrong for change in ("add", "remove")] == [(), ()]


def test_two_processes_share_the_pages() -> None:
    """What two processes map of the file is the same memory."""
    assert sharing("news-linear-100k", lambda step: None).figures["shared_percent"] > 90


@pytest.mark.parametrize("measurement", [opening, first_change, two_threads])
def test_figures_are_positive(measurement: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every time and rate was measured, once instead of seven times."""
    monkeypatch.setattr("benchmarks.building.OPENINGS", 1)
    monkeypatch.setattr("benchmarks.building.RACES", 1)
    outcome = measurement(WORKLOAD, lambda step: None)
    assert min(outcome.figures.values()) > 0  # type: ignore[attr-defined]

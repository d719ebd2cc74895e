"""Dates as instants."""

from __future__ import annotations

import pytest

from twigcast.pattern.dates import instant


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("2024-01-31", "2024-02-01"),
        ("2024-01-31", "2024-01-31T00:00:01"),
        ("2024-01-31T23:59:59.999999999", "2024-02-01"),
        ("2024-01-31T12:00:00+02:00", "2024-01-31T11:00:00Z"),
        ("2024-01-31T00:00:00.1", "2024-01-31T00:00:00.10000001"),
        ("0001-01-01", "9999-12-31"),
    ],
)
def test_dates_are_ordered(earlier: str, later: str) -> None:
    """By the instant that they denote."""
    first, second = instant(earlier), instant(later)
    assert first is not None
    assert second is not None
    assert first < second


def test_equal_instants_are_equal() -> None:
    """However they are written; without an offset, UTC."""
    texts = ["2024-01-31", " 2024-01-31Z\n", "2024-01-31T00:00:00", "2024-01-31T02:00:00.0+02:00"]
    assert len({instant(text) for text in texts}) == 1


@pytest.mark.parametrize(
    "text",
    [
        *("", "2024", "2024-1-31", "2024-02-30", "2024-01-31T24:00:00", "2024-01-31 12:00:00"),
        *("2024-01-31T12:00", "2024-01-31+15:00", "x2024-01-31", "0000-01-01", "2024-01-31T12:00:60"),
    ],
)
def test_what_is_no_date_has_no_instant(text: str) -> None:
    """Neither an incomplete nor an impossible one."""
    assert instant(text) is None

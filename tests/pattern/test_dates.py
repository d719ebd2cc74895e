"""Dates as instants."""

from __future__ import annotations

import pytest

from twigcast.pattern.dates import extended_form, instant, is_day_number, is_ordered


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
        *("", "202", "2024-1-31", "2024-02-30", "2024-01-31T24:00:01", "2024-01-31 12:00:00"),
        *("2024-01-31+15:00", "x2024-01-31", "0000-01-01", "2024-01-31T12:00:60", "2024-01-31T"),
        *("20240230", "20241399", "20240131T1", "20240131T120", "2024013125", "202401310960", "202413"),
        *("2024-0131", "202401-31", "2024-01-3109", "2024-01-31T12:0000", "2024-01-31T1200:00"),
        *("20240131120000.", "202401311200.5", "20240131+1", "20240131+02:0", "20240131-15", "+20240131"),
        *("2024Z", "2024-01Z", "202401-0500", "2024-00", "2024-W05-3", "2024-031", "2024031"),
    ],
)
def test_what_is_no_date_has_no_instant(text: str) -> None:
    """Neither an incomplete nor an impossible one."""
    assert instant(text) is None


def test_the_basic_form_and_that_of_hl7_denote_the_same_instants() -> None:
    """Without separators, with or without a T before the time, and with offsets in all three lengths."""
    noon = instant("2012-08-06T09:15:00Z")
    assert noon is not None
    texts = [
        *("20120806T091500Z", "20120806T0915Z", "201208060915", "20120806091500.0000", "2012-08-06T09:15"),
        *("201208060415-0500", "20120806T041500-05", "20120806041500.0000-05:00", "2012-08-06T11:15+0200"),
        *("20120806091500,000", "2012-08-06T09:15:00,0Z"),
    ]
    assert {instant(text) for text in texts} == {noon}
    assert instant("20120806") == instant("2012-08-06") == instant("2012080600") == instant("20120806T00")


def test_a_part_of_a_date_begins_with_its_first_moment() -> None:
    """As a date without a time begins at midnight."""
    assert instant("2012") == instant("2012-01") == instant("201201") == instant("2012-01-01")
    assert instant("2012080609") == instant("2012-08-06T09") == instant("2012-08-06T09:00:00")


def test_a_day_may_end_at_24() -> None:
    """As ISO 8601 and XML Schema allow it."""
    assert instant("2024-01-31T24:00:00") == instant("2024-02-01") == instant("20240131240000.0")


@pytest.mark.parametrize(
    ("text", "extended"),
    [
        ("20120806", "2012-08-06"),
        (" 201208060915-05\n", "2012-08-06T09:15-05:00"),
        ("20120806091500.0000Z ", "2012-08-06T09:15:00.0000Z"),
        ("2012080609", "2012-08-06T09:00"),
        ("201208", "2012-08"),
        ("20121399", None),
    ],
)
def test_a_date_is_shown_as_it_is_read(text: str, extended: str | None) -> None:
    """In the extended form, with its own offset, and no more precise than it is."""
    assert extended_form(text) == extended


@pytest.mark.parametrize(
    ("text", "operator", "literal", "expected"),
    [
        ("20120806", ">", "2012-08-01", True),
        ("20120731", ">", "2012-08-01", False),
        ("2012-08-06", ">=", "20120806", True),
        ("2012-08-05", ">=", "20120806", False),
        ("201208060915", "<", "20120807", True),  # as numbers it would be greater
        ("201207", "<", "2012-08-01", True),
        ("2012", "<", "2012-08-01", True),
        ("20121399", ">", "2012-08-01", False),
        ("20121399", ">", "20120801", True),  # two numbers
        ("150001", "<", "20120801", True),  # two numbers, not January 1500
        ("99999999.5", ">", "20120801", True),
        ("soon", "<", "20120801", False),
        ("20120806T091500-0500", ">", "2012-08-06T14:14:59Z", True),
    ],
)
def test_a_text_is_ordered_as_a_date_or_as_a_number(
    text: str, operator: str, literal: str, expected: bool
) -> None:
    """As a date where both are dates, as a number where both are numbers and one is no day."""
    assert is_ordered(text, operator, literal) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("20120806", True), (" 201208060915\n", True), ("20120806091500.5", True)]
    + [(text, False) for text in ("2012", "201208", "20121399", "2012-08-06", "20120806-0500", "20120806.5")],
)
def test_a_number_of_eight_digits_or_more_may_be_a_date(text: str, expected: bool) -> None:
    """A shorter one is a year, or a month, only beside a date that is no number."""
    assert is_day_number(text) is expected

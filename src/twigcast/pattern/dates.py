"""Dates of ISO 8601 and HL7 as instants, so that they can be ordered: an extension of XPath 1.0.

    2024-01-31   2024-01-31T12:00:00.5+02:00   2024-01-31T12:00   2024-01     extended form
    20240131     20240131T120000.5+0200        20240131T12        202401      basic form
                 20240131120000.5+0200         2024013112                     HL7 and CII leave out the T

A date may have ``Z`` or an offset, and white space around it; one without an offset is taken as UTC.  What is
left out at its end begins with the first moment: a date without a time at midnight, a year in January.
"""

from __future__ import annotations

import re
from datetime import date

from twigcast.pattern.numbers import compare, number

_DATE = re.compile(
    r"""[ \t\r\n]* ([0-9]{4})
    (?: (?P<dash>-)? ([0-9]{2})
        (?: (?(dash)-) ([0-9]{2})
            (?: (?(dash)T|T?) ([0-9]{2})
                (?: (?P<colon>:)? ([0-9]{2}) (?: (?(colon):) ([0-9]{2}) (?: [.,]([0-9]+) )? )? )?
            )?
            (?: Z | ([+-]) ([0-9]{2}) (?: :? ([0-9]{2}) )? )?
        )?
    )? [ \t\r\n]*""",
    re.VERBOSE,
)
_DAY_DIGITS = 8


def instant(text: str) -> tuple[int, int] | None:
    """The seconds since the year 1 and the nanoseconds of a date; ``None`` if ``text`` is no date.

    Digits beyond the nanosecond are ignored.
    """
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, _, month, day, hour, _, minute, second, fraction, sign, offset_hour, offset_minute = found.groups()
    try:
        days = date(int(year), int(month or 1), int(day or 1)).toordinal()
    except ValueError:
        return None
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    nanoseconds = int((fraction or "")[:9].ljust(9, "0"))
    shift = int(offset_hour or 0) * 60 + int(offset_minute or 0)
    if hours > 23 and (hours, minutes, seconds, nanoseconds) != (24, 0, 0, 0):
        return None
    if minutes > 59 or seconds > 59 or int(offset_minute or 0) > 59 or shift > 14 * 60:
        return None
    shift = -shift if sign == "-" else shift
    return days * 86400 + hours * 3600 + (minutes - shift) * 60 + seconds, nanoseconds


def is_day_number(text: str) -> bool:
    """Whether ``text`` is a date and a number at the same time, and not a mere year or month: ``20240131``.

    Years and months are left to numbers: in ``@salary < '3000'``, 2012 is no date.
    """
    return (
        len(text.strip(" \t\r\n")) >= _DAY_DIGITS
        and number(text) == number(text)
        and instant(text) is not None
    )


def is_date_literal(text: str) -> bool:
    """Whether values are ordered against this literal as dates: it is a date that is no number, or a day."""
    return is_day_number(text) or (number(text) != number(text) and instant(text) is not None)


def is_ordered(text: str, operator: str, literal: str) -> bool:
    """Whether ``text`` stands in this order to a literal that is a date.

    If both are numbers, they are compared as numbers unless both are dates down to the day.
    """
    at, bound = instant(text), instant(literal)
    x, y = number(text), number(literal)
    if at is None or bound is None or (x == x and y == y and not is_day_number(text)):
        return compare(x, operator, y)
    return compare((at > bound) - (at < bound), operator, 0)


def extended_form(text: str) -> str | None:
    """A date as it is read, in the extended form of ISO 8601; ``None`` if ``text`` is no date."""
    found = _DATE.fullmatch(text)
    if found is None or instant(text) is None:
        return None
    year, _, month, day, hour, _, minute, second, fraction, sign, offset_hour, offset_minute = found.groups()
    written = "-".join(each for each in (year, month, day) if each)
    if hour:
        written += "T" + ":".join(each for each in (hour, minute or "00", second) if each)
    written += f".{fraction}" if fraction else ""
    if sign:
        return f"{written}{sign}{offset_hour}:{offset_minute or '00'}"
    return f"{written}Z" if text.rstrip().endswith("Z") else written

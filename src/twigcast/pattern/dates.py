"""Dates of ISO 8601 as instants, so that they can be ordered: an extension of XPath 1.0.

A date is ``2024-01-31`` or ``2024-01-31T12:00:00.5``, with an optional ``Z`` or offset such as ``+02:00`` and
white space around it; a date without a time begins at midnight, one without an offset is taken as UTC.
"""

from __future__ import annotations

import re
from datetime import date

_DATE = re.compile(
    r"[ \t\r\n]*([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?)?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))?[ \t\r\n]*"
)


def instant(text: str) -> tuple[int, int] | None:
    """The seconds since the year 1 and the nanoseconds of a date; ``None`` if ``text`` is no date.

    Digits beyond the nanosecond are ignored.
    """
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, sign, offset_hour, offset_minute = found.groups()
    try:
        days = date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    shift = int(offset_hour or 0) * 60 + int(offset_minute or 0)
    if hours > 23 or minutes > 59 or seconds > 59 or int(offset_minute or 0) > 59 or shift > 14 * 60:
        return None
    shift = -shift if sign == "-" else shift
    nanoseconds = int((fraction or "")[:9].ljust(9, "0"))
    return days * 86400 + hours * 3600 + (minutes - shift) * 60 + seconds, nanoseconds

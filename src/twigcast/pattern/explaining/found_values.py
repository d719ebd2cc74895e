"""The evidence of an explanation: a sentence with the values that were found, shortened."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from twigcast.pattern.dates import extended_form, instant, is_date_literal, is_day_number
from twigcast.pattern.expression import Date
from twigcast.pattern.numbers import number, number_text

_VALUES = 3  # different values that are shown
_CHARACTERS = 40  # of one value that are shown
_CONTROLS = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


class Evidence(NamedTuple):
    """A sentence, the values in it and how many are left out, and a hint."""

    note: str | None = None
    values: tuple[str, ...] = ()
    more: int = 0
    hint: str | None = None


def found_values(
    begin: str, texts: Iterable[str], numeric: bool, wanted: str | float | Date | None = None
) -> Evidence:
    """The different values, of which the first are shown, and whether one is nearly what is wanted.

    ``wanted`` is the text or number that they are compared with, or the date that they are ordered against.
    The texts are not kept: those of nested elements can be much larger together than the document.
    """
    seen: set[int] = set()
    shown: list[str] = []
    near: str | None = None
    for text in texts:
        if hash(text) in seen:
            continue
        seen.add(hash(text))
        if len(shown) < _VALUES:
            shown.append(
                _shown_date(text, wanted.text) if isinstance(wanted, Date) else shown_value(text, numeric)
            )
        if wanted is not None and near is None:
            near = _near(text, wanted)
    if not seen:
        return Evidence()
    more = len(seen) - len(shown)
    note = f"{begin} {', '.join(shown)}" + (f" (and {more} more)" if more else "")
    return Evidence(note, tuple(shown), more, near)


def _near(text: str, wanted: str | float | Date) -> str | None:
    if isinstance(wanted, Date):
        if not is_day_number(wanted.text):
            return None
        return f"{wanted.text!r} is the date {extended_form(wanted.text)}: without quotes it is a number"
    if isinstance(wanted, float):
        literal = number_text(wanted) if math.isfinite(wanted) else ""
        if not is_day_number(literal) or not is_date_literal(text):
            return None
        return f"with quotes it is a date: '{literal}'"
    if text == wanted:
        return None
    if is_date_literal(text) and is_date_literal(wanted) and instant(text) == instant(wanted):
        return "it is the same date: = and != compare texts, < and > compare dates"
    if text.lower() == wanted.lower():
        return "only the case differs: lower-case() makes it equal"
    if " ".join(text.split()) == wanted:
        return "only white space differs: normalize-space() removes it"
    return None


def found_counts(counts: Sequence[int], hint: str | None, only: str = "") -> Evidence:
    """The different counts, smallest first."""
    different = sorted(set(counts))
    shown = tuple([str(each) for each in different[:_VALUES]])
    more = len(different) - len(shown)
    if different == [0]:
        return Evidence("there are none", shown, 0, hint)
    verb = "is" if different == [1] else "are"
    listed = ", ".join(shown) if more or len(shown) < 2 else f"{', '.join(shown[:-1])} or {shown[-1]}"
    return Evidence(
        f"there {verb} {only}{listed}" + (f" (and {more} more)" if more else ""), shown, more, hint
    )


def _shown_date(text: str, literal: str) -> str:
    """A value as it is ordered against a date, with the date that is read if that is written otherwise."""
    if number(literal) == number(literal) and number(text) == number(text) and not is_day_number(text):
        return shown_value(text, True)
    read = extended_form(text)
    shown = shown_value(text, False)
    return shown if read == text.strip() else f"{shown} ({read[:_CHARACTERS] if read else 'no date'})"


def shown_value(text: str, numeric: bool) -> str:
    """A value for people: a number as it is, a text in quotes, shortened."""
    if numeric and (text == "NaN" or number(text) == number(text)):
        return text.strip()[:_CHARACTERS]
    short = text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…"
    quote = '"' if "'" in short and '"' not in short else "'"
    return f"{quote}{short.translate(_CONTROLS)}{quote}"

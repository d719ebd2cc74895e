"""The evidence of an explanation: a sentence with the values that were found, shortened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from twigcast.pattern.numbers import number

_VALUES = 3  # different values that are shown
_CHARACTERS = 40  # of one value that are shown
_CONTROLS = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


class Evidence(NamedTuple):
    """A sentence, the values in it and how many are left out, and a hint."""

    note: str | None = None
    values: tuple[str, ...] = ()
    more: int = 0
    hint: str | None = None


def found_values(begin: str, texts: Iterable[str], numeric: bool, wanted: str | None = None) -> Evidence:
    """The different values, of which the first are shown, and whether one is nearly the wanted text.

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
            shown.append(shown_value(text, numeric))
        if wanted is not None and near is None:
            near = _near(text, wanted)
    if not seen:
        return Evidence()
    more = len(seen) - len(shown)
    note = f"{begin} {', '.join(shown)}" + (f" (and {more} more)" if more else "")
    return Evidence(note, tuple(shown), more, near)


def _near(text: str, wanted: str) -> str | None:
    if text == wanted:
        return None
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


def shown_value(text: str, numeric: bool) -> str:
    """A value for people: a number as it is, a text in quotes, shortened."""
    if numeric and (text == "NaN" or number(text) == number(text)):
        return text.strip()[:_CHARACTERS]
    short = text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…"
    quote = '"' if "'" in short and '"' not in short else "'"
    return f"{quote}{short.translate(_CONTROLS)}{quote}"

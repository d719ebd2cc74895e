"""Makes the input of a finding smaller, as long as it is the same finding.

The usual delta debugging: parts of the input are left out, first large ones and then small ones.  It works on
the list of documents, the list of subscriptions, and the bytes and characters of those that remain.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.fuzz.checks import Case


def shrunk(case: Case, fails: Callable[[Case], bool], seconds: float = 60.0) -> Case:
    """A smaller case that still fails, as small as can be found in that time."""
    end = time.monotonic() + seconds

    def still(smaller: Case) -> bool:
        return time.monotonic() < end and fails(smaller)

    while True:
        before = case
        case = replace(case, bodies=shorter(case.bodies, lambda x, c=case: still(replace(c, bodies=x))))
        case = replace(
            case,
            subscriptions=shorter(case.subscriptions, lambda x, c=case: still(replace(c, subscriptions=x))),
        )
        for i in range(len(case.bodies)):
            case = _with_shorter_item(case, "bodies", i, still)
        for i in range(len(case.subscriptions)):
            case = _with_shorter_item(case, "subscriptions", i, still)
        if case == before or time.monotonic() >= end:
            return case


def _with_shorter_item(case: Case, field: str, i: int, still: Callable[[Case], bool]) -> Case:
    items: list[Any] = getattr(case, field)

    def made(item: Any) -> Case:
        return replace(case, **{field: [*items[:i], item, *items[i + 1 :]]})

    return made(shorter(items[i], lambda item: still(made(item))))


def shorter(whole: Any, fails: Callable[[Any], bool]) -> Any:
    """A part of a list, text or bytes that still fails, without any piece that could be left out."""
    size = max(1, len(whole) // 2)
    while len(whole):
        at, changed = 0, False
        while at < len(whole):
            candidate = whole[:at] + whole[at + size :]
            if fails(candidate):
                whole, changed = candidate, True
            else:
                at += size
        if size > 1:
            size //= 2
        elif not changed:
            break
    return whole

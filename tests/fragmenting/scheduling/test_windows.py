"""Windows of fragments, and when all headers are known."""

from __future__ import annotations

import pytest

from experiments.engines.fragments.known_headers import KnownHeaders
from tests.fragmenting.thesis import fragments
from twigcast.fragmenting.scheduling.windows import Window


def test_a_window_is_full_with_its_last_fragment() -> None:
    """Two and two, and what is left when the caller ends it."""
    window = Window(2)
    parts = fragments()[:5]
    assert [[part.number for part in window.add(each)] for each in parts] == [[], [1, 2], [], [3, 4], []]
    assert [part.number for part in window.flush()] == [5]
    assert window.flush() == []


def test_a_window_without_limit_waits_for_the_end() -> None:
    """w = ∞ schedules all fragments together."""
    window = Window()
    assert not any(window.add(part) for part in fragments())
    assert len(window.flush()) == 7


def test_a_window_has_at_least_one_fragment() -> None:
    """w = 0 would wait for ever."""
    with pytest.raises(ValueError, match="at least one"):
        Window(0)


def test_headers_are_complete_when_all_numbers_up_to_the_last_are_known() -> None:
    """The last fragment alone is not enough, in whatever order they come."""
    known = KnownHeaders()
    *others, last = fragments()
    assert known.add(last.header)
    for part in others[:-1]:
        known.add(part.header)
    assert not known.complete
    assert known.add(others[-1].header)
    assert known.complete
    assert not known.add(last.header)

"""Putting off the search for cycles."""

from __future__ import annotations

import gc

import pytest

from twigcast.system import garbage_collection_paused


def test_collecting_goes_on_afterwards() -> None:
    """It is off within, also one within another, and as before when all have ended."""
    with garbage_collection_paused():
        with garbage_collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collecting_goes_on_after_an_error() -> None:
    """Whatever happened within."""
    with pytest.raises(ZeroDivisionError), garbage_collection_paused():
        _ = 1 / 0
    assert gc.isenabled()

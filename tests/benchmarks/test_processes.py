"""Processes of their own: what they say, and what becomes of their errors."""

from __future__ import annotations

import operator
import os

import pytest

from benchmarks.processes import apart_telling, descendants, proportional_bytes, resident_bytes


def test_what_a_process_says_is_heard() -> None:
    """What the function tells comes through the pipe, and then its value."""
    steps: list[str] = []
    assert apart_telling(operator.call, steps.append, "a step") is None
    assert steps == ["a step"]


def test_an_error_there_is_an_error_here() -> None:
    """It is raised as it was, and its note has the traceback of the other process."""
    with pytest.raises(TypeError, match="positional") as caught:
        apart_telling(operator.call, print)
    assert "Traceback" in caught.value.__notes__[0]


def test_memory_of_a_process_that_is_gone_is_none() -> None:
    """Processes end while they are looked at."""
    gone = 1 << 30
    assert (resident_bytes(gone), proportional_bytes(gone), descendants(gone)) == (0, 0, [])
    assert 0 < proportional_bytes() <= 2 * resident_bytes(os.getpid())

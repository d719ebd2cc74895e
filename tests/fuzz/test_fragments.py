"""The fuzzing of fragments checks what it says, on a few rounds."""

from __future__ import annotations

from collections import Counter

from tests.fuzz.bounds import Unmetered
from tests.fuzz.fragments import FragmentRound, check_fragments


def test_rounds_hold() -> None:
    """Files and headers are both altered."""
    done: Counter[str] = Counter()
    for seed in range(60):
        check_fragments(FragmentRound(seed), Unmetered(), done)
    assert set(done) == {"fragment files", "altered headers"}

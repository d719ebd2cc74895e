"""Threads on one index: their answers are those of some state while they asked, and a wrong one is found."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.fuzz.checks import Mismatch
from tests.fuzz.threads import ThreadRound, check_round
from twigcast import Index
from twigcast.errors import SubscriptionError

TASKS = {"write", "match", "batch", "save", "versions", "compact", "look"}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_answers_are_those_of_a_state(seed: int) -> None:
    """Threads that add, remove, save, open, compact and match all get on, and every answer is right."""
    done: Counter[str] = Counter()
    check_round(ThreadRound(seed, seconds=1.0), done)
    assert {task for task in TASKS if not done[task]} == set()


def test_an_id_that_is_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A match that misses an id which was there all the time is no state."""
    right = Index.match

    def lossy(self: Index, body: bytes) -> Any:
        match = right(self, body)
        return type(match)(list(match.positions)[1:], match.error, match._names)

    monkeypatch.setattr(Index, "match", lossy)
    with pytest.raises(Mismatch, match=r"by threads|at the end"):
        check_round(ThreadRound(1, seconds=1.0), Counter())


def test_a_removal_that_comes_late_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A match after a removal has returned must not show the id any more."""
    right = Index.remove
    waiting: list[tuple[Index, object]] = []

    def late(self: Index, id: object) -> None:
        if id not in self:
            right(self, id)
        waiting.append((self, id))
        if len(waiting) > 3:
            right(*waiting.pop(0))

    monkeypatch.setattr(Index, "remove", late)
    with pytest.raises((Mismatch, SubscriptionError)):
        check_round(ThreadRound(1, seconds=2.0), Counter())

"""Worker processes: whatever a check does, the run goes on and has a finding."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.fuzz import bounds, workers
from tests.fuzz.bounds import Bound, Meter
from tests.fuzz.checks import Mismatch
from tests.fuzz.workers import Worker


def spin() -> None:
    while True:
        pass


def hold_memory() -> None:
    bytearray(64 << 20)[::4096] = b"x" * (64 << 20 >> 12)


def allocate() -> None:
    bytearray(bounds.ADDRESS_SPACE + (1 << 30))


def mismatch() -> None:
    raise Mismatch("ids", "[1] instead of [2]")


DEEDS: dict[str, Callable[[], object]] = {
    "nothing": lambda: None,
    "spin": spin,
    "hold memory": hold_memory,
    "allocate": allocate,
    "abort": os.abort,
    "exit": lambda: os._exit(3),
    "sleep": lambda: time.sleep(100),
    "mismatch": mismatch,
    "divide": lambda: 1 // 0,
}


def check(deed: str, meter: Meter, done: Counter[str]) -> None:
    """Do something within the bound of a match, or of a step in Python."""
    done["jobs"] += 1
    name, _, step = deed.partition(" in ")
    with meter.bounded(step or "match", 10):
        DEEDS[name]()


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    for step in ("match", "evaluate"):
        monkeypatch.setitem(bounds.BOUNDS, step, Bound(0.2, 0.01, 32 << 20, in_python=step == "evaluate"))
    monkeypatch.setattr(workers, "HANGING", 2.0)
    made = Worker(check)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("deed", "kind"),
    [
        ("spin", "time of match"),
        ("spin in evaluate", "time of evaluate"),
        ("hold memory", "memory of match"),
        ("allocate", "memory of match"),
        ("abort", "SIGABRT in match"),
        ("exit", "exit code 3 in match"),
        ("sleep", "hangs in match"),
        ("mismatch", "ids"),
        ("divide", "ZeroDivisionError in match"),
    ],
)
def test_what_a_check_does_is_a_finding(worker: Worker, deed: str, kind: str) -> None:
    """The finding names what happened and in which step, and the next job runs in a new process."""
    assert worker.run("nothing") is None
    finding = worker.run(deed)
    assert finding is not None
    # On a busy machine, a step that spins can exceed the wall time before it exceeds the CPU time.
    assert finding.kind in (kind, kind.replace("time of", "hangs in"))
    assert worker.run("nothing") is None


def test_counts_and_costs_are_kept_over_processes(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was compared and what it cost is added up, also when a worker is replaced."""
    monkeypatch.setattr(workers, "JOBS", 2)
    for _ in range(5):
        assert worker.run("nothing") is None
    assert worker.done == {"jobs": 5}
    assert 0 <= worker.shares["time of match"] < 1

"""Index files of the workloads; each is built once in a run and deleted after it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.workloads import workload
from twigcast import Index

ID_BYTES = 8
"""What an id takes in a file: ids are whole numbers here, kept as int64."""


@dataclass(frozen=True, slots=True)
class Built:
    """An index file, and the time it took to build it from text."""

    path: Path
    subscriptions: int
    wall_seconds: float
    cpu_seconds: float

    @property
    def bytes_per_subscription(self) -> float:
        """Bytes of the file without the ids."""
        return self.path.stat().st_size / self.subscriptions - ID_BYTES


@cache
def built(name: str) -> Built:
    """The index file of a workload."""
    return build(workload(name).subscriptions, folder() / f"{name}.tci")


def build(subscriptions: Sequence[str], path: Path) -> Built:
    """Parse, compile, build and save; the position of a subscription is its id."""
    wall, cpu = time.perf_counter(), time.thread_time()
    Index(enumerate(subscriptions)).save(path)
    return Built(path, len(subscriptions), time.perf_counter() - wall, time.thread_time() - cpu)


@cache
def folder() -> Path:
    """A folder that lives as long as the process."""
    path = Path(tempfile.mkdtemp(prefix="twigcast-bench-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path

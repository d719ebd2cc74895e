"""Runs checks in a process of their own, so that a crash, a hang or a hunger for memory is a finding.

A worker takes one job after the other.  It is replaced after a finding, and now and then, because caches and
fragmentation of the heap are not what is measured.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import multiprocessing
import os
import signal
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from tests.fuzz.bounds import Exceeded, Meter, limit_address_space
from tests.fuzz.checks import Mismatch

JOBS = 200  # that one worker process runs
HANGING = 300.0  # seconds of waiting that end a job, whatever its bounds

Check = Callable[[Any, Meter, "Counter[str]"], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not happen: its ``kind``, which stays the same while its input is made smaller."""

    kind: str
    detail: str


class Worker:
    """A process that runs ``check`` on jobs; ``done`` counts what was compared, ``shares`` what it cost."""

    def __init__(self, check: Check, *, slack: float = 1.0, limits_memory: bool = True) -> None:
        self.done: Counter[str] = Counter()
        self.shares: dict[str, float] = {}
        self._check = check
        self._slack = slack
        self._limits_memory = limits_memory
        self._context = multiprocessing.get_context("fork")
        self._step = self._context.RawArray(ctypes.c_char, 100)
        self._process: Any = None
        self._connection: Connection | None = None
        self._jobs = 0

    def run(self, job: Any) -> Finding | None:
        """Check one job; none if all held."""
        if self._process is None or self._jobs >= JOBS:
            self._start()
        assert self._connection is not None
        self._jobs += 1
        self._connection.send(job)
        finding = self._received()
        if finding is not None:
            self.close()
        return finding

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def _received(self) -> Finding | None:
        assert self._connection is not None
        if not self._connection.poll(HANGING * self._slack):
            os.kill(self._process.pid, signal.SIGABRT)  # prints where all its threads are
            self._process.join()
            return Finding(f"hangs in {self._name_of_step()}", f"no answer for {HANGING * self._slack:.0f} s")
        try:
            finding, done, self.shares = self._connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            return self._death(-self._process.exitcode)
        self.done += done
        return finding

    def _death(self, number: int) -> Finding:
        if number == signal.SIGPROF:
            return Finding(f"time of {self._name_of_step()}", "the step took more CPU time than its bound")
        name = signal.Signals(number).name if number > 0 else f"exit code {-number}"
        return Finding(f"{name} in {self._name_of_step()}", "the process ended")

    def _name_of_step(self) -> str:
        return self._step.value.decode() or "the check"

    def _start(self) -> None:
        self.close()
        self._connection, theirs = self._context.Pipe()
        self._process = self._context.Process(target=self._work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._jobs = 0

    # In the process

    def _work(self, connection: Connection) -> None:
        faulthandler.enable()
        if self._limits_memory:
            limit_address_space()
        meter = Meter(self._announce, self._slack, self.shares)
        with contextlib.suppress(EOFError, KeyboardInterrupt):
            while True:
                job = connection.recv()
                done: Counter[str] = Counter()
                connection.send((self._finding(job, meter, done), done, meter.shares))

    def _announce(self, step: str) -> None:
        self._step.value = step.encode()

    def _finding(self, job: Any, meter: Meter, done: Counter[str]) -> Finding | None:
        try:
            self._check(job, meter, done)
        except Mismatch as mismatch:
            return Finding(mismatch.what, str(mismatch))
        except Exceeded as exceeded:
            return Finding(exceeded.what, str(exceeded))
        except MemoryError:
            return Finding(f"memory of {self._name_of_step()}", traceback.format_exc())
        except Exception as error:
            return Finding(f"{type(error).__name__} in {self._name_of_step()}", traceback.format_exc())
        return None

"""A bound on the CPU time and the memory of each step of a check, in proportion to the size of its input.

The kernel does not return to the interpreter while it works, so that no handler could stop it: the timer of
the process is armed before a step, and its signal ends the process if the step takes longer.  The process
that waits for it reports the step.  A step in Python is interrupted instead.

Memory is bounded twice: by the peak of the resident memory, which is read after each step, and by a limit on
the address space, so that no input takes the memory of the machine.
"""

from __future__ import annotations

import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

ADDRESS_SPACE = (
    4 << 30
)  # beyond what the process has when it starts; threads reserve much that they never use


@dataclass(frozen=True, slots=True)
class Bound:
    """CPU seconds and bytes that one step may use: a constant, and something for each byte of its input."""

    seconds: float
    seconds_per_byte: float
    bytes: int = 128 << 20
    bytes_per_byte: float = 400.0
    in_python: bool = False


BOUNDS = {
    "build": Bound(2.0, 500e-6),
    "match": Bound(1.0, 4e-6, bytes_per_byte=100.0),
    "read": Bound(1.0, 20e-6, bytes_per_byte=2000.0),
    "evaluate": Bound(1.0, 100e-6, bytes_per_byte=4000.0, in_python=True),
    "mapping": Bound(5.0, 2e-3, bytes_per_byte=4000.0),
    "site": Bound(5.0, 2e-3, bytes_per_byte=4000.0),
    "other": Bound(20.0, 1e-3, bytes_per_byte=4000.0),
}
"""By step: ``match`` includes the evaluator within its own limit, ``other`` are lxml, files and threads."""


class Exceeded(Exception):
    """A step used more memory than its bound, or more time and could be interrupted; ``what`` names both."""

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(f"{what}: {detail}")
        self.what = what


class Unmetered:
    """No bounds: for a check in the process of a test."""

    def bounded(self, step: str, size: float, memory: int = 0) -> AbstractContextManager[None]:
        return nullcontext()


@dataclass(slots=True)
class Meter(Unmetered):
    """Runs each step within its bound; ``shares`` are the largest parts of their bounds that steps used.

    ``slack`` multiplies all bounds, for a kernel that is slow because it checks itself.  ``announce`` tells
    the process that waits which step begins.
    """

    announce: Callable[[str], None]
    slack: float = 1.0
    shares: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def bounded(self, step: str, size: float, memory: int = 0) -> Iterator[None]:
        """Run one step on an input of ``size`` bytes; ``memory`` may be used in addition, as for caches."""
        bound = BOUNDS[step]
        seconds = self.slack * (bound.seconds + bound.seconds_per_byte * size)
        most = self.slack * (bound.bytes + bound.bytes_per_byte * size + memory)
        self.announce(step)
        before = _reset_peak()
        start = time.process_time()

        def interrupt(*_: object) -> None:
            raise Exceeded(f"time of {step}", f"{seconds:.1f} s for an input of {int(size):,} bytes")

        signal.signal(signal.SIGPROF, interrupt if bound.in_python else signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        self._note(f"time of {step}", (time.process_time() - start) / seconds)
        grown = _peak() - before
        self._note(f"memory of {step}", grown / most)
        if grown > most:
            detail = f"{grown:,} bytes for an input of {int(size):,}, more than {int(most):,}"
            raise Exceeded(f"memory of {step}", detail)

    def _note(self, what: str, share: float) -> None:
        self.shares[what] = max(self.shares.get(what, 0.0), share)


def limit_address_space() -> None:
    """Let allocations of this process fail once it has ``ADDRESS_SPACE`` more than now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _reset_peak() -> int:
    """Let the peak of the resident memory start from what it is now, and return that."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status[status.index("VmHWM:") + 6 :].split()[0]) * 1024

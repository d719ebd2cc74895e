"""Runs Python code in a process that can bound its memory, to make allocations in the kernels fail."""

from __future__ import annotations

import subprocess
import sys

_PRELUDE = """
import resource
from contextlib import contextmanager
from pathlib import Path

@contextmanager
def most_bytes_more(bytes):
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)

def fails(action):
    try:
        action()
    except MemoryError:
        return True
    return False

"""


def printed_by(code: str) -> list[str]:
    """The lines that the code prints.

    It may use ``with most_bytes_more(bytes)``, which bounds the address space, and ``fails(action)``, which
    says whether an action raises ``MemoryError``.
    """
    run = subprocess.run(
        [sys.executable, "-c", _PRELUDE + code], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()

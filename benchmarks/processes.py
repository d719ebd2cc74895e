"""Work in processes of its own: a fresh start for each measurement, and memory that is nobody else's."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def apart(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The value of a function of a module, called in a new process."""
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()


def resident_bytes() -> int:
    """Memory of this process that is in RAM, mapped files included."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise OSError("no VmRSS in /proc/self/status")


def mapping_bytes(path: Path) -> dict[str, int]:
    """What /proc/self/smaps says of the mappings of a file, such as ``Rss``, ``Pss``, ``Shared_Clean``."""
    sums: dict[str, int] = {}
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        key, _, rest = line.partition(":")
        if " " in key:
            inside = line.endswith(f" {path}")
        elif inside and rest.endswith(" kB"):
            sums[key] = sums.get(key, 0) + int(rest.split()[0]) * 1024
    return sums

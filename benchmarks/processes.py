"""Runs functions in new processes, so that each measurement starts fresh, and reads memory from /proc."""

from __future__ import annotations

import multiprocessing
import pickle
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from benchmarks.results import Progress

P = ParamSpec("P")
T = TypeVar("T")


def apart(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function of a module in a new process, and return its value."""
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()


def apart_telling(
    function: Callable[Concatenate[Progress, P], T], progress: Progress, *args: P.args, **kwargs: P.kwargs
) -> T:
    """The same for a function that reports its progress through its first argument."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_tell, args=(theirs, function, args, kwargs))
    process.start()
    theirs.close()  # so that a process that dies closes its pipe, and nobody waits for ever
    try:
        while True:
            kind, value = ours.recv()
            if kind == "step":
                progress(value)
            elif kind == "error":
                raise value
            else:
                return value  # type: ignore[no-any-return]
    except EOFError:
        process.join()
        raise RuntimeError(f"the process of {function.__name__} ended with {process.exitcode}") from None
    finally:
        ours.close()
        process.join()


def _tell(pipe: Connection, function: Callable[..., object], args: Any, kwargs: Any) -> None:
    lock = threading.Lock()

    def send(kind: str, value: object) -> None:
        with lock:
            pipe.send((kind, value))

    try:
        value = function(lambda step: send("step", step), *args, **kwargs)
    except Exception as error:
        send("error", _sendable(error, traceback.format_exc()))
    else:
        send("value", value)


def _sendable(error: Exception, trace: str) -> Exception:
    """The error with its traceback as a note; a plain error with that text if it cannot be pickled."""
    error.add_note(trace)
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(trace)
    return error


def resident_bytes(pid: int | str = "self") -> int:
    """The resident set size of a process, mapped files included; 0 if the process has ended."""
    return _status_bytes("VmRSS", pid)


def peak_bytes(pid: int | str = "self") -> int:
    """The largest resident set size that a process has had; 0 if the process has ended."""
    return _status_bytes("VmHWM", pid)


def anonymous_bytes(pid: int | str = "self") -> int:
    """The resident memory of a process that belongs to no file; 0 if the process has ended."""
    return _status_bytes("RssAnon", pid)


def _status_bytes(field: str, pid: int | str) -> int:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        return 0
    if pid == "self":
        raise OSError(f"no {field} in /proc/self/status")
    return 0


def proportional_bytes(pid: int | str = "self") -> int:
    """The proportional set size of a process, in which shared pages are divided; 0 if it has ended."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        pass
    return 0


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that these started, parents first."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                children = [int(word) for word in task.read_text().split()]
            except (FileNotFoundError, ProcessLookupError):
                continue
            found += children
            waiting += children
    return found


def command_name(pid: int) -> str:
    """The short name of the program that a process runs; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def mapping_bytes(path: Path, pid: int | str = "self") -> dict[str, int]:
    """What /proc says of a process's mappings of a file, such as ``Rss``, ``Pss``, ``Shared_Clean``."""
    sums: dict[str, int] = {}
    inside = False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        key, _, rest = line.partition(":")
        if " " in key:
            inside = line.endswith(f" {path}")
        elif inside and rest.endswith(" kB"):
            sums[key] = sums.get(key, 0) + int(rest.split()[0]) * 1024
    return sums

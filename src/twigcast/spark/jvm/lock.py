"""A lock that lets one process at a time run a pipeline, counting its JVM as part of it.

When a Python process is killed, its JVM lives on for a moment, and a write that is under way could still be
committed while a restarted process writes the same batch again.  So the JVM holds the lock: the operating
system releases it when the JVM has ended, for whatever reason, and not before.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import SparkSession

from twigcast.errors import RunError
from twigcast.spark.jvm.errors import JvmError
from twigcast.spark.jvm.private_api import JVM_FILE_LOCK, MissingApi, using

PATIENCE_SECONDS = 60.0

_held: dict[tuple[int, Path], Any] = {}  # a channel that is garbage-collected would release its lock


def lock(spark: SparkSession, file: Path, *, patience: float = PATIENCE_SECONDS) -> None:
    """Acquire the lock of a file and hold it until the JVM of this session ends.

    Waits for a process that holds it, which may be one that is just ending, and then raises ``RunError``.
    """
    file = file.absolute()
    locker = _locker(spark)
    if (locker.pid, file) in _held:  # a second open file would release the lock when it is closed
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    opened = locker.open(file)
    deadline = time.monotonic() + patience
    while (held := locker.try_lock(opened)) is None:
        if time.monotonic() > deadline:
            opened.close()
            raise RunError(f"another process runs this pipeline: it holds the lock {file}")
        time.sleep(0.1)
    _held[locker.pid, file] = opened, held


class _Locker(Protocol):
    """A process that can hold locks."""

    pid: int

    def open(self, file: Path) -> Any: ...

    def try_lock(self, opened: Any) -> Any: ...


def _locker(spark: SparkSession) -> _Locker:
    try:
        with using(JVM_FILE_LOCK):
            return _JvmLocker(spark)
    except MissingApi:
        return _PythonLocker()


class _JvmLocker:
    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        self._jvm = jvm
        self.pid = int(jvm.java.lang.ProcessHandle.current().pid())

    def open(self, file: Path) -> Any:
        return self._jvm.java.io.RandomAccessFile(str(file), "rw").getChannel()

    def try_lock(self, opened: Any) -> Any:
        try:
            return opened.tryLock()
        except JvmError as error:
            if "OverlappingFileLockException" in str(error):
                return opened  # this JVM holds it already
            raise


class _PythonLocker:
    def __init__(self) -> None:
        self.pid = os.getpid()

    def open(self, file: Path) -> Any:
        return file.open("a")

    def try_lock(self, opened: Any) -> Any:
        try:
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return None
        return opened

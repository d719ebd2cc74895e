"""A lock that lets one process at a time run a pipeline, counting its JVM as part of it.

When a Python process is killed, its JVM lives on for a moment, and a write that is under way could still be
committed while a restarted process writes the same batch again.  So the JVM holds the lock: the operating
system releases it when the JVM has ended, for whatever reason, and not before.

Beside the lock, ``<name>.holder`` says who holds it, for messages only: it stays when the lock is released.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import platform
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import SparkSession

from twigcast.errors import RunError
from twigcast.spark.jvm.errors import JvmError
from twigcast.spark.jvm.private_api import JVM_FILE_LOCK, MissingApi, using
from twigcast.system import write_atomically

_LOG = logging.getLogger("twigcast")
PATIENCE_SECONDS = 60.0
SILENT_SECONDS = 1.0  # the holder may just be ending

_held: dict[tuple[int, Path], Any] = {}  # a channel that is garbage-collected would release its lock


def lock(spark: SparkSession, file: Path, *, patience: float = PATIENCE_SECONDS) -> None:
    """Acquire the lock of a file and hold it until the JVM of this session ends.

    Waits for a process that holds it, which may be one that is just ending, and then raises ``RunError``.
    That it waits, and for whom, is a warning of the logger ``twigcast``.
    """
    file = file.absolute()
    locker = _locker(spark)
    if (locker.pid, file) in _held:  # a second open file would release the lock when it is closed
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    opened = locker.open(file)
    began = time.monotonic()
    said = False
    while (held := locker.try_lock(opened)) is None:
        waited = time.monotonic() - began
        if waited > patience:
            opened.close()
            raise RunError(
                f"another process runs this pipeline ({_holder(file)}) and holds the lock {file}: "
                "stop it first, or use another work folder"
            )
        if not said and waited >= min(SILENT_SECONDS, patience / 2):
            said = True
            _LOG.warning(
                "waiting up to %.0f s for %s, which runs this pipeline and holds the lock %s (Ctrl-C stops"
                " waiting)",
                patience,
                _holder(file),
                file,
            )
        time.sleep(0.1)
    _held[locker.pid, file] = opened, held
    since = datetime.now().astimezone().isoformat(timespec="seconds")
    content = {"pid": os.getpid(), "host": platform.node(), "since": since}
    with suppress(OSError):
        write_atomically(_holder_file(file), json.dumps(content).encode())


def _holder_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.holder")


def _holder(file: Path) -> str:
    """Who holds a lock, in words."""
    try:
        found = json.loads(_holder_file(file).read_bytes())
        return f"process {int(found['pid'])} on {found['host']}, since {found['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "a process that is not known"


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

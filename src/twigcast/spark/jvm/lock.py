"""One process at a time works on a pipeline, and its Java machine counts as part of it.

When the Python process is killed, its Java machine goes on for a moment: a write that is under way could
still be committed while a restarted process writes the same batch again.  So the lock belongs to the Java
machine: the operating system gives it up when that one has ended, by whatever cause, and not before.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from twigcast.errors import RunError

PATIENCE_SECONDS = 60.0

_held: dict[tuple[int, Path], Any] = {}  # kept here: a channel that Java collects gives up its lock


def lock(spark: SparkSession, file: Path, *, patience: float = PATIENCE_SECONDS) -> None:
    """Hold the lock of a file from now until this session's Java machine ends.

    Waits for another that has it, which may be one that is just ending; raises ``RunError`` in the end.
    """
    jvm: Any = spark._jvm
    file = file.absolute()
    key = (int(jvm.java.lang.ProcessHandle.current().pid()), file)
    if key in _held:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    channel = jvm.java.io.RandomAccessFile(str(file), "rw").getChannel()
    deadline = time.monotonic() + patience
    while (held := _try(channel)) is None:
        if time.monotonic() > deadline:
            channel.close()
            raise RunError(f"another process works on this pipeline: it holds {file}")
        time.sleep(0.1)
    _held[key] = channel, held


def _try(channel: Any) -> Any:
    """The lock, if it is to be had."""
    try:
        return channel.tryLock()
    except Py4JJavaError as error:
        if "OverlappingFileLockException" in str(error.java_exception):
            return channel  # this very machine has it
        raise

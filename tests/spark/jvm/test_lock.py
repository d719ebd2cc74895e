"""The lock of a work folder, which the JVM holds until it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from twigcast.errors import RunError
from twigcast.spark.jvm.lock import lock

HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.lockf(file, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""


def test_one_session_locks_as_often_as_it_likes(spark: SparkSession, tmp_path: Path) -> None:
    """Two runs one after the other in one session do not conflict."""
    lock(spark, tmp_path / "work" / "lock")
    lock(spark, tmp_path / "work" / "lock")


def test_another_process_waits_until_the_holder_ends(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It says for whom it waits, raises after a while, and gets the lock when the holder has been killed."""
    file = tmp_path / "lock"
    (tmp_path / "lock.holder").write_text('{"pid": 1234, "host": "north", "since": "2031-05-06T07:08:09"}')
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    with pytest.raises(RunError, match=r"another process .*process 1234 on north, since .*stop it first"):
        lock(spark, file, patience=0.5)
    (said,) = caplog.messages
    assert said == (
        "waiting up to 0 s for process 1234 on north, since 2031-05-06T07:08:09, which runs this pipeline"
        f" and holds the lock {file} (Ctrl-C stops waiting)"
    )
    holder.kill()
    holder.communicate()
    lock(spark, file, patience=5)
    assert json.loads((tmp_path / "lock.holder").read_bytes())["pid"] == os.getpid()

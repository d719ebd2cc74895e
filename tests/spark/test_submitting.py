"""``spark-submit`` to executors in other processes, which get the index as files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from twigcast.spark.jvm.java import java_home

HOME = Path(pyspark.__file__).parent
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.mark.spark
def test_what_is_submitted_stands_above_what_is_asked_for(tmp_path: Path) -> None:
    """The master and settings of ``spark-submit`` are used, and its executors get the index as files."""
    done = submit(tmp_path, "--master", "local-cluster[1,1,1024]", "--name", "submitted")
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout) == {
        "spark.master": "local-cluster[1,1,1024]",
        "spark.app.name": "submitted",
        "spark.sql.shuffle.partitions": "7",
        "delivered": ["ada"],
    }
    assert len(list((tmp_path / "home" / "work").glob("*/0/twigcast-*.tci"))) == 1


def submit(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Submit the program with a SPARK_HOME of the test, because executors work in a folder below it."""
    home = folder / "home"
    home.mkdir()
    for part in ("bin", "jars", "python"):
        (home / part).symlink_to(HOME / part)
    script = Path(__file__).with_name("submitted.py")
    command = [str(home / "bin" / "spark-submit"), *options, str(script), str(folder)]
    env = {
        **os.environ,
        "JAVA_HOME": str(java_home()),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JDK_JAVA_OPTIONS": QUICK_JAVA,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=env)

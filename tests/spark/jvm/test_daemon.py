"""The process from which Spark forks its Python workers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("pyspark")

has_socket_files = b"PYTHON_UNIX_DOMAIN_ENABLED" in Path(str(find_spec("pyspark.daemon").origin)).read_bytes()


@pytest.fixture
def sockets() -> Iterator[str]:
    """A folder with a short path, since that of a socket has at most 107 bytes."""
    with TemporaryDirectory() as folder:
        yield folder


@pytest.mark.skipif(not has_socket_files, reason="this PySpark has no workers that are reached by a file")
def test_a_connection_that_spark_has_closed_leaves_no_trace(tmp_path: Path, sockets: str) -> None:
    """A worker that finds nobody to talk to ends in silence; PySpark prints the trace of a broken pipe."""
    environment = os.environ | {
        "PYTHON_UNIX_DOMAIN_ENABLED": "true",
        "PYTHON_WORKER_FACTORY_SOCK_DIR": sockets,
        "PYTHON_WORKER_FACTORY_SECRET": "secret",
    }
    module = "twigcast.spark.jvm.daemon"
    complaints = tmp_path / "stderr"
    with complaints.open("wb") as stderr:
        daemon = subprocess.Popen(
            [sys.executable, "-m", module, "pyspark.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment,
        )
    assert daemon.stdin is not None
    assert daemon.stdout is not None
    path = daemon.stdout.read(int.from_bytes(daemon.stdout.read(4), "big"))
    with socket.socket(socket.AF_UNIX) as gone:
        gone.connect(path)
    with socket.socket(socket.AF_UNIX) as second:
        second.connect(path)
        assert second.recv(4)  # its worker was forked, and therefore also that of the first
        daemon.stdin.close()
        daemon.wait(timeout=60)
        assert complaints.read_text() == ""

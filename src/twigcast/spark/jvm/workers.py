"""Makes sure that the Python workers of any local session can import twigcast.

``twigcast.spark.session`` sets this up when it starts a session.  A session that a user made runs its workers
with the first ``python3`` on the path, unless ``PYSPARK_PYTHON`` says otherwise; in a virtual environment
that is not active, that is another Python than the driver's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.errors import StageError
from twigcast.spark.jvm.deaths import jvm_death
from twigcast.spark.jvm.error_text import complaint
from twigcast.spark.jvm.errors import JvmError
from twigcast.spark.jvm.private_api import WORKER_INTERPRETER, MissingApi, using

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def prepare_workers(spark: SparkSession) -> None:
    """Have local workers run the driver's Python; raises ``StageError`` if theirs cannot import twigcast.

    A Python that the user has set is not changed.  The workers of a cluster are asked by a small job.
    Raises ``RunError`` if the JVM of the session has died.
    """
    if (died := jvm_death()) is not None:
        raise died
    context = spark.sparkContext
    if not re.fullmatch(r"local(\[.*\])?", str(context.master)):
        if context.applicationId not in _asked:
            ask_workers(spark)
            _asked.add(context.applicationId)
        return
    named = os.environ.get("PYSPARK_PYTHON") or context.getConf().get("spark.pyspark.python")
    interpreter = shutil.which(named or "python3") or named or "python3"
    try:
        with using(WORKER_INTERPRETER):
            if named is None:
                context.pythonExec = interpreter = sys.executable
            if (path := source_path()) is not None:
                context.environment.setdefault("PYTHONPATH", path)
    except MissingApi:
        pass
    if interpreter != sys.executable:
        _require_twigcast(interpreter)


_asked: set[str] = set()
_MISMATCH = re.compile(
    "PYTHON_VERSION_MISMATCH|Python in worker has different version|No module named|Cannot run program"
)


def ask_workers(spark: SparkSession) -> None:
    """Raise ``StageError`` if a worker runs another Python than the driver, or cannot import twigcast.

    Without it, the first job fails with a hundred lines of traces.  Any other failure is left to that job.
    """
    from pyspark.errors import PySparkException

    from twigcast.spark.jvm.stream_log import silent_tasks

    def lacking(_: int) -> str:  # it is sent by value, since it is defined here, and needs no twigcast
        from importlib import import_module
        from sys import executable

        try:
            for name in ("twigcast", "pyarrow", "pandas"):
                import_module(name)
        except ImportError as error:
            return f"{executable}: {error}"
        return ""

    version = ".".join(map(str, sys.version_info[:2]))
    try:
        with silent_tasks(spark):
            (found,) = spark.sparkContext.parallelize([0], 1).map(lacking).collect()
    except (PySparkException, JvmError) as error:
        if _MISMATCH.search(str(error)) is None:
            return
        found = complaint(str(error))
    if found:
        raise StageError(
            f"Spark's workers need Python {version} with twigcast, and theirs is not ({found}): set the "
            "environment variable PYSPARK_PYTHON to the path of such a Python on all machines before the "
            "session is started",
            code="workers",
        )


def import_path() -> str:
    """A ``PYTHONPATH`` with which workers find the twigcast that this process runs."""
    import twigcast

    source = str(Path(twigcast.__file__).resolve().parent.parent)
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join([source, *(path for path in inherited if path and path != source)])


def source_path() -> str | None:
    """``import_path``, or none if workers find twigcast without it."""
    path = import_path()
    source = path.split(os.pathsep)[0]
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return None if source in (sysconfig.get_path("purelib"), *inherited) else path


@cache
def _require_twigcast(interpreter: str) -> None:
    version = ".".join(map(str, sys.version_info[:2]))
    check = "import sys, twigcast, pyarrow, pandas; print('.'.join(map(str, sys.version_info[:2])))"
    try:
        answer = subprocess.run(
            [interpreter, "-c", check], capture_output=True, text=True, timeout=60, check=False
        )
        found = answer.stdout.strip() if answer.returncode == 0 else ""
    except (OSError, subprocess.SubprocessError):
        found = ""
    if found != version:
        problem = f"is Python {found}, not {version}" if found else "cannot import twigcast"
        raise StageError(
            f"Spark's workers run {interpreter}, which {problem}: set the environment variable "
            f"PYSPARK_PYTHON to {sys.executable} before the session is started",
            code="workers",
        )

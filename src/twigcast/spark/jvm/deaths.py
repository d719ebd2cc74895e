"""Finds out from an error of Spark which process has died, and says what to do.

A driver whose JVM is gone gets a refused connection from then on, and a task whose Python worker is gone ends
with the end of a stream; neither error says what has happened.
"""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

from twigcast.errors import RunError
from twigcast.spark.jvm.gateway import jvm_process

ENDING_SECONDS = 5.0
"""How long a JVM may take from the first sign of its end until its process has ended."""
OUT_OF_MEMORY = 52  # the exit code of Spark

_OF_JVM = re.compile("SparkContext was shut down|stopped SparkContext|OutOfMemoryError")
_CUT_OFF = ("Py4JError", "Py4JNetworkError")
"""What py4j raises if there is no answer; an exception of Java has a class of its own."""
_OF_WORKER = re.compile(
    r"Python worker (?:exited unexpectedly|process terminated)[^:\n]*"
    r"(?:: *(?:Fatal Python error: )?([^\n]*))?"
)
_OF_EXECUTOR = re.compile(r"ExecutorLostFailure \(executor (\S+) [^\n]*? Reason: ([^\n]*)")


def death(error: BaseException) -> RunError | None:
    """The error that says which process of Spark has died, if that is why there is an error."""
    text = str(error)
    is_cut_off = isinstance(error, ConnectionError) or type(error).__name__ in _CUT_OFF
    if is_cut_off or _OF_JVM.search(text):
        if (found := jvm_death(ENDING_SECONDS)) is not None:
            return found
        if "OutOfMemoryError" in text:
            return _without_memory()
        if isinstance(error, ConnectionError):
            message = f"the JVM of Spark does not answer ({error.strerror or error}): it may have ended"
            return RunError(message, code="jvm-died")
    if worker := _OF_WORKER.search(text):
        return _worker_death((worker[1] or "").strip())
    if executor := _OF_EXECUTOR.search(text):
        message = f"executor {executor[1]} of Spark was lost: {executor[2].strip()}"
        return RunError(f"{message} (its log says more)", code="worker-died")
    return None


def jvm_death(patience: float = 0.0) -> RunError | None:
    """The error that says how the JVM of this process has died; none if it lives, or belongs to others."""
    process = jvm_process()
    if process is None:
        return None
    try:
        code = process.wait(patience) if patience else process.poll()
    except subprocess.TimeoutExpired:
        return None
    if code is None:
        return None
    if code == OUT_OF_MEMORY:
        return _without_memory()
    if code == -signal.SIGKILL:
        message = (
            "the JVM of Spark was killed, as systems do that run out of memory (dmesg would say so): "
            "lower the setting spark.driver.memory, or let fewer workers run at a time (spark.master, such "
            "as local[2])"
        )
    else:
        message = f"the JVM of Spark died ({_ending(code)}){_crash_report(process.pid)}"
    return RunError(message, code="jvm-died")


def _without_memory() -> RunError:
    message = "the JVM of Spark ran out of memory: raise the setting spark.driver.memory, such as 4g"
    return RunError(f"{message} (spark.executor.memory on a cluster)", code="jvm-died")


def _worker_death(reason: str) -> RunError:
    if reason:
        return RunError(f"a Python worker of Spark died: {reason} (stderr has its trace)", code="worker-died")
    message = (
        "a Python worker of Spark was killed, as systems do that run out of memory (dmesg would say so): let "
        "fewer workers run at a time (spark.master, such as local[2]), or set lower limits for documents"
    )
    return RunError(message, code="worker-died")


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _crash_report(pid: int) -> str:
    report = Path(f"hs_err_pid{pid}.log")
    return f": {report.absolute()} says more" if report.exists() else ", and left no report"

"""The process from which Spark forks its Python workers, with their imports already done.

Without it each worker imports pandas, pyarrow and twigcast before its first document: more than a second of
CPU time, and memory that is shared this way.  Nothing here may start a thread that does not survive a fork.

Spark runs the garbage collector in each worker after each task.  ``gc.freeze`` excludes what was imported
here: collecting it took 40 ms of each task and copied the shared pages.

PySpark prints a trace when Spark has closed the connection to a worker, which it does when a session or a
query ends early; that is no error, and is not printed here.
"""

from __future__ import annotations

import gc
import os
import sys
import traceback
from types import SimpleNamespace

# No worker multiplies matrices, and the threads for that would be forked with it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pandas  # noqa: F401
import pyarrow.compute  # noqa: F401
import pyspark.daemon
import pyspark.worker

_GONE = (BrokenPipeError, ConnectionResetError)


def _print_exc() -> None:
    if not isinstance(sys.exc_info()[1], _GONE):
        traceback.print_exc()


def _print(*words: object, **options: object) -> None:
    if not isinstance(sys.exc_info()[1], _GONE):
        print(*words, **options)  # type: ignore[call-overload]


if __name__ == "__main__":
    traces = SimpleNamespace(print_exc=_print_exc, format_exc=traceback.format_exc)
    vars(pyspark.daemon).update(traceback=traces, print=_print)
    gc.collect()
    gc.freeze()
    pyspark.daemon.manager()

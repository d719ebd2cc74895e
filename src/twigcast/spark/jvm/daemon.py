"""The process from which Spark forks its Python workers, with their imports already done.

Without it each worker imports pandas, pyarrow and twigcast before its first document: more than a second of
CPU time, and memory that is shared this way.  Nothing here may start a thread that does not survive a fork.

Spark runs the garbage collector in each worker after each task.  ``gc.freeze`` excludes what was imported
here: collecting it took 40 ms of each task and copied the shared pages.
"""

from __future__ import annotations

import gc
import os

# No worker multiplies matrices, and the threads for that would be forked with it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pandas  # noqa: F401
import pyarrow.compute  # noqa: F401
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

if __name__ == "__main__":
    gc.collect()
    gc.freeze()
    manager()

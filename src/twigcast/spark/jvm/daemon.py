"""The process that Spark forks its Python workers from, with what they need already imported.

Without it each worker imports pandas, pyarrow and twigcast by itself, before its first document: more than a
second of a core, and memory that is now shared.  Nothing here may start a thread that does not know of forks.

Spark has each worker search for cycles after each task.  What was imported here is left out of the search: it
took 40 ms of a task, and made copies of all the memory that is shared.
"""

from __future__ import annotations

import gc
import os

# Nothing in a worker multiplies matrices; the threads for it would be forked with it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Arrow's memory goes from batch to batch; given back to the system in between, it cost 2 µs a document.
os.environ.setdefault("MIMALLOC_PURGE_DELAY", "10000")

import pandas  # noqa: F401
import pyarrow.compute  # noqa: F401
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

if __name__ == "__main__":
    gc.collect()
    gc.freeze()
    manager()

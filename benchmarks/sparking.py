"""Runs a benchmark on Spark in a process of its own, and measures the memory of all its processes.

this process ─► a process with the session ─► the JVM ─► a daemon ─► the workers
                └── driver ──────────────┘    └ JVM ┘    └── workers ──────────┘
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from benchmarks.files import folder
from benchmarks.processes import apart_telling, command_name, descendants, resident_bytes
from benchmarks.results import Progress
from benchmarks.workloads import MISSING_DATA, subscriptions
from twigcast import Index
from twigcast.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from twigcast.spark import IndexVersion

MASTER = "local[2]"
CORES = 2
EVERY = 0.25
"""Seconds between two measurements of memory."""

P = ParamSpec("P")
T = TypeVar("T")


def on_spark(
    function: Callable[Concatenate[SparkSession, Progress, P], T],
    progress: Progress,
    conf: Mapping[str, str],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Call a function of a module in a new process, with a Spark session of two cores."""
    require_spark()
    return apart_telling(_with_session, progress, function, _our_session, dict(conf), args, kwargs)


def on_plain_spark(
    function: Callable[Concatenate[SparkSession, Progress, P], T],
    progress: Progress,
    conf: Mapping[str, str],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """The same with a session that has no setting of twigcast."""
    require_spark()
    return apart_telling(_with_session, progress, function, _plain_session, dict(conf), args, kwargs)


def _our_session(conf: Mapping[str, str]) -> SparkSession:
    from twigcast.spark import session

    return session("twigcast benchmarks", master=MASTER, conf=conf)


def _plain_session(conf: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(MASTER)
    for key, value in conf.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def require_spark() -> None:
    """Raise ``SourceError`` if PySpark is not installed."""
    if importlib.util.find_spec("pyspark") is None:
        raise SourceError(
            "PySpark is not installed: pip install 'twigcast[spark]'", code=MISSING_DATA, path="pyspark"
        )


@cache
def index_version(source: str, kind: str, count: int) -> IndexVersion:
    """An index version with the subscriptions of a workload; the id of each is its position."""
    from twigcast.spark import IndexVersion

    index = Index((str(id), text) for id, text in enumerate(subscriptions(source, kind, count)))
    return IndexVersion.save(folder() / "versions", f"{source}-{kind}-{count}", index)


def glob(paths: Sequence[Path]) -> str:
    """A glob pattern that names these files of one folder."""
    return f"{paths[0].parent}/{{{','.join(path.name for path in paths)}}}"


@dataclass(slots=True)
class Memory:
    """The peak of resident memory of each kind of process, and of all processes together."""

    driver: int = 0
    jvm: int = 0
    workers: int = 0
    total: int = 0
    now: int = 0
    one_worker: int = 0

    def look(self) -> None:
        """Measure once."""
        driver = resident_bytes()
        jvm = workers = 0
        for pid in descendants(os.getpid()):
            resident = resident_bytes(pid)
            if command_name(pid) == "java":
                jvm += resident
            else:
                workers += resident
                self.one_worker = max(self.one_worker, resident)
        self.now = driver + jvm + workers
        self.driver, self.jvm = max(self.driver, driver), max(self.jvm, jvm)
        self.workers, self.total = max(self.workers, workers), max(self.total, self.now)


@contextmanager
def watched(each: Callable[[Memory], None] = lambda memory: None) -> Iterator[Memory]:
    """Measure the memory of this process and its descendants repeatedly while the block runs.

    Resident memory is summed, so shared pages count several times: the result is an upper bound.
    """
    memory = Memory()
    end = threading.Event()

    def look() -> None:
        while not end.wait(EVERY):
            memory.look()
            each(memory)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        end.set()
        thread.join()
        memory.look()


def _with_session(
    progress: Progress,
    function: Callable[..., T],
    start: Callable[[Mapping[str, str]], SparkSession],
    conf: Mapping[str, str],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> T:
    project = str(Path(__file__).resolve().parents[1])
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join([project, *filter(None, inherited)])  # for the workers
    progress("starting Spark")
    spark = start(conf)
    try:
        return function(spark, progress, *args, **kwargs)
    finally:
        spark.stop()

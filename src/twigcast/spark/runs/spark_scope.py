"""A session for the time of a job: started for a pipeline, stopped however the job ends.

What Spark complains of becomes a ``RunError`` in a sentence; Spark's own says it in a hundred lines.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from twigcast.errors import RunError
from twigcast.spark.jvm.session import session
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.failures import complaint

POLL_SECONDS = 1
BETWEEN_SECONDS = 0.05


@contextmanager
def operating(pipeline: Pipeline) -> Iterator[SparkSession]:
    """The session that a pipeline asks for; at the end its queries are stopped, then the session."""
    spark = None
    try:
        spark = start(pipeline)
        yield spark
    except (PySparkException, Py4JError) as error:
        raise RunError(complaint(str(error))) from error
    finally:
        if spark is not None:
            for query in spark.streams.active:
                query.stop()
            spark.stop()


def start(pipeline: Pipeline) -> SparkSession:
    """The session that a pipeline asks for."""
    name = f"twigcast {Path(pipeline.work.path).absolute().parent.name}"
    asked = pipeline.spark
    if asked.master is None:
        return session(name, conf=asked.conf)
    return session(name, asked.master, asked.conf)


def wait(query: StreamingQuery, on_stopping: Callable[[], None] | None = None) -> bool:
    """Wait until the query ends, or until Ctrl-C or a polite kill stops it: then true.  Raises if it failed.

    The batch that is under way is finished; asked a second time, it is given up, and run again, as the same
    batch, at the next start.
    """
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    former = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        while not query.awaitTermination(POLL_SECONDS):
            if asked:
                if on_stopping is not None:
                    on_stopping()
                _stop_between_batches(query, asked)
                return True
        return bool(asked)
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _stop_between_batches(query: StreamingQuery, asked: list[int]) -> None:
    before = _last_batch(query)
    while (
        query.isActive and len(asked) < 2 and query.status["isTriggerActive"] and _last_batch(query) == before
    ):
        time.sleep(BETWEEN_SECONDS)
    if query.isActive:
        # Spark logs a hundred lines of errors for each task that is given up, as if something were wrong.
        SparkContext.getOrCreate().setLogLevel("OFF")
        query.stop()


def _last_batch(query: StreamingQuery) -> int:
    progress = query.lastProgress
    return -1 if progress is None else int(progress["batchId"])


def task_counts(spark: SparkSession) -> tuple[int, int]:
    """Of the stages that are running: how many tasks are done, and how many there are."""
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return (
        sum(stage.numCompletedTasks for stage in stages if stage),
        sum(stage.numTasks for stage in stages if stage),
    )

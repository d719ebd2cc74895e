"""A Spark session for the duration of a run, and how a run is stopped.

Errors of Spark become a ``RunError`` of one sentence; Spark's own messages have a hundred lines.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from pyspark import SparkContext
from pyspark.sql import SparkSession

from twigcast.errors import TwigcastError
from twigcast.spark.jvm.deaths import ENDING_SECONDS, jvm_death
from twigcast.spark.jvm.errors import JvmError
from twigcast.spark.jvm.gateway import end_session, plain_interrupts, stop_session
from twigcast.spark.jvm.session import session
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.pipeline_query import PipelineQuery, run_errors

POLL_SECONDS = 1
BETWEEN_SECONDS = 0.05  # between two looks at whether the current batch has finished


@contextmanager
def session_for(pipeline: Pipeline) -> Iterator[SparkSession]:
    """The session that a pipeline describes; when the block ends, its queries and then the session stop.

    Raises ``RunError`` for errors of Spark in the block.  If the block is interrupted, the JVM is ended.
    """
    with run_errors():
        spark = start_session(pipeline)
        stop = end_session
        with plain_interrupts():
            try:
                yield spark
                stop = stop_session
            except Exception:
                stop = stop_session
                raise
            finally:
                stop(spark)


def start_session(pipeline: Pipeline) -> SparkSession:
    """Start the session that a pipeline describes.

    It logs nothing unless ``spark.log.level`` is set, because what Spark would log is in the errors of runs.
    """
    name = f"twigcast {Path(pipeline.work.path).absolute().parent.name}"
    asked = pipeline.spark
    if asked.master is None:
        spark = session(name, conf=asked.conf)
    else:
        spark = session(name, asked.master, asked.conf)
    spark.sparkContext.setLogLevel(spark.sparkContext.getConf().get("spark.log.level", "OFF") or "OFF")
    return spark


def wait_until_stopped(
    query: PipelineQuery,
    on_stopping: Callable[[], None] | None = None,
    *,
    is_unwanted: Callable[[], bool] = lambda: False,
) -> bool:
    """Wait until the query ends, or until SIGINT or SIGTERM stops it; returns whether it was stopped.

    Raises the error of a query that failed.  After a signal the current batch is finished first.  A second
    signal stops the query at once, and the next start runs the batch again under the same number.
    As after a signal, the query is stopped when ``is_unwanted`` says so.
    """
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    former = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        while not query.awaitTermination(POLL_SECONDS):
            if asked or is_unwanted():
                if on_stopping is not None:
                    on_stopping()
                _stop_between_batches(query, asked)
                return True
        return bool(asked)
    except (TwigcastError, JvmError, ConnectionError):
        if asked and jvm_death(ENDING_SECONDS) is not None:  # a supervisor tells all processes to end
            return True
        raise
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _stop_between_batches(query: PipelineQuery, asked: list[int]) -> None:
    before = _last_batch(query)
    while (
        query.isActive and len(asked) < 2 and query.status["isTriggerActive"] and _last_batch(query) == before
    ):
        time.sleep(BETWEEN_SECONDS)
    if query.isActive:
        # Spark logs a hundred lines of errors for each task that is cancelled.
        SparkContext.getOrCreate().setLogLevel("OFF")
        query.stop()


def _last_batch(query: PipelineQuery) -> int:
    progress = query.lastProgress
    return -1 if progress is None else int(progress["batchId"])


def task_counts(spark: SparkSession) -> tuple[int, int]:
    """The number of finished tasks, and of all tasks, of the running stages; none if Spark has ended."""
    try:
        tracker = spark.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    except (JvmError, ConnectionError):  # the run says so
        return 0, 0
    return (
        sum(stage.numCompletedTasks for stage in stages if stage),
        sum(stage.numTasks for stage in stages if stage),
    )

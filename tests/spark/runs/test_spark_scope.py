"""A session for the duration of a run: how signals stop it, and how its errors are reported."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from twigcast.errors import RunError
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs import spark_scope as room
from twigcast.spark.runs.spark_scope import session_for, task_counts, wait_until_stopped


class Query:
    """A query that ends when it is stopped, with one batch under way until ``finish``."""

    def __init__(self) -> None:
        self.isActive = True
        self.batch = 0
        self.status = {"isTriggerActive": True}

    @property
    def lastProgress(self) -> dict[str, int]:
        return {"batchId": self.batch}

    def awaitTermination(self, timeout: int) -> bool:
        return not self.isActive

    def stop(self) -> None:
        self.isActive = False


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the context, because no Spark runs here whose log level could be set."""

    class Context:
        @staticmethod
        def getOrCreate() -> Any:
            return type("Quiet", (), {"setLogLevel": staticmethod(lambda level: None)})

    monkeypatch.setattr(room, "SparkContext", Context)


def ask(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_query_that_is_asked_to_stop_finishes_its_batch(number: int) -> None:
    """A signal stops the query before the next batch, and the former signal handlers are restored."""
    query, former = Query(), signal.getsignal(number)

    def finish() -> None:
        query.batch = 1

    asked = threading.Timer(0.1, ask, (number,))
    finished = threading.Timer(0.5, finish)
    asked.start()
    finished.start()
    assert wait_until_stopped(query, lambda: None) is True  # type: ignore[arg-type]
    assert (query.batch, query.isActive) == (1, False)
    assert signal.getsignal(number) is former


def test_asked_twice_a_query_gives_its_batch_up() -> None:
    """A second signal stops the query at once."""
    query = Query()
    for delay in (0.1, 0.3):
        threading.Timer(delay, ask, (signal.SIGINT,)).start()
    assert wait_until_stopped(query) is True  # type: ignore[arg-type]
    assert query.batch == 0


def test_a_query_that_ends_by_itself_was_not_stopped() -> None:
    """The result is false for a query that ends by itself."""
    query = Query()
    query.stop()
    assert wait_until_stopped(query) is False  # type: ignore[arg-type]


def test_what_spark_complains_of_is_an_error_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The session is stopped too."""
    stopped = []

    class Session:
        streams = type("Streams", (), {"active": ()})
        stop = staticmethod(lambda: stopped.append(True))

    monkeypatch.setattr(room, "start_session", lambda pipeline: Session())
    with pytest.raises(RunError, match=r"^\[PATH_NOT_FOUND\] no such path$"), session_for(Pipeline.of({})):
        raise AnalysisException("[PATH_NOT_FOUND] no such path\n\tat org.apache.spark")
    assert stopped == [True]


def test_tasks_of_running_stages_are_counted(
    spark: SparkSession, tmp_path: Path, until: Callable[..., None]
) -> None:
    """While a job runs, its finished tasks and all its tasks are known; afterwards there are none."""

    def wait_for_file(number: int) -> int:
        while number and not (tmp_path / "go").exists():
            time.sleep(0.05)
        return number

    job = threading.Thread(target=spark.sparkContext.parallelize(range(3), 3).map(wait_for_file).count)
    job.start()
    try:
        until(lambda: task_counts(spark) == (1, 3))
    finally:
        (tmp_path / "go").touch()
        job.join()
    until(lambda: task_counts(spark) == (0, 0))

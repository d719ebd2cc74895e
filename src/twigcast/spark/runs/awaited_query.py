"""The stream of a site to which no document has come yet: it tells its subscriptions and waits.

Spark takes the columns of a stream from the files that exist, so a query can only start when there is one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from twigcast.errors import TwigcastError
from twigcast.spark.jvm.errors import JvmError
from twigcast.spark.jvm.filesystem import has_files
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.batch import RunState
from twigcast.spark.runs.pipeline_query import PipelineQuery, as_run_error


def awaits_documents(spark: SparkSession, pipeline: Pipeline) -> bool:
    """Whether a pipeline is a site for which another pipeline has not written a document yet."""
    path = pipeline.source.path
    return pipeline.is_site and path is not None and not has_files(spark, path)


class AwaitedQuery(PipelineQuery):
    """A query that starts when the first document has come; until then it writes the plan of the site.

    Then it has all that the query has, and its errors.
    """

    def __init__(self, spark: SparkSession, state: RunState, start: Callable[[], PipelineQuery]) -> None:
        self._spark, self._state, self._start = spark, state, start
        self._query: PipelineQuery | None = None
        self._failure: TwigcastError | None = None
        self._asked = threading.Event()
        self._over = threading.Event()
        """The wait has ended: with a query, a failure, or because the query was stopped."""
        threading.Thread(target=self._wait, daemon=True).start()

    @property
    def isActive(self) -> bool:
        """Whether it waits, or the query is running."""
        return self._query.isActive if self._query is not None else not self._over.is_set()

    @property
    def status(self) -> dict[str, Any]:
        """What the query is doing."""
        if self._query is not None:
            return dict(self._query.status)
        return {"message": "Waiting for documents", "isDataAvailable": False, "isTriggerActive": False}

    @property
    def lastProgress(self) -> Any:
        """The progress of the last batch, if there was one."""
        return self._query.lastProgress if self._query is not None else None

    def awaitTermination(self, timeout: int | None = None) -> bool | None:
        """Wait for the end of the query; with a timeout in seconds, return whether it has ended."""
        if not self._over.wait(timeout):
            return False
        if self._failure is not None:
            raise self._failure
        return True if self._query is None else self._query.awaitTermination(timeout)

    def processAllAvailable(self) -> None:
        """Wait until all documents that have come are processed."""
        if not awaits_documents(self._spark, self._state.pipeline):
            self._over.wait()
        if self._failure is not None:
            raise self._failure
        if self._query is not None:
            self._query.processAllAvailable()

    def stop(self) -> None:
        """Stop waiting, or the query."""
        self._asked.set()
        self._over.wait()
        if self._query is not None:
            self._query.stop()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._query is None:
            raise AttributeError(f"{name}: no document has come yet")
        return getattr(self._query, name)

    def _wait(self) -> None:
        try:
            while not self._asked.wait(self._state.pipeline.stream.interval_seconds):
                if not awaits_documents(self._spark, self._state.pipeline):
                    self._query = self._start()
                    return
                self._state.write_plan()
        except (TwigcastError, OSError, PySparkException, JvmError) as error:
            if not self._asked.is_set():
                self._failure = as_run_error(error)
        finally:
            self._over.set()

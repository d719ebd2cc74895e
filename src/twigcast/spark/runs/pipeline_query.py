"""The running query of a pipeline: a ``StreamingQuery`` that fails with the error of the batch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from twigcast.errors import RunError, StageError, TwigcastError
from twigcast.spark.jvm.deaths import death
from twigcast.spark.jvm.error_text import complaint
from twigcast.spark.jvm.errors import JvmError
from twigcast.spark.pipeline import missing_format, without_format


class PipelineQuery:
    """A ``StreamingQuery``, with all its methods, that raises the error of a batch unchanged.

    Batches append their ``TwigcastError`` to ``failures``; any other failure is raised as ``RunError``.
    ``look`` looks for new documents, where Spark does not do that itself, and returns whether there are any.
    """

    def __init__(
        self, query: StreamingQuery, failures: list[TwigcastError], look: Callable[[], bool] = lambda: False
    ) -> None:
        self.query = query
        self._failures = failures
        self._look = look
        self._stopped = threading.Event()

    def keep_looking(self, seconds: float) -> None:
        """Look for new documents whenever the query has nothing to do, until it ends; not to be called twice.

        If that fails, the query is stopped and raises the error.
        """
        threading.Thread(target=self._keep_looking, args=(seconds,), daemon=True).start()

    @property
    def isActive(self) -> bool:
        """Whether the query is running."""
        return bool(self.query.isActive)

    def awaitTermination(self, timeout: int | None = None) -> bool | None:
        """Wait for the end of the query; with a timeout in seconds, return whether it has ended."""
        with self._translated():
            ended = self.query.awaitTermination(timeout)
            if self._failures and not self.isActive:
                raise self._failures[-1]
        return ended

    def processAllAvailable(self) -> None:
        """Wait until all documents that the source has now are processed."""
        with self._translated():
            self.query.processAllAvailable()
            while self._look():
                self.query.processAllAvailable()

    def stop(self) -> None:
        """Stop the query."""
        self._stopped.set()
        self.query.stop()

    def __getattr__(self, name: str) -> Any:
        if name == "query":  # while a copy is being made
            raise AttributeError(name)
        return getattr(self.query, name)

    def _keep_looking(self, seconds: float) -> None:
        try:
            while not self._stopped.wait(seconds) and self.query.isActive:
                if not self.query.status["isTriggerActive"]:
                    self._look()
        except (PySparkException, JvmError, ConnectionError):
            pass  # Spark has ended, and the query with it
        except (TwigcastError, OSError) as error:
            if not self._stopped.is_set():
                self._failures.append(as_run_error(error))
                self.query.stop()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (StreamingQueryException, JvmError, ConnectionError) as error:
            found = death(error)  # the batch that it cut off has failed for another reason
            if found is None and self._failures:
                raise self._failures[-1] from None
            raise found or as_run_error(error) from error


@contextmanager
def run_errors() -> Iterator[None]:
    """Raise an error of Spark in the block as a ``TwigcastError`` of one sentence."""
    try:
        yield
    except (PySparkException, JvmError, ConnectionError) as error:
        raise as_run_error(error) from error


def as_run_error(error: Exception) -> TwigcastError:
    """The error of a run as one sentence; an error of the operating system gets the name of its file."""
    if isinstance(error, TwigcastError):
        return error
    if (found := death(error)) is not None:
        return found
    if isinstance(error, PySparkException | JvmError):
        format = missing_format(str(error))
        if format is not None:
            return StageError(without_format(format), code="format")
        return RunError(complaint(str(error)))
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return RunError(f"{name}{error.strerror or error}")
    return RunError(complaint(f"{type(error).__name__}: {error}"))

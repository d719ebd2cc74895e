"""The running query of a pipeline: a ``StreamingQuery`` that fails with the error of the batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from twigcast.errors import RunError, TwigcastError
from twigcast.spark.jvm.error_text import complaint


class PipelineQuery:
    """A ``StreamingQuery``, with all its methods, that raises the error of a batch unchanged.

    Batches append their ``TwigcastError`` to ``failures``; any other failure is raised as ``RunError``.
    """

    def __init__(self, query: StreamingQuery, failures: list[TwigcastError]) -> None:
        self.query = query
        self._failures = failures

    @property
    def isActive(self) -> bool:
        """Whether the query is running."""
        return bool(self.query.isActive)

    def awaitTermination(self, timeout: int | None = None) -> bool | None:
        """Wait for the end of the query; with a timeout in seconds, return whether it has ended."""
        with self._translated():
            return self.query.awaitTermination(timeout)

    def processAllAvailable(self) -> None:
        """Wait until all documents that the source has now are processed."""
        with self._translated():
            self.query.processAllAvailable()

    def stop(self) -> None:
        """Stop the query."""
        self.query.stop()

    def __getattr__(self, name: str) -> Any:
        if name == "query":  # while a copy is being made
            raise AttributeError(name)
        return getattr(self.query, name)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except StreamingQueryException as error:
            if self._failures:
                raise self._failures[-1] from None
            raise RunError(complaint(str(error))) from error

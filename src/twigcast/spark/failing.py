"""A batch that fails says so once, in a sentence.

What is wrong in the words of this package (a ``TwigcastError``) would come out of a stream as Spark tells it:
in two hundred lines, of which one is ours.  So the query remembers what failed and raises that, and Spark's
log of the same is held back.
"""

from __future__ import annotations

from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from twigcast.errors import TwigcastError

_LOGGER = "org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution"


class PipelineQuery(StreamingQuery):
    """A query that raises what failed in a batch as it was; its batches put that into ``failures``."""

    def __init__(self, started: StreamingQuery, failures: list[TwigcastError]) -> None:
        super().__init__(started._jsq)
        self._failures = failures

    def awaitTermination(self, timeout: int | None = None) -> bool | None:
        try:
            return super().awaitTermination(timeout)
        except StreamingQueryException:
            if self._failures:
                raise self._failures[-1] from None
            raise


_levels: list[Any] = []  # of the log that is held back, the level that it had


def hold_back_log(spark: SparkSession) -> None:
    """Let Spark not log how a query ends: what failed is known here."""
    log4j = _log4j(spark)
    if not _levels:
        _levels.append(log4j.LogManager.getLogger(_LOGGER).getLevel())
        log4j.core.config.Configurator.setLevel(_LOGGER, log4j.Level.OFF)


def release_log(spark: SparkSession) -> None:
    """Let Spark log how queries end, as it did before."""
    while _levels:
        _log4j(spark).core.config.Configurator.setLevel(_LOGGER, _levels.pop())


def _log4j(spark: SparkSession) -> Any:
    jvm: Any = spark._jvm
    return jvm.org.apache.logging.log4j

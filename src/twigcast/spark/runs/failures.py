"""A batch that fails says so once, in a sentence.

What is wrong in the words of this package (a ``TwigcastError``) would come out of a stream as Spark tells it:
in two hundred lines, of which one is ours.  So the query remembers what failed and raises that, and Spark's
log of the same is held back.  What Spark itself complains of becomes a ``RunError`` in a sentence.
"""

from __future__ import annotations

import re
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from twigcast.errors import RunError, TwigcastError

LONGEST = 600  # characters of a complaint
_CALLED = "An error occurred while calling"  # how Python tells of an error in Java
_CALLED_BACK = "An exception was raised by the Python Proxy"  # how Java tells of one in Python
_LOGGER = "org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution"


class PipelineQuery(StreamingQuery):
    """A query that raises what failed in a batch as it was; its batches put that into ``failures``.

    Anything else that ends it is a ``RunError``.
    """

    def __init__(self, started: StreamingQuery, failures: list[TwigcastError]) -> None:
        super().__init__(started._jsq)
        self._failures = failures

    def awaitTermination(self, timeout: int | None = None) -> bool | None:
        try:
            return super().awaitTermination(timeout)
        except StreamingQueryException as error:
            if self._failures:
                raise self._failures[-1] from None
            raise RunError(complaint(str(error))) from error


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


def complaint(text: str) -> str:
    """The sentence in what Spark says, without the trace.

    That is the last line of a Python error, the cause of one in Java, and else the first line.
    """
    raised = re.findall(
        r"^(?:pyspark\.\S+: )?((?:\w+\.)*\w*(?:Error|Exception|Warning): .*)$", text, re.MULTILINE
    )
    python = "Traceback (most recent call last)" in text
    causes = re.findall(r"^(?:Caused by)?: (?:[\w.$]+: )?(.+)$", text, re.MULTILINE)
    causes = [cause for cause in causes if not cause.startswith(_CALLED_BACK)]
    if python and raised and _CALLED not in raised[-1]:
        sentence = raised[-1]
    elif _CALLED in text and causes:
        sentence = causes[-1]
    else:
        sentence = text.strip().partition("\n")[0]
    return sentence if len(sentence) <= LONGEST else f"{sentence[: LONGEST - 1]}…"

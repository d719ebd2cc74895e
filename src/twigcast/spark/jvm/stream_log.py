"""Silences Spark's log of how a stream ends or a task fails, where twigcast raises the reason itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pyspark.sql import SparkSession

from twigcast.spark.jvm.private_api import STREAM_LOGGER, MissingApi, using

LOGGERS = (
    "org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution",  # since Spark 4.1
    "org.apache.spark.sql.execution.streaming.MicroBatchExecution",
)
_former_levels: list[tuple[str, Any]] = []


def silence_stream_log(spark: SparkSession) -> None:
    """Keep Spark from logging how queries end, until ``restore_stream_log``."""
    with suppress(MissingApi), using(STREAM_LOGGER):
        log4j = _log4j(spark)
        for name in LOGGERS if not _former_levels else ():
            _former_levels.append((name, log4j.LogManager.getLogger(name).getLevel()))
            log4j.core.config.Configurator.setLevel(name, log4j.Level.OFF)


@contextmanager
def silent_tasks(spark: SparkSession) -> Iterator[None]:
    """Keep Spark from logging how tasks fail in the block."""
    name, former = "org.apache.spark.scheduler.TaskSetManager", None
    with suppress(MissingApi), using(STREAM_LOGGER):
        former = _log4j(spark).LogManager.getLogger(name).getLevel()
        _log4j(spark).core.config.Configurator.setLevel(name, _log4j(spark).Level.OFF)
    try:
        yield
    finally:
        if former is not None:
            with suppress(MissingApi), using(STREAM_LOGGER):
                _log4j(spark).core.config.Configurator.setLevel(name, former)


def restore_stream_log(spark: SparkSession) -> None:
    """Let Spark log how queries end, at the levels from before ``silence_stream_log``."""
    with suppress(MissingApi), using(STREAM_LOGGER):
        while _former_levels:
            _log4j(spark).core.config.Configurator.setLevel(*_former_levels.pop())


def _log4j(spark: SparkSession) -> Any:
    jvm: Any = spark._jvm
    return jvm.org.apache.logging.log4j

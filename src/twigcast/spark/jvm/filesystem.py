"""Files and folders as Spark finds them, on this machine or behind a scheme that it knows."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession


def exists(spark: SparkSession, pattern: str) -> bool:
    """Whether there is a file or a folder that fits the pattern."""
    system, path = _located(spark, pattern)
    return bool(system.globStatus(path))


def is_file(spark: SparkSession, path: str) -> bool:
    """Whether there is a file, rather than a folder, a pattern, or nothing."""
    system, located = _located(spark, path)
    return bool(system.exists(located) and system.getFileStatus(located).isFile())


def is_on_this_machine(spark: SparkSession, pattern: str) -> bool:
    """Whether what fits the pattern is local, and so are all workers."""
    system, _ = _located(spark, pattern)
    return str(spark.sparkContext.master).startswith("local") and str(system.getScheme()) == "file"


def remove(spark: SparkSession, path: str) -> None:
    """Leave no file or folder there, nor anything below it."""
    system, located = _located(spark, path)
    system.delete(located, True)


def _located(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Its file system, and the path as that one takes it."""
    jvm: Any = spark._jvm
    located = jvm.org.apache.hadoop.fs.Path(path)
    return located.getFileSystem(spark._jsc.hadoopConfiguration()), located

"""Files and folders at paths as Spark understands them: local, or behind a scheme that Spark knows.

Local paths are handled by Python.  Remote ones are left to Hadoop's file systems, which have the schemes and
credentials that Spark has, or, without access to those, to a read by Spark.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from twigcast.spark.jvm.private_api import HADOOP_FILESYSTEM, MissingApi, using
from twigcast.system import without_scheme


def exists(spark: SparkSession, folder: str, child: str | None = None) -> bool:
    """Whether there is such a folder or file; with ``child``, whether a name in it matches that pattern."""
    if is_local(spark, folder):
        path = local_path(folder)
        return path.exists() if child is None else any(path.glob(child))
    pattern = folder if child is None else f"{folder.rstrip('/')}/{child}"
    try:
        with using(HADOOP_FILESYSTEM):
            system, located = _located(spark, pattern)
            return bool(system.globStatus(located))
    except MissingApi:
        return _first_path(spark, pattern) is not None


def has_files(spark: SparkSession, path: str) -> bool:
    """Whether there is a file, or a folder with a file that Spark does not leave out by its name.

    A remote path only has to exist.
    """
    if not is_local(spark, path):
        return exists(spark, path)
    root = local_path(path)
    for _, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        if any(not name.startswith((".", "_")) for name in files):
            return True
    return root.is_file()


def is_file(spark: SparkSession, path: str) -> bool:
    """Whether there is a file, rather than a folder, a glob pattern, or nothing."""
    if is_local(spark, path):
        return local_path(path).is_file()
    try:
        with using(HADOOP_FILESYSTEM):
            system, located = _located(spark, path)
            return bool(system.exists(located) and system.getFileStatus(located).isFile())
    except MissingApi:
        return _first_path(spark, path) == path


def remove(spark: SparkSession, path: str) -> None:
    """Remove a folder and everything in it; raises ``MissingApi`` if a remote folder cannot be removed."""
    if is_local(spark, path):
        shutil.rmtree(local_path(path), ignore_errors=True)
        return
    with using(HADOOP_FILESYSTEM):
        system, located = _located(spark, path)
        system.delete(located, True)


def is_readable_by_workers(spark: SparkSession, path: str) -> bool:
    """Whether workers can open what is at the path themselves: it is local, and so are all workers."""
    return str(spark.sparkContext.master).startswith("local") and is_local(spark, path)


def is_local(spark: SparkSession, path: str) -> bool:
    """Whether a path is on a file system of this machine, mounted ones included."""
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):/", path)
    return (scheme[1] if scheme is not None else _default_scheme(spark)) == "file"


def literal_path(path: str) -> str:
    """A path as Spark is to be given it, so that characters of glob patterns in it stand for themselves."""
    return re.sub(r"([][{}*?\\\\])", r"\\\1", path)


def local_path(path: str) -> Path:
    """A local path without the scheme that Spark puts before it."""
    return Path(without_scheme(path))


def _default_scheme(spark: SparkSession) -> str:
    """The scheme of paths that have none."""
    try:
        with using(HADOOP_FILESYSTEM):
            configuration: Any = spark._jsc.hadoopConfiguration()
            default = configuration.get("fs.defaultFS")
    except MissingApi:
        default = spark.conf.get("spark.hadoop.fs.defaultFS", None)
    return urlsplit(str(default or "file:///")).scheme


def _located(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """The Hadoop file system of a path, and the path as a Hadoop object."""
    jvm: Any = spark._jvm
    located = jvm.org.apache.hadoop.fs.Path(path)
    return located.getFileSystem(spark._jsc.hadoopConfiguration()), located


def _first_path(spark: SparkSession, pattern: str) -> str | None:
    """The path of the first file that Spark reads at or below a path; the path itself if all are empty."""
    try:
        row = spark.read.format("binaryFile").load(pattern).select("path").first()
    except AnalysisException:
        return None
    return pattern if row is None else str(row["path"])

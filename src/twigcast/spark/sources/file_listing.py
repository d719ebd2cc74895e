"""Lists the files of a source with Spark, and adds the empty files that Spark leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.jvm.empty_files import empty_files, empty_files_of_micro_batch
from twigcast.spark.sources.empty_file_log import EmptyFileLog

FILE_COLUMNS = "path string, modificationTime timestamp, length long, content binary"
"""The columns of Spark's format ``binaryFile``."""

PLACE_COLUMNS = ("path", "length")


@dataclass(frozen=True, slots=True)
class FileListing:
    """The files below ``path``, which is a file, a folder, or a glob pattern of either.

    ``options`` are those of Spark's format ``binaryFile``, and ``stream_options`` those for streams only.
    """

    path: str
    options: Mapping[str, str] = field(default_factory=dict)
    stream_options: Mapping[str, str] = field(default_factory=dict)

    def list(self, spark: SparkSession, *, streaming: bool) -> DataFrame:
        """The files, in the columns of ``binaryFile``; a stream does not have the empty files."""
        if streaming:
            return self._load(spark.readStream, {**self.stream_options, **self.options})
        files = self._load(spark.read, self.options)
        empty = empty_files(files)
        return files.unionByName(_as_table(spark, empty)) if empty else files

    def empty_files(
        self, spark: SparkSession, batch: DataFrame, number: int, log: EmptyFileLog
    ) -> DataFrame | None:
        """The empty files of a micro-batch, in the columns of ``binaryFile``; none if there are none."""

        def relist() -> DataFrame:
            return self._load(spark.read, self.options)

        paths = log.take(number, lambda taken: empty_files_of_micro_batch(spark, batch, relist, taken))
        return _as_table(batch.sparkSession, paths) if paths else None

    def complete(self, spark: SparkSession, batch: DataFrame, number: int, log: EmptyFileLog) -> DataFrame:
        """Add the empty files that Spark leaves out to a micro-batch of ``PLACE_COLUMNS``."""
        empty = self.empty_files(spark, batch, number, log)
        return batch if empty is None else batch.unionByName(empty.select(*PLACE_COLUMNS))

    def _load(self, reader: Any, options: Mapping[str, str]) -> DataFrame:
        reader = reader.format("binaryFile").schema(FILE_COLUMNS)
        loaded: DataFrame = reader.options(**{"recursiveFileLookup": "true", **options}).load(self.path)
        return loaded


def plain_path(path: Column) -> Column:
    """The path of a file, without the scheme ``file:`` that Spark puts before a local path."""
    return F.regexp_replace(path, "^file:/+", "/")


def _as_table(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    return spark.createDataFrame([(path, None, 0, b"") for path in paths], FILE_COLUMNS).coalesce(1)

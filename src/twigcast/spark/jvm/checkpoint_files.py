"""The files that each batch of a stream has had, from the checkpoint of Spark.

    checkpoint/sources/0/7       v1, then {"path": "file:///feed/a.parquet", "timestamp": …, "batchId": 7}, …
    checkpoint/sources/0/9.compact   the same, with the lines of all files before
    checkpoint/offsets/7         v1, metadata, {"logOffset": 7}

The numbers in the log of the source are those of batches, unless a process was killed between the two writes:
the offsets say which of them a batch has.  Spark keeps the offsets of the last hundred batches.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from twigcast.spark.jvm.private_api import CHECKPOINT_LOG, MissingApi, using
from twigcast.system import without_scheme


def batch_files(spark: SparkSession, checkpoint: str) -> dict[int, list[str]]:
    """The paths of the files of each batch; raises ``MissingApi`` if the log is not in the known format."""
    with using(CHECKPOINT_LOG):
        ends = sorted(
            (int(name.rpartition("/")[2]), int(value["logOffset"]))
            for name, value in _values(spark, f"{checkpoint}/offsets")
            if "logOffset" in value
        )
        offsets = [end for _, end in ends]
        found: dict[int, dict[str, None]] = {}
        for _, value in _values(spark, f"{checkpoint}/sources/0"):
            if not {"path", "batchId"} <= set(value):
                raise MissingApi(f"{CHECKPOINT_LOG.name}: {value}")
            number = int(value["batchId"])
            batch = number
            if ends and number <= offsets[-1]:
                place = bisect_left(offsets, number)
                batch = ends[place][0] if place else max(0, ends[0][0] - (offsets[0] - number))
            elif ends:
                continue  # listed for a batch that has not begun
            found.setdefault(batch, {})[_plain(str(value["path"]))] = None
        return {batch: list(paths) for batch, paths in sorted(found.items())}


def _plain(uri: str) -> str:
    """The path of a file, without the scheme ``file:`` that Spark puts before a local path."""
    return without_scheme(unquote(uri))


def _values(spark: SparkSession, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON objects in the lines of the files of a folder, with the paths of the files."""
    try:
        rows = spark.read.text(folder).select(F.input_file_name().alias("name"), "value").collect()
    except AnalysisException:  # there is none: the stream has had no batch
        return
    for row in rows:
        if row["value"].startswith("{"):
            try:
                yield row["name"], json.loads(row["value"])
            except ValueError as error:
                raise MissingApi(f"{CHECKPOINT_LOG.name}: {error}") from error

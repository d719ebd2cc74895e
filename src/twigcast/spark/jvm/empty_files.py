"""Looks at the files that Spark has listed: how many there are, and which of them are empty.

Spark lists empty files and then leaves them out of what it reads.

An empty file is a document that cannot be read, and belongs to the dead letters like any other.  The files
that Spark has listed are in the plan of a DataFrame; those of a micro-batch are in the plan that the stream
is executing:

    listed    a.xml  b.xml  c.xml  _metadata         plan ── relation ── file index
    read      a.xml         c.xml
    empty            b.xml                           listed, of length 0, and not a file of Spark's own

Cost: two counts if no file is empty, else one string with everything that was listed.
Rejected: listing the folder again, which may find other files than Spark did, and asking for the length of
each file, which on an object store is one request each.  The first is the fallback for streams.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.jvm.private_api import FILE_INDEX, MICRO_BATCH_PLAN, MissingApi, using
from twigcast.system import without_scheme

FILES_PER_STRING = 10_000
_STATUS = re.compile(r"path=(.*); isDirectory=false; length=(\d+); ", re.DOTALL)


def empty_files(files: DataFrame) -> list[str]:
    """The paths of the empty files of a batch DataFrame of the format ``binaryFile``, sorted."""
    try:
        with using(FILE_INDEX):
            plan: Any = files
            return _of_plan(files.sparkSession, plan._jdf.queryExecution().analyzed())
    except MissingApi:
        return _listed_but_not_read(files)


def listed_size(files: DataFrame) -> tuple[int, int]:
    """The number of files of a batch DataFrame of the format ``binaryFile``, and their bytes together."""
    try:
        with using(FILE_INDEX):
            plan: Any = files
            indexes = list(_file_indexes(plan._jdf.queryExecution().analyzed()))
            return sum(each.allFiles().size() for each in indexes), sum(
                each.sizeInBytes() for each in indexes
            )
    except MissingApi:
        row = files.agg(F.count("*"), F.coalesce(F.sum("length"), F.lit(0))).collect()[0]
        return int(row[0]), int(row[1])


def empty_files_of_micro_batch(
    spark: SparkSession, batch: DataFrame, relist: Callable[[], DataFrame], taken: Iterable[str]
) -> list[str]:
    """The paths of the empty files of the micro-batch that a stream of ``spark`` is executing, sorted.

    To be called in ``foreachBatch``.  ``relist`` lists the source as a batch, and ``taken`` has the empty
    files of earlier batches: both are for the fallback.
    """
    try:
        with using(MICRO_BATCH_PLAN):
            query_id = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
            query: Any = spark.streams.get(str(query_id))
            return _of_plan(spark, query._jsq.streamingQuery().lastExecution().analyzed())
    except MissingApi:
        return sorted(set(empty_files(relist())) - set(taken))


def _listed_but_not_read(files: DataFrame) -> list[str]:
    listed = {unquote(uri) for uri in files.inputFiles()}
    read = {_normal(row["path"]) for row in files.select("path").toLocalIterator()}
    return sorted(path for path in listed if _is_data(path) and _normal(path) not in read)


def _normal(path: str) -> str:
    """A local path in one spelling: Spark writes ``file:/`` and ``file:///``."""
    return without_scheme(path)


def _of_plan(spark: SparkSession, plan: Any) -> list[str]:
    return sorted({path for index in _file_indexes(plan) for path in _empty_paths(spark, index)})


def _file_indexes(plan: Any) -> Iterator[Any]:
    """The file indexes of a plan."""
    leaves = plan.collectLeaves()
    for number in range(leaves.size()):
        leaf = leaves.apply(number)
        if leaf.getClass().getSimpleName() == "LogicalRelation":
            yield leaf.relation().location()


def _empty_paths(spark: SparkSession, index: Any) -> Iterator[str]:
    jvm: Any = spark._jvm
    unfiltered = jvm.PythonUtils.toSeq([])
    listed, read = index.allFiles(), index.listFiles(unfiltered, unfiltered)
    if listed.size() == sum(read.apply(number).files().size() for number in range(read.size())):
        return
    groups = listed.grouped(FILES_PER_STRING)
    while groups.hasNext():
        for text in groups.next().mkString("\0").split("\0"):
            status = _STATUS.search(text)
            if status is None:
                raise MissingApi(f"Hadoop describes a file status in an unknown format: {text}")
            if status[2] == "0" and _is_data(status[1]):
                yield status[1]


def _is_data(path: str) -> bool:
    """Whether Spark would read a file of this name if it had bytes."""
    name = path.rpartition("/")[2]
    return not name.startswith(".") and not (name.startswith("_") and "=" not in name)

"""Files of no bytes, which Spark lists and then leaves out of what it reads.

Each is a document that cannot be read, and belongs to the dead letters like any other.  What Spark has listed
stands in the plan of a table, and that of a stream's batch in the plan of the batch that is running:

    listed    a.xml  b.xml  c.xml  _metadata         plan ── relation ── location
    read      a.xml         c.xml
    empty            b.xml                           listed, of length 0, and not one of Spark's own

Cost: two counts where no file is empty, else one text with all that was listed.
Rejected: to list the folder again, which finds other files than Spark did; to ask for the length of each
file, which on an object store is a request for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, SparkSession

FILES = "path string, modificationTime timestamp, length long, content binary"
"""A table of files, in the columns of Spark's ``binaryFile``."""

AT_ONCE = 10_000  # files in one text
_STATUS = re.compile(r"path=(.*); isDirectory=false; length=(\d+); ", re.DOTALL)


def with_empty_files(found: DataFrame) -> DataFrame:
    """The files of a table that is no stream, those of no bytes among them."""
    plan: Any = found
    empty = _table(found.sparkSession, plan._jdf.queryExecution().analyzed())
    return found if empty is None else found.unionByName(empty)


def empty_files_of_batch(spark: SparkSession, batch: DataFrame) -> DataFrame | None:
    """The files of no bytes in the batch that a stream of ``spark`` is running; none where there are none.

    To be called where Spark gives the batch out, as in ``foreachBatch``.
    """
    query: Any = spark.streams.get(str(batch.sparkSession.sparkContext.getLocalProperty(_QUERY)))
    return _table(batch.sparkSession, query._jsq.streamingQuery().lastExecution().analyzed())


_QUERY = "sql.streaming.queryId"


def _table(spark: SparkSession, plan: Any) -> DataFrame | None:
    paths = sorted({path for location in _locations(plan) for path in _empty_paths(spark, location)})
    if not paths:
        return None
    return spark.createDataFrame([(path, None, 0, b"") for path in paths], FILES).coalesce(1)


def _locations(plan: Any) -> Iterator[Any]:
    """Where the files of a plan are listed."""
    leaves = plan.collectLeaves()
    for number in range(leaves.size()):
        leaf = leaves.apply(number)
        if leaf.getClass().getSimpleName() == "LogicalRelation":
            yield leaf.relation().location()


def _empty_paths(spark: SparkSession, location: Any) -> Iterator[str]:
    jvm: Any = spark._jvm
    unfiltered = jvm.PythonUtils.toSeq([])
    listed, read = location.allFiles(), location.listFiles(unfiltered, unfiltered)
    if listed.size() == sum(read.apply(number).files().size() for number in range(read.size())):
        return
    groups = listed.grouped(AT_ONCE)
    while groups.hasNext():
        for text in groups.next().mkString("\0").split("\0"):
            status = _STATUS.search(text)
            assert status is not None, text
            if status[2] == "0" and _is_data(status[1]):
                yield status[1]


def _is_data(path: str) -> bool:
    """Whether Spark would take a file of this name for data if it had bytes."""
    name = path.rpartition("/")[2]
    return not name.startswith(".") and not (name.startswith("_") and "=" not in name)

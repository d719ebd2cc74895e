"""The table of dead letters: documents that could not be read, with bytes, error, batch and time.

A document whose parts are too large for one subscription is a letter with that ``subscription``, and a retry
delivers it to that subscription only.
A letter of a document in fragments has the number of the ``fragment``, and as body the fragment if that is at
fault; it is not retried, since the other fragments are gone: the document must be sent again.
A letter is open until a retry takes it; then it is settled.  If the retry fails too, the document becomes a
new letter, in the batch of the retry; so a bad document has one open letter and a history of settled ones.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.columns import error_condition
from twigcast.spark.jvm.private_api import MissingApi
from twigcast.spark.outputs.batch_folders import remove_batch, write_batch
from twigcast.spark.outputs.delivery_scope import DeliveryScope
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.journal import Journal
from twigcast.spark.stages.delivering import dead_letters

LETTERS = (
    "doc_id string, body binary, code string, message string, line int, column int, offset long,"
    " index_version string, prolog binary, subscription string, publisher string, mapping string,"
    " fragment int, time timestamp, batch int"
)
_OPTIONAL = {
    "prolog": "binary",
    "subscription": "string",
    "publisher": "string",
    "mapping": "string",
    "fragment": "int",
}
SETTLED = "letter_batch int, doc_id string, batch int"


def write_letters(
    hits: DataFrame,
    path: str,
    batch: int,
    time: datetime,
    count: int,
    more: DataFrame | None = None,
    scope: DeliveryScope | None = None,
) -> int:
    """Write the letters of a batch, ``count`` of them, replacing those of an earlier attempt.

    ``more`` are refused deliveries.  Returns how many were written, without those that ``scope`` leaves out.
    """
    if count and scope is not None and not scope.is_whole:
        count = scope.new_letters(_letters(hits, more), batch).count()
    if not count:  # writing an empty folder would take a Spark job for each batch
        with suppress(MissingApi):
            remove_batch(hits.sparkSession, path, batch)
            return 0
    letters = _letters(hits, more)
    if scope is not None:
        letters = scope.new_letters(letters, batch)
    write_batch(letters.withColumn("time", F.lit(time)), path, batch)
    return count


def _letters(hits: DataFrame, more: DataFrame | None) -> DataFrame:
    """The letters of hits and refused deliveries, in all columns."""
    letters = dead_letters(hits)
    for name, kind in _OPTIONAL.items():
        if name not in letters.columns:
            letters = letters.withColumn(name, F.lit(None).cast(kind))
    return letters if more is None else letters.unionByName(more, allowMissingColumns=True)


def read_letters(spark: SparkSession, pipeline: Pipeline) -> DataFrame:
    """All dead letters of a pipeline, settled ones included."""
    return _read(spark, pipeline.dead_letters.path, LETTERS)


def open_letters(spark: SparkSession, pipeline: Pipeline) -> DataFrame:
    """The dead letters of a pipeline that no retry has taken."""
    settled = settled_letters(spark, pipeline).select(
        F.col("letter_batch").alias("settled_batch"), F.col("doc_id").alias("settled_id")
    )
    letters = read_letters(spark, pipeline)
    return letters.join(settled, _same(letters, settled), "left_anti")


def settled_letters(spark: SparkSession, pipeline: Pipeline) -> DataFrame:
    """The letters (``letter_batch``, ``doc_id``) that retries (``batch``) have taken."""
    begun = [batch for batch in Journal(pipeline.work.journal).batches() if batch < 0]
    return _read(spark, settled_path(pipeline), SETTLED).where(F.col("batch").isin(begun))


def letters_of_retry(spark: SparkSession, pipeline: Pipeline, batch: int) -> DataFrame:
    """The letters that a retry has taken."""
    settled = (
        _read(spark, settled_path(pipeline), SETTLED)
        .where(F.col("batch") == batch)
        .select(F.col("letter_batch").alias("settled_batch"), F.col("doc_id").alias("settled_id"))
    )
    letters = read_letters(spark, pipeline)
    return letters.join(settled, _same(letters, settled), "left_semi")


def settled_path(pipeline: Pipeline) -> str:
    """The table of letters that retries have taken: beside the checkpoint, where workers can write."""
    return f"{pipeline.work.checkpoint.rstrip('/')}-retries"


def _same(letters: DataFrame, settled: DataFrame) -> Column:
    same_id = letters["doc_id"].eqNullSafe(settled["settled_id"])
    return (letters["batch"] == settled["settled_batch"]) & same_id


def _read(spark: SparkSession, path: str, schema: str) -> DataFrame:
    """A table in batch folders; it is empty if no batch was written yet."""
    try:
        return spark.read.schema(schema).parquet(path)
    except AnalysisException as error:
        if error_condition(error) != "PATH_NOT_FOUND":
            raise
        return spark.createDataFrame([], schema)

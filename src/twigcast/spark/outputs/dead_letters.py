"""The table of documents that could not be read: with their bytes, the reason, its place, the batch and when.

A letter is open until a retry takes it up.  Where the retry fails, the document is a letter again, of the
retry's own batch; so each bad document has one open letter, and a history of settled ones.
"""

from __future__ import annotations

from datetime import datetime

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.outputs.sinks import remove_batch, write_batch
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.journal import Journal
from twigcast.spark.stages.delivering import dead_letters

LETTERS = (
    "doc_id string, body binary, code string, message string, line int, column int, offset long,"
    " index_version string, prolog binary, time timestamp, batch int"
)
SETTLED = "letter_batch int, doc_id string, batch int"


def write_letters(hits: DataFrame, path: str, batch: int, time: datetime, count: int) -> None:
    """Write the letters of a batch, ``count`` of them, in the place of those of a former try."""
    if not count:  # an empty folder for each batch would cost a job for each batch
        remove_batch(hits.sparkSession, path, batch)
        return
    letters = dead_letters(hits)
    if "prolog" not in letters.columns:
        letters = letters.withColumn("prolog", F.lit(None).cast("binary"))
    write_batch(letters.withColumn("time", F.lit(time)), path, batch)


def read_letters(spark: SparkSession, pipeline: Pipeline) -> DataFrame:
    """All dead letters of a pipeline, those that a retry took up too."""
    return _read(spark, pipeline.dead_letters.path, LETTERS)


def open_letters(spark: SparkSession, pipeline: Pipeline) -> DataFrame:
    """The dead letters of a pipeline that no retry has taken up."""
    settled = settled_letters(spark, pipeline).select(
        F.col("letter_batch").alias("settled_batch"), F.col("doc_id").alias("settled_id")
    )
    letters = read_letters(spark, pipeline)
    return letters.join(settled, _same(letters, settled), "left_anti")


def settled_letters(spark: SparkSession, pipeline: Pipeline) -> DataFrame:
    """Which letters (``letter_batch``, ``doc_id``) were taken up by which retry (``batch``)."""
    begun = [batch for batch in Journal(pipeline.work.journal).batches() if batch < 0]
    return _read(spark, settled_path(pipeline), SETTLED).where(F.col("batch").isin(begun))


def letters_of_retry(spark: SparkSession, pipeline: Pipeline, batch: int) -> DataFrame:
    """The letters that a retry has taken up."""
    settled = (
        _read(spark, settled_path(pipeline), SETTLED)
        .where(F.col("batch") == batch)
        .select(F.col("letter_batch").alias("settled_batch"), F.col("doc_id").alias("settled_id"))
    )
    letters = read_letters(spark, pipeline)
    return letters.join(settled, _same(letters, settled), "left_semi")


def settled_path(pipeline: Pipeline) -> str:
    """Where it is kept which letters were taken up: beside the checkpoint, where the workers can write."""
    return f"{pipeline.work.checkpoint.rstrip('/')}-retries"


def _same(letters: DataFrame, settled: DataFrame) -> Column:
    same_id = letters["doc_id"].eqNullSafe(settled["settled_id"])
    return (letters["batch"] == settled["settled_batch"]) & same_id


def _read(spark: SparkSession, path: str, schema: str) -> DataFrame:
    """A table in batch folders, empty where none was written yet."""
    try:
        return spark.read.schema(schema).parquet(path)
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return spark.createDataFrame([], schema)

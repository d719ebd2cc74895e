"""The table of dead letters: documents that could not be read, with bytes, error, batch and time.

A document whose parts are too large for one subscription is a letter with that ``subscription``, and a retry
delivers it to that subscription only.
A letter of a document in fragments has the number of the ``fragment``, and as body the fragment if that is at
fault; it is not retried, since the other fragments are gone: the document must be sent again.
A letter keeps the columns of the source that its deliveries are to carry, as JSON in ``columns``.
A letter is open until a retry takes it; then it is settled.  If the retry fails too, the document becomes a
new letter, in the batch of the retry; so a bad document has one open letter and a history of settled ones.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from twigcast.spark.columns import CARRIED, column_named, error_condition
from twigcast.spark.jvm.private_api import MissingApi
from twigcast.spark.outputs.batch_folders import remove_batch, write_batch
from twigcast.spark.outputs.delivery_scope import DeliveryScope
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.journal import Journal
from twigcast.spark.stages.delivering import dead_letters

LETTERS = (
    "doc_id string, body binary, code string, message string, line int, column int, offset long,"
    " index_version string, prolog binary, subscription string, publisher string, mapping string,"
    " fragment int, columns string, time timestamp, batch int"
)
_OPTIONAL = {
    "prolog": "binary",
    "subscription": "string",
    "publisher": "string",
    "mapping": "string",
    "fragment": "int",
    "columns": "string",
}
SETTLED = "letter_batch int, doc_id string, replacement binary, batch int"
"""``replacement`` has the bytes that were given in place of those of the letter; null if none were."""


def write_letters(
    hits: DataFrame,
    path: str,
    batch: int,
    time: datetime,
    count: int,
    more: DataFrame | None = None,
    scope: DeliveryScope | None = None,
    columns: Sequence[str] = (),
) -> int:
    """Write the letters of a batch, ``count`` of them, replacing those of an earlier attempt.

    ``more`` are refused deliveries, and ``columns`` those of the source that deliveries carry.  Returns how
    many were written, without those that ``scope`` leaves out.
    """
    hits = with_packed_columns(hits, columns)
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


def with_packed_columns(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Hits or attempts with the columns that deliveries carry as JSON, together with their types."""
    if not columns:
        return rows
    types = StructType([rows.schema[name] for name in columns]).json()
    values = F.struct(*map(column_named, columns))
    packed = F.to_json(F.struct(F.lit(types).alias("types"), values.alias("values")), _JSON)
    return rows.withColumn(CARRIED.name, packed)


def with_unpacked_columns(letters: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Letters with the columns that their deliveries carry, in the types that the newest letter has."""
    packed = F.col(CARRIED.name)
    types = F.max_by(F.get_json_object(packed, "$.types"), "batch")
    missing = [name for name in columns if name not in letters.columns]
    row = letters.where(packed.isNotNull()).agg(types).first() if missing else None
    kept = letters.drop(CARRIED.name)
    if row is None:
        return kept
    if row[0] is None:  # letters from before the pipeline had these columns
        return kept.withColumns({name: F.lit(None).cast("string") for name in missing})
    schema = StructType.fromJson(json.loads(row[0]))
    values = F.from_json(F.get_json_object(packed, "$.values"), schema, _JSON)
    found = {
        name: values.getField(name) if name in schema.names else F.lit(None).cast("string")
        for name in missing
    }
    return letters.withColumns(found).drop(CARRIED.name)


_JSON = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


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
    retries = Journal(pipeline.work.journal).retries()
    return _read(spark, settled_path(pipeline), SETTLED).where(F.col("batch").isin(retries))


def letters_of_retry(spark: SparkSession, pipeline: Pipeline, batch: int) -> DataFrame:
    """The letters that a retry has taken, with the column ``replacement``."""
    settled = (
        _read(spark, settled_path(pipeline), SETTLED)
        .where(F.col("batch") == batch)
        .select(
            F.col("letter_batch").alias("settled_batch"), F.col("doc_id").alias("settled_id"), "replacement"
        )
    )
    letters = read_letters(spark, pipeline)
    return letters.join(settled, _same(letters, settled)).drop("settled_batch", "settled_id")


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

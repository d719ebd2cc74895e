"""Opens the sources of dead letters again, where they are still there.

    directory, huge    doc_id is a file
    archives           path!member: the archive is read, and the member taken
    records            path#offset: the file is read, and the record taken that begins at the offset
    table, format      doc_id is a column: the rows with these ids are taken, if each is there once

A letter of a broken archive or file of records stands for the whole file: all its documents are read.
Messages of Kafka never change, so their stored bytes are used, as they are for all that is gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from twigcast.errors import StageError
from twigcast.spark.columns import CARRIED, ERROR, ONLY
from twigcast.spark.jvm.errors import JvmError
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.sources.documents import Documents, as_dataframe
from twigcast.spark.sources.listing.places import Place, present
from twigcast.spark.sources.pipeline_source import pipeline_source
from twigcast.system import name_text, path_of

ORIGIN = "twigcast_origin"
"""The column of where the bytes of a letter are from: ``source``, ``replacement``, ``stored`` or ``none``."""

COLUMNS = ("doc_id", "body", "prolog", "error", "publisher", "mapping")
_KINDS_OF_FILES = ("directory", "archives", "records", "huge")


@dataclass(frozen=True, slots=True)
class LetterFiles:
    """The files of some letters that exist now.

    ``containers`` are the ids of letters that stand for a whole archive or file of records.
    """

    by_id: dict[str, Place]
    containers: frozenset[str]

    @classmethod
    def of(cls, spark: SparkSession, pipeline: Pipeline, ids: Iterable[str]) -> LetterFiles:
        """Look for the files of letters."""
        kind = pipeline.source.kind
        if kind not in _KINDS_OF_FILES:
            return cls({}, frozenset())
        paths = {id: file_of(id, kind) for id in ids}
        here = {place.path: place for place in present(spark, [Place(path, 0) for path in {*paths.values()}])}
        by_id = {id: here[path] for id, path in paths.items() if path in here}
        whole = [id for id in by_id if kind in ("archives", "records") and not _is_part(id, kind)]
        return cls(by_id, frozenset(whole))


def file_of(doc_id: str, kind: str) -> str:
    """The path of the file that has a document, in the text of ``name_text``."""
    if kind == "archives":
        return name_text(path_of(doc_id.partition("!")[0]))
    if kind == "records" and _is_part(doc_id, kind):
        return doc_id.rpartition("#")[0]
    return doc_id


def _is_part(doc_id: str, kind: str) -> bool:
    if kind == "archives":
        return "!" in doc_id
    return doc_id.rpartition("#")[2].isdecimal() and "#" in doc_id


def documents_again(spark: SparkSession, pipeline: Pipeline, letters: DataFrame) -> DataFrame:
    """The documents of letters, from the source if they are there, else stored; ``ORIGIN`` says which.

    ``letters`` has the columns of a letter and ``replacement``; the subscription has its name in ``ONLY``,
    and the carried columns theirs in ``CARRIED``, which the documents have, too.
    """
    kept = letters.where(F.col("replacement").isNull() & F.col("doc_id").isNotNull())
    ids = [row["doc_id"] for row in kept.select("doc_id").distinct().collect()]
    files = LetterFiles.of(spark, pipeline, ids)
    found = _from_source(spark, pipeline, ids, files)
    stored = letters.select(
        "doc_id",
        "body",
        "prolog",
        "publisher",
        "mapping",
        ONLY.name,
        CARRIED.name,
        "batch",
        "replacement",
        F.struct(*ERROR.names).alias("error"),
    )
    if found is None:
        return _chosen(stored, _no_documents(spark))
    whole = sorted(files.containers)
    again = _chosen(stored.where(~F.col("doc_id").isin(whole)), found)
    if not whole:
        return again
    others = _completed(as_dataframe(documents_at(spark, pipeline, [files.by_id[id] for id in whole])))
    others = others.join(again.select("doc_id"), "doc_id", "left_anti")
    return again.unionByName(
        others.select(
            *COLUMNS,
            *(F.lit(None).cast(each.dataType).alias(each.name) for each in (ONLY, CARRIED)),
            F.lit(None).cast("long").alias("batch"),
            F.lit("source").alias(ORIGIN),
        )
    )


def _from_source(
    spark: SparkSession, pipeline: Pipeline, ids: list[str], files: LetterFiles
) -> DataFrame | None:
    """The documents with these ids in the source; none if it cannot be asked for them."""
    section = pipeline.source
    if section.kind in _KINDS_OF_FILES:
        if not files.by_id:
            return None
        places = {each.path: each for each in files.by_id.values()}
        found = _completed(as_dataframe(documents_at(spark, pipeline, list(places.values()))))
    elif section.format == "kafka" or section.kind == "fragments" or not ids:
        return None
    else:
        source = pipeline_source(pipeline)
        try:
            found = _completed(as_dataframe(source.open(source.list(spark, streaming=False))))
        except (PySparkException, JvmError, StageError):  # it is gone, or was a stream that cannot be a batch
            return None
    asked = spark.createDataFrame([(id,) for id in ids], "doc_id string")
    found = found.join(F.broadcast(asked), "doc_id", "left_semi")
    columns = [name for name in found.columns if name != "doc_id"]
    once = found.groupBy("doc_id").agg(F.count("*").alias("times"), F.first(F.struct(*columns)).alias("row"))
    return once.where("times = 1").select("doc_id", *(F.col(f"row.{name}") for name in columns))


def documents_at(spark: SparkSession, pipeline: Pipeline, places: list[Place]) -> Documents:
    """The documents of some files of the source."""
    source = pipeline_source(pipeline)
    return source.open(source.at(spark, places))


_TYPES: dict[str, str | DataType] = {
    "doc_id": "string",
    "body": "binary",
    "prolog": "binary",
    "error": ERROR,
    "publisher": "string",
    "mapping": "string",
}


def _completed(documents: DataFrame) -> DataFrame:
    """Documents of a source in the columns that all sources can have."""
    known = set(documents.columns)
    return documents.select(
        *(
            (F.col(name) if name in known else F.lit(None)).cast(kind).alias(name)
            for name, kind in _TYPES.items()
        )
    )


def _no_documents(spark: SparkSession) -> DataFrame:
    empty = spark.createDataFrame([], "doc_id string")
    return _completed(empty)


def _chosen(stored: DataFrame, found: DataFrame) -> DataFrame:
    """Each letter with the bytes to use, and where they are from."""
    source = found.select(F.col("doc_id").alias("found_id"), F.struct(*list(_TYPES)[1:]).alias("found"))
    both = stored.join(source, F.col("doc_id") == F.col("found_id"), "left")
    origin = (
        F.when(F.col("replacement").isNotNull(), "replacement")
        .when(F.col("found.body").isNotNull() & F.col("found.error").isNull(), "source")
        .when(F.col("body").isNotNull(), "stored")
        .otherwise("none")
    )
    both = both.withColumn(ORIGIN, origin)
    is_source, is_none = F.col(ORIGIN) == "source", F.col(ORIGIN) == "none"

    body = F.coalesce("replacement", F.when(is_source, F.col("found.body")).otherwise(F.col("body")))
    error = F.when(is_none, F.coalesce("found.error", "error"))
    return both.select(
        "doc_id",
        body.alias("body"),
        F.when(is_source, F.col("found.prolog")).otherwise(F.col("prolog")).alias("prolog"),
        error.alias("error"),
        F.coalesce(F.when(is_source, F.col("found.publisher")), "publisher").alias("publisher"),
        F.coalesce(F.when(is_source, F.col("found.mapping")), "mapping").alias("mapping"),
        ONLY.name,
        CARRIED.name,
        "batch",
        ORIGIN,
    )

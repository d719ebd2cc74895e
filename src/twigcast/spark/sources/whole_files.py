"""Whole files as documents, one each.

    on this machine    path, length ─► worker: open, read
    elsewhere          path, length, content, as Spark reads them

Spark knows every place, but carries each file through the JVM, and ends where it cannot read one: one without
permission, one that is gone since it was listed, one with a colon in its name.  On this machine the workers
read, and such a file is an error of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from twigcast.document import DocumentLimits
from twigcast.errors import DocumentError
from twigcast.spark.columns import ERROR, SOURCED, ErrorRow, SourcedRow, batched, error_row, placeless
from twigcast.spark.sources.files import Opener, open_file, plain_path, read_within
from twigcast.spark.sources.worker_reading import Opening, remember


def whole_files(options: dict[str, str], *, by_workers: bool) -> Opener:
    """From files to documents; one that is too large is an error, and not read at all.

    Takes its own option out of those of Spark's files: ``maxBytes``.
    """
    limit = int(options.pop("maxBytes", DocumentLimits().bytes))
    return partial(_opened_by_workers if by_workers else _opened_by_spark, limit=limit)


def _opened_by_workers(found: DataFrame, *, limit: int) -> DataFrame:
    places = found.select(plain_path(F.col("path")).alias("path"), "length")
    opening = Opening(places, partial(_read, limit=limit))
    documents = opening.places.mapInArrow(opening.stage, SOURCED).drop("prolog")
    return remember(documents, lambda: opening)


def _read(batches: Iterator[pa.RecordBatch], *, limit: int) -> Iterator[pa.RecordBatch]:
    """The stage, in a worker."""
    yield from batched(
        _document(path, length, limit)
        for batch in batches
        for path, length in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )


def _document(path: str, length: int, limit: int) -> SourcedRow:
    if length > limit:
        return path, None, None, _too_large(length, limit)
    try:
        with open_file(path) as file:
            body = read_within(file, limit)
    except OSError as error:
        reason = error.strerror or str(error)
        return path, None, None, placeless(f"the file cannot be read: {reason}", code="unreadable")
    if len(body) > limit:  # it has grown since it was listed
        return path, None, None, _too_large(max(length, len(body)), limit)
    return path, body, None, None


def _too_large(length: int, limit: int) -> ErrorRow:
    message = f"the document has {length} bytes, more than {limit}"
    return error_row(DocumentError(message, code="too-large", offset=limit))


def _opened_by_spark(found: DataFrame, *, limit: int) -> DataFrame:
    """In two branches: Spark looks at the length before it opens a file, but only where a filter says so."""
    doc_id = plain_path(F.col("path")).alias("doc_id")
    small = found.where(F.col("length") <= limit).select(
        doc_id, F.col("content").alias("body"), F.lit(None).cast(ERROR).alias("error")
    )
    message = F.concat(F.lit("the document has "), F.col("length"), F.lit(f" bytes, more than {limit}"))
    error = F.struct(
        F.lit("too-large").alias("code"),
        message.alias("message"),
        F.lit(1).alias("line"),
        F.lit(1).alias("column"),
        F.lit(limit).cast("long").alias("offset"),
    )
    large = found.where(F.col("length") > limit).select(
        doc_id, F.lit(None).cast("binary").alias("body"), error.cast(ERROR).alias("error")
    )
    return small.unionByName(large)

"""Whole files as documents, one each.

    readable by workers    path, length ─► worker: open and read
    elsewhere              Spark reads path, length and content

Spark can open any path, but carries each file through the JVM, and fails as a whole if it cannot read one
file: one without permission, one that was removed after it was listed, or one with a colon in its name.
Where workers read, such a file is a dead letter and the others are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.document import DocumentLimits
from twigcast.errors import DocumentError
from twigcast.spark.columns import (
    ERROR,
    SOURCED,
    ErrorRow,
    SourcedRow,
    batched,
    error_row,
    error_without_position,
    internal_error,
)
from twigcast.spark.jvm.filesystem import is_readable_by_workers
from twigcast.spark.sources.documents import Documents
from twigcast.spark.sources.file_access import open_file, read_within, refused
from twigcast.spark.sources.listing.empty_file_log import EmptyFileLog
from twigcast.spark.sources.listing.file_listing import FileListing
from twigcast.spark.sources.listing.place_stream import PlaceStream, SparkPlaceStream
from twigcast.spark.sources.listing.places import FilePlaces, PastFiles, Place, listed_here, plain_path
from twigcast.system import BROKEN_GZIP, GZIP_MARK, Links, decompressed_body


@dataclass(frozen=True, slots=True)
class FilesSource:
    """Files that are one document each; a file of more than ``max_bytes`` is an error and is not read.

    The places are paths with their lengths or, if workers cannot open the files, the documents themselves.
    """

    files: FileListing
    max_bytes: int = DocumentLimits().bytes

    def list(self, spark: SparkSession, *, streaming: bool) -> FilePlaces | DataFrame:
        """The paths of the files, or the documents."""
        if is_readable_by_workers(spark, self.files.path):
            return self.files.places(spark, streaming=streaming)
        return opened_by_spark(self.files.listed_by_spark(spark, streaming=streaming), self.max_bytes)

    def stream(self, spark: SparkSession, work: Path) -> PlaceStream:
        """The paths of the files, or the documents, as a stream."""
        if is_readable_by_workers(spark, self.files.path):
            return self.files.stream(spark, work)
        log = EmptyFileLog(work / "empty-files.json")

        def complete(batch: DataFrame, number: int) -> DataFrame:
            empty = self.files.empty_files(spark, batch, number, log)
            return batch if empty is None else batch.unionByName(opened_by_spark(empty, self.max_bytes))

        files = self.files.listed_by_spark(spark, streaming=True)
        return SparkPlaceStream(opened_by_spark(files, self.max_bytes), complete)

    def past(self, spark: SparkSession, work: Path, checkpoint: str) -> PastFiles:
        """The files that each batch of a stream has had."""
        return self.files.past(spark, work, checkpoint)

    def at(self, spark: SparkSession, places: Sequence[Place]) -> FilePlaces | DataFrame:
        """These files."""
        if is_readable_by_workers(spark, self.files.path):
            return listed_here(spark, places)
        return opened_by_spark(self.files.contents(spark, places), self.max_bytes)

    def open(self, places: FilePlaces | DataFrame) -> Documents:
        """One document for each file: ``doc_id`` is its path."""
        if not isinstance(places, FilePlaces):
            return Documents(places)
        reading = places.reading(partial(_read, limit=self.max_bytes, links=self.files.links))
        documents = reading.places.mapInArrow(reading.stage, SOURCED).drop("prolog")
        return Documents(documents, lambda: reading)


def _read(batches: Iterator[pa.RecordBatch], *, limit: int, links: Links) -> Iterator[pa.RecordBatch]:
    """The stage that workers run."""
    yield from batched(
        document(path, length, refusal, limit, links)
        for batch in batches
        for path, length, refusal in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )


def document(path: str, length: int, refusal: str | None, limit: int, links: Links) -> SourcedRow:
    """The document at a place, as a row."""
    if refusal is not None:
        return path, None, None, refused(refusal)
    if length > limit:
        return path, None, None, _too_large(length, limit)
    try:
        with open_file(path, links=links) as file:
            body = read_within(file, limit)
        return _unpacked(path, body, length, limit)
    except OSError as error:
        return path, None, None, _unreadable(error)
    except Exception as error:  # one file never stops the others
        return path, None, None, internal_error(error)


def _unpacked(path: str, body: bytes, length: int, limit: int) -> SourcedRow:
    """The document in a file that was read, decompressed if it must be; ``length`` is that of the file."""
    if len(body) <= limit and body.startswith(GZIP_MARK):
        try:
            body, length = decompressed_body(body, limit), 0
        except BROKEN_GZIP as error:
            return path, None, None, _unreadable(error)
    if len(body) > limit:  # a file may also have grown since it was listed
        return path, None, None, _too_large(max(length, len(body)), limit)
    return path, body, None, None


def _unreadable(error: Exception) -> ErrorRow:
    reason = getattr(error, "strerror", None) or str(error)
    return error_without_position(f"the file cannot be read: {reason}", code="unreadable")


def _too_large(length: int, limit: int) -> ErrorRow:
    message = f"the document has {length} bytes, more than {limit} (limits.bytes)"
    return error_row(DocumentError(message, code="too-large", offset=limit))


def opened_by_spark(files: DataFrame, limit: int) -> DataFrame:
    """The documents in files that Spark reads.

    There are two branches because Spark skips the content of a file only if a filter rules its length out.
    """
    doc_id = plain_path(F.col("path")).alias("doc_id")
    packed = F.lower("path").endswith(".gz")
    compressed = files.where(packed & (F.col("length") <= limit)).select(
        doc_id, F.col("content").alias("body")
    )
    unpacked = compressed.mapInArrow(partial(_unpack, limit=limit), SOURCED).drop("prolog")
    small = files.where(~packed & (F.col("length") <= limit)).select(
        doc_id, F.col("content").alias("body"), F.lit(None).cast(ERROR).alias("error")
    )
    more = F.lit(f" bytes, more than {limit} (limits.bytes)")
    message = F.concat(F.lit("the document has "), F.col("length"), more)
    error = F.struct(
        F.lit("too-large").alias("code"),
        message.alias("message"),
        F.lit(1).alias("line"),
        F.lit(1).alias("column"),
        F.lit(limit).cast("long").alias("offset"),
    )
    large = files.where(F.col("length") > limit).select(
        doc_id, F.lit(None).cast("binary").alias("body"), error.cast(ERROR).alias("error")
    )
    return small.unionByName(large).unionByName(unpacked)


def _unpack(batches: Iterator[pa.RecordBatch], *, limit: int) -> Iterator[pa.RecordBatch]:
    """The stage in which workers decompress files that Spark has read."""
    yield from batched(
        _unpacked(path, body, len(body), limit)
        for batch in batches
        for path, body in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )

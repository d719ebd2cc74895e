"""Records of large files as documents, split in parallel.

    files ──► plan: where each file can be cut ──► pieces, spread over the cores ──► split: records

A file is read twice: once to find offsets between records at which it can be cut, with the elements that are
open there, and once to take the records out, on all cores.  A file that is compressed, or smaller than a
piece, is one piece and is read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.document import RECORD_LIMIT, Record, RecordSplitter
from twigcast.spark.columns import SOURCED, SourcedRow, batched, error_row, error_without_position
from twigcast.spark.sources.documents import Documents, WorkerReading
from twigcast.spark.sources.empty_file_log import EmptyFileLog
from twigcast.spark.sources.file_access import UNREADABLE, decompressed, is_compressed, open_file
from twigcast.spark.sources.file_listing import PLACE_COLUMNS, FileListing, plain_path

PIECE_BYTES = 16 << 20
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class RecordCut:
    """How files are cut: the element of a record, the maximal size of a record, and the size of a piece."""

    record: str
    max_bytes: int = RECORD_LIMIT
    piece_bytes: int = PIECE_BYTES


@dataclass(frozen=True, slots=True)
class RecordsSource:
    """Files with many records, each of which is a document."""

    files: FileListing
    cut: RecordCut

    def list(self, spark: SparkSession, *, streaming: bool) -> DataFrame:
        """The paths of the files."""
        return self.files.list(spark, streaming=streaming).select(*PLACE_COLUMNS)

    def complete(self, spark: SparkSession, batch: DataFrame, number: int, log: EmptyFileLog) -> DataFrame:
        """The micro-batch with its empty files added."""
        return self.files.complete(spark, batch, number, log)

    def open(self, places: DataFrame) -> Documents:
        """One document for each record: ``doc_id`` is the path, ``#``, and the offset of its first byte."""
        named = places.select(plain_path(F.col("path")).alias("path"), "length")
        pieces = named.mapInArrow(partial(_plan, cut=self.cut), _PIECES)
        spread = pieces.repartition(4 * places.sparkSession.sparkContext.defaultParallelism)
        reading = WorkerReading(spread, partial(_split, cut=self.cut))
        return Documents(spread.mapInArrow(reading.stage, SOURCED), lambda: reading)


_PIECES = "path string, start long, end long, preamble binary"
_ARROW_PIECES = pa.schema(
    [("path", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("preamble", pa.binary())]
)


def _plan(batches: Iterator[pa.RecordBatch], *, cut: RecordCut) -> Iterator[pa.RecordBatch]:
    """The pieces of files; a file that cannot be read is one piece, and ``_split`` reports the error."""
    for batch in batches:
        for path, length in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            for start, end, preamble in pieces(path, length, cut):
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array([value], kind.type)
                        for value, kind in zip((path, start, end, preamble), _ARROW_PIECES, strict=True)
                    ],
                    schema=_ARROW_PIECES,
                )


def pieces(path: str, length: int, cut: RecordCut) -> Iterator[tuple[int, int | None, bytes]]:
    """The pieces of a file: start, end (none: the end of the file), and the start tags open at the start."""
    start, preamble = 0, b""
    if length > cut.piece_bytes and not is_compressed(path):
        splitter = RecordSplitter(cut.record, limit=cut.max_bytes)
        try:
            with open_file(path) as file:
                while data := file.read(_READ_BYTES):
                    for record in splitter.feed(data):
                        if record.end - start >= cut.piece_bytes and splitter.settled:
                            yield start, record.end, preamble
                            start, preamble = record.end, splitter.preamble()
        except UNREADABLE:
            pass
    yield start, None, preamble


def _split(batches: Iterator[pa.RecordBatch], *, cut: RecordCut) -> Iterator[pa.RecordBatch]:
    """The records of pieces."""
    for batch in batches:
        for path, start, end, preamble in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield from batched(rows_of(path, start, end, preamble, cut))


def rows_of(path: str, start: int, end: int | None, preamble: bytes, cut: RecordCut) -> Iterator[SourcedRow]:
    """The records of one piece, as rows."""
    splitter = RecordSplitter(cut.record, limit=cut.max_bytes, start=start, preamble=preamble)
    try:
        with open_file(path) as file:
            stream = decompressed(path, file)
            if start:
                stream.seek(start)
            left = None if end is None else end - start
            while data := stream.read(_READ_BYTES if left is None else min(left, _READ_BYTES)):
                if left is not None:
                    left -= len(data)
                for record in splitter.feed(data):
                    yield _row(path, record)
            if end is None:
                for record in splitter.finish():
                    yield _row(path, record)
    except UNREADABLE as error:
        yield path, None, None, error_without_position(f"the file cannot be read: {error}", code="archive")


def _row(path: str, record: Record) -> SourcedRow:
    error = None if record.error is None else error_row(record.error)
    return f"{path}#{record.start}", record.body, record.prolog, error

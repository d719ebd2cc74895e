"""Records of large files as documents, split in parallel.

    files ──► plan: where each file can be cut ──► pieces, spread over the cores ──► split: records

A file is read twice: once to find offsets between records at which it can be cut, with the elements that are
open there, and once to take the records out, on all cores.  A file that is compressed, or smaller than a
piece, is one piece and is read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from twigcast.document import RECORD_LIMIT, DocumentLimits, Record, RecordSplitter
from twigcast.spark.columns import (
    SOURCED,
    SourcedRow,
    batched,
    error_row,
    error_without_position,
    internal_error,
)
from twigcast.spark.sources.archive_limits import ArchiveLimits, TooMuch
from twigcast.spark.sources.documents import Documents, WorkerReading
from twigcast.spark.sources.file_access import UNREADABLE, decompressed, is_compressed, open_file, refused
from twigcast.spark.sources.listing.file_listing import FileListing
from twigcast.spark.sources.listing.place_stream import PlaceStream
from twigcast.spark.sources.listing.places import FilePlaces, PastFiles, Place, listed_here
from twigcast.system import Links

PIECE_BYTES = 16 << 20
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class RecordCut:
    """How files are cut: the element of a record, the maximal size of a record, and the size of a piece."""

    record: str
    max_bytes: int = RECORD_LIMIT
    piece_bytes: int = PIECE_BYTES
    max_unpacked_bytes: int = ArchiveLimits().bytes
    """Of a compressed file."""
    max_depth: int = DocumentLimits().depth

    def splitter(self, *, start: int = 0, preamble: bytes = b"") -> RecordSplitter:
        """A splitter of a file, from ``start`` on."""
        return RecordSplitter(
            self.record, limit=self.max_bytes, depth=self.max_depth, start=start, preamble=preamble
        )


@dataclass(frozen=True, slots=True)
class RecordsSource:
    """Files with many records, each of which is a document."""

    files: FileListing
    cut: RecordCut

    def list(self, spark: SparkSession, *, streaming: bool) -> FilePlaces:
        """The paths of the files."""
        return self.files.places(spark, streaming=streaming)

    def stream(self, spark: SparkSession, work: Path) -> PlaceStream:
        """The paths of the files, as a stream."""
        return self.files.stream(spark, work)

    def past(self, spark: SparkSession, work: Path, checkpoint: str) -> PastFiles:
        """The files that each batch of a stream has had."""
        return self.files.past(spark, work, checkpoint)

    def at(self, spark: SparkSession, places: Sequence[Place]) -> FilePlaces:
        """These files."""
        return listed_here(spark, places)

    def open(self, places: FilePlaces) -> Documents:
        """One document for each record: ``doc_id`` is the path, ``#``, and the offset of its first byte."""
        planning = places.reading(partial(_plan, cut=self.cut, links=self.files.links))
        pieces = planning.places.mapInArrow(planning.stage, _PIECES)
        spread = pieces.repartition(4 * pieces.sparkSession.sparkContext.defaultParallelism)
        reading = WorkerReading(spread, partial(_split, cut=self.cut, links=self.files.links))
        return Documents(spread.mapInArrow(reading.stage, SOURCED), lambda: reading)


_PIECES = "path string, start long, end long, preamble binary, refusal string"
_ARROW_PIECES = pa.schema(
    [
        ("path", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("preamble", pa.binary()),
        ("refusal", pa.string()),
    ]
)


def _plan(batches: Iterator[pa.RecordBatch], *, cut: RecordCut, links: Links) -> Iterator[pa.RecordBatch]:
    """The pieces of files; a file that cannot be read is one piece, and ``_split`` reports the error."""
    for batch in batches:
        for path, length, refusal in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            found = pieces(path, length, cut, links=links) if refusal is None else [(0, None, b"")]
            for start, end, preamble in found:
                values = (path, start, end, preamble, refusal)
                yield pa.RecordBatch.from_arrays(
                    [pa.array([value], kind.type) for value, kind in zip(values, _ARROW_PIECES, strict=True)],
                    schema=_ARROW_PIECES,
                )


def pieces(
    path: str, length: int, cut: RecordCut, *, links: Links = "follow"
) -> Iterator[tuple[int, int | None, bytes]]:
    """The pieces of a file: start, end (none: the end of the file), and the start tags open at the start."""
    start, preamble = 0, b""
    if length > cut.piece_bytes and not is_compressed(path):
        splitter = cut.splitter()
        try:
            with open_file(path, links=links) as file:
                while data := file.read(_READ_BYTES):
                    for record in splitter.feed(data):
                        if record.end - start >= cut.piece_bytes and splitter.settled:
                            yield start, record.end, preamble
                            start, preamble = record.end, splitter.preamble()
        except Exception:  # the piece has the same error, and tells it
            pass
    yield start, None, preamble


def _split(batches: Iterator[pa.RecordBatch], *, cut: RecordCut, links: Links) -> Iterator[pa.RecordBatch]:
    """The records of pieces."""
    for batch in batches:
        for path, start, end, preamble, refusal in zip(
            *(column.to_pylist() for column in batch.columns), strict=True
        ):
            if refusal is not None:
                yield from batched([(path, None, None, refused(refusal))])
            else:
                yield from batched(rows_of(path, start, end, preamble, cut, links=links))


def rows_of(
    path: str, start: int, end: int | None, preamble: bytes, cut: RecordCut, *, links: Links = "follow"
) -> Iterator[SourcedRow]:
    """The records of one piece, as rows."""
    splitter = cut.splitter(start=start, preamble=preamble)
    name = path.replace("#", "\\x23")  # so that the offset is what follows the only #
    try:
        with open_file(path, links=links) as file:
            stream = decompressed(path, file)
            if start:
                stream.seek(start)
            left = None if end is None else end - start
            unpacked = 0
            while data := stream.read(_READ_BYTES if left is None else min(left, _READ_BYTES)):
                if left is not None:
                    left -= len(data)
                for record in splitter.feed(data):
                    yield _row(name, record)
                unpacked += len(data)
                if stream is not file and unpacked > cut.max_unpacked_bytes:
                    raise TooMuch("bytes", cut.max_unpacked_bytes)
            if end is None:
                for record in splitter.finish():
                    yield _row(name, record)
    except TooMuch as error:
        yield name, None, None, error_without_position(str(error), code="archive-limit")
    except UNREADABLE as error:
        yield name, None, None, error_without_position(f"the file cannot be read: {error}", code="archive")
    except Exception as error:  # one file never stops the others
        yield name, None, None, internal_error(error)


def _row(name: str, record: Record) -> SourcedRow:
    error = None if record.error is None else error_row(record.error)
    return f"{name}#{record.start}", record.body, record.prolog, error

"""Files of many records as documents, one for each record, in parallel.

    files ──► plan: where each can be cut ──► pieces, spread over the cores ──► split: records

A file is read twice: once to find places between records where it can be cut, with what is open there, and
once to take the records out, in as many tasks as there are cores.  A file that is compressed, or smaller than
a piece, is one piece and read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from twigcast.document import RECORD_LIMIT, Record, RecordSplitter
from twigcast.errors import StageError
from twigcast.spark.columns import SOURCED, SourcedRow, batched, error_row, placeless
from twigcast.spark.sources.files import (
    UNREADABLE,
    Opener,
    decompressed,
    is_compressed,
    open_file,
    plain_path,
)
from twigcast.spark.sources.worker_reading import Opening, remember

PIECE_BYTES = 16 << 20
_READ_BYTES = 1 << 20


def records(options: dict[str, str]) -> Opener:
    """From files to their records: ``doc_id`` is the path, ``#``, and the offset of the record's first byte.

    Takes its own options out of those of Spark's files: ``record`` (the name of the element, as written),
    ``maxBytes`` (of one record) and ``pieceBytes`` (about how much one task reads at a time).
    """
    record = options.pop("record", "")
    if not record:
        message = 'records need the option "record": the name of the element that is one document'
        raise StageError(message, code="options")
    limit, piece = int(options.pop("maxBytes", RECORD_LIMIT)), int(options.pop("pieceBytes", PIECE_BYTES))
    settings = Settings(record, limit, piece)

    def opened(found: DataFrame) -> DataFrame:
        named = found.select(plain_path(F.col("path")).alias("path"), "length")
        pieces = named.mapInArrow(partial(_plan, settings=settings), _PIECES)
        spread = pieces.repartition(4 * found.sparkSession.sparkContext.defaultParallelism)
        opening = Opening(spread, partial(_split, settings=settings))
        return remember(spread.mapInArrow(opening.stage, SOURCED), lambda: opening)

    return opened


@dataclass(frozen=True, slots=True)
class Settings:
    """How to cut: at which element, how large a record may be, and about how large a piece is."""

    record: str
    limit: int
    piece: int


_PIECES = "path string, start long, end long, preamble binary"
_ARROW_PIECES = pa.schema(
    [("path", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("preamble", pa.binary())]
)


def _plan(batches: Iterator[pa.RecordBatch], *, settings: Settings) -> Iterator[pa.RecordBatch]:
    """Where files can be cut; one that cannot be read is one piece, and found unreadable when it is split."""
    for batch in batches:
        for path, length in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            for start, end, preamble in pieces(path, length, settings):
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array([value], kind.type)
                        for value, kind in zip((path, start, end, preamble), _ARROW_PIECES, strict=True)
                    ],
                    schema=_ARROW_PIECES,
                )


def pieces(path: str, length: int, settings: Settings) -> Iterator[tuple[int, int | None, bytes]]:
    """The pieces of a file: start, end (none: that of the file), and what is open at the start."""
    start, preamble = 0, b""
    if length > settings.piece and not is_compressed(path):
        splitter = RecordSplitter(settings.record, limit=settings.limit)
        try:
            with open_file(path) as file:
                while data := file.read(_READ_BYTES):
                    for record in splitter.feed(data):
                        if record.end - start >= settings.piece and splitter.settled:
                            yield start, record.end, preamble
                            start, preamble = record.end, splitter.preamble()
        except UNREADABLE:
            pass
    yield start, None, preamble


def _split(batches: Iterator[pa.RecordBatch], *, settings: Settings) -> Iterator[pa.RecordBatch]:
    """The records of pieces."""
    for batch in batches:
        for path, start, end, preamble in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield from batched(rows_of(path, start, end, preamble, settings))


def rows_of(
    path: str, start: int, end: int | None, preamble: bytes, settings: Settings
) -> Iterator[SourcedRow]:
    """The records of one piece, as rows of a table of documents."""
    splitter = RecordSplitter(settings.record, limit=settings.limit, start=start, preamble=preamble)
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
        yield path, None, None, placeless(f"the file cannot be read: {error}", code="archive")


def _row(path: str, record: Record) -> SourcedRow:
    error = None if record.error is None else error_row(record.error)
    return f"{path}#{record.start}", record.body, record.prolog, error

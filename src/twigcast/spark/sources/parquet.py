"""Local Parquet files, read by the workers themselves.

    files ─► pieces: row groups or parts of one, several for each task ─► documents

This is done only if it gives the rows that Spark would read: the files are local, their columns are of plain
types and the same in each file, no column comes from the names of folders, and no option or setting is used
that this module does not know.  Spark reads everything else.

If only some bodies are needed, the other columns are read first, and the column of the bodies only in row
groups in which one is needed, up to the last one that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    StringType,
)

from twigcast.errors import StageError
from twigcast.spark.columns import DOCUMENT_BATCH_BYTES, DOCUMENT_BATCH_ROWS
from twigcast.spark.sources.documents import BodyChoice, WorkerReading

MOST_FILES = 1000  # the driver reads the footer of each file, which takes 0.3 ms
_LEAST_BYTES = 4 << 20  # of a piece; the task alone costs 30 ms
_MOST_PARTS = 4  # of a row group: each part reads the group from its start, at 1/15 of the cost of matching
_BUFFER_BYTES = 1 << 20
_ROW_BYTES = 1000  # a row whose body stays unread takes as long as this many bytes that are read
_UNREAD = 16  # of this many bytes of bodies that may stay unread, one counts as read
_ROWS = 64  # rows read at a time; with dictionary encoding their size is not known beforehand
_HARMLESS = frozenset({"recursivefilelookup", "pathglobfilter", "modifiedbefore", "modifiedafter"})
_PLAIN: Mapping[type[DataType], pa.DataType] = {
    StringType: pa.string(),
    BinaryType: pa.binary(),
    IntegerType: pa.int32(),
    LongType: pa.int64(),
    BooleanType: pa.bool_(),
    FloatType: pa.float32(),
    DoubleType: pa.float64(),
}


@dataclass(frozen=True, slots=True)
class ParquetColumn:
    """A column of the documents, and the column of the files that it comes from."""

    name: str
    source: str
    kind: type[DataType]
    """Spark's type of the source."""


@dataclass(frozen=True, slots=True)
class Extent:
    """A range of rows in a row group of a file, and their size in bytes."""

    path: str
    group: int
    first: int
    rows: int
    bytes: int
    body_bytes: int = 0

    @property
    def weight_without_bodies(self) -> int:
        """The size by which tasks are packed if bodies may stay unread."""
        return self.rows * _ROW_BYTES + self.body_bytes // _UNREAD

    def cut(self, parts: int) -> list[Extent]:
        """Divide the rows into ``parts`` of about the same size."""
        edges = [self.rows * number // parts for number in range(parts + 1)]
        return [
            replace(self, first=self.first + start, rows=stop - start, bytes=self.bytes // parts)
            for start, stop in pairwise(edges)
            if stop > start
        ]


def parquet_reading(
    spark: SparkSession, uris: Sequence[str], columns: Sequence[ParquetColumn], options: Mapping[str, str]
) -> WorkerReading | None:
    """How workers read the files; none if Spark must read them."""
    if not 0 < len(uris) <= MOST_FILES or not _has_only_known_options(spark, options):
        return None
    if not all(uri.startswith("file:/") for uri in uris) or any("=" in uri for uri in uris):
        return None  # a folder named name=value may be a partition column
    if not all(column.kind in _PLAIN for column in columns):
        return None
    extents: list[Extent] = []
    for uri in uris:
        found = _extents(unquote(urlsplit(uri).path), columns)
        if found is None:
            return None
        extents += found
    most = _bytes(str(spark.conf.get("spark.sql.files.maxPartitionBytes")))
    cores = spark.sparkContext.defaultParallelism
    pieces = _packed(extents, cores, most)
    if not pieces:
        return None

    def selective(choice: Callable[[], BodyChoice]) -> WorkerReading:
        lighter = [replace(extent, bytes=extent.weight_without_bodies) for extent in extents]
        pieces = _packed(lighter, cores, most)
        places = spark.range(0, len(pieces), 1, len(pieces))
        return WorkerReading(
            places, partial(_read_selected, pieces=pieces, columns=tuple(columns), choice=choice)
        )

    places = spark.range(0, len(pieces), 1, len(pieces))
    return WorkerReading(places, partial(_read, pieces=pieces, columns=tuple(columns)), selective)


def _has_only_known_options(spark: SparkSession, options: Mapping[str, str]) -> bool:
    ignoring = [f"spark.sql.files.ignore{what}Files" for what in ("Corrupt", "Missing")]
    return {name.lower() for name in options} <= _HARMLESS and all(
        spark.conf.get(name) == "false" for name in ignoring
    )


def _extents(path: str, columns: Sequence[ParquetColumn]) -> list[Extent] | None:
    """The row groups of a file; none if it cannot be read, or its columns are not the expected ones."""
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            schema, metadata = file.schema_arrow, file.metadata
    except (OSError, pa.ArrowException):
        return None
    for column in columns:
        if schema.get_all_field_indices(column.source) == []:
            return None
        if schema.field(column.source).type != _PLAIN[column.kind]:
            return None
    extents = []
    body = next(column.source for column in columns if column.name == "body")
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if group.num_rows:
            parts = [group.column(each) for each in range(group.num_columns)]
            stored = sum(part.total_compressed_size for part in parts)
            bodies = sum(part.total_compressed_size for part in parts if part.path_in_schema == body)
            extents.append(Extent(path, number, 0, group.num_rows, stored, bodies))
    return extents


def _bytes(text: str) -> int:
    """Parse a size as it is written in settings of Spark."""
    units = {"b": 0, "k": 10, "kb": 10, "m": 20, "mb": 20, "g": 30, "gb": 30, "t": 40, "tb": 40}
    number = text.strip().lower().rstrip("bkmgt")
    return int(number) << units.get(text.strip().lower()[len(number) :], 0)


def _packed(extents: Sequence[Extent], cores: int, most: int) -> list[list[Extent]]:
    """Pack the extents, in order, into pieces, one for each task: large pieces first, small ones at the end.

    The size of a piece is a share of the bytes that are left, so there are few pieces, and no core waits long
    for the last one.
    """
    pieces: list[list[Extent]] = []
    left = sum(extent.bytes for extent in extents)
    room = 0
    for extent in extents:
        if room <= extent.bytes // 2:
            room = max(1, min(most, max(_LEAST_BYTES, left // (2 * cores))))
            pieces += [[part] for part in extent.cut(max(1, min(_MOST_PARTS, round(extent.bytes / room))))]
        else:
            pieces[-1].append(extent)
        room -= extent.bytes
        left -= extent.bytes
    return pieces


def _read(
    batches: Iterator[pa.RecordBatch], *, pieces: list[list[Extent]], columns: tuple[ParquetColumn, ...]
) -> Iterator[pa.RecordBatch]:
    """The stage that workers run."""
    for batch in batches:
        for number in batch.column("id").to_pylist():
            for extent in pieces[number]:
                yield from _documents(extent, columns)


def _documents(extent: Extent, columns: tuple[ParquetColumn, ...]) -> Iterator[pa.RecordBatch]:
    for batch in _gathered(_rows_of(extent, _batches(extent, columns))):
        yield _named(batch, columns)


def _named(batch: pa.RecordBatch, columns: tuple[ParquetColumn, ...]) -> pa.RecordBatch:
    """The columns of documents, in their order and under their names."""
    arrays = [batch.column(column.source) for column in columns]
    arrays = [
        array.cast(pa.binary()) if column.name == "body" else array
        for column, array in zip(columns, arrays, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, [column.name for column in columns])


def _read_selected(
    batches: Iterator[pa.RecordBatch],
    *,
    pieces: list[list[Extent]],
    columns: tuple[ParquetColumn, ...],
    choice: Callable[[], BodyChoice],
) -> Iterator[pa.RecordBatch]:
    """The stage that workers run if not all bodies are needed."""
    choose = choice()
    for batch in batches:
        for number in batch.column("id").to_pylist():
            for extent in pieces[number]:
                yield from _gathered(_selected(extent, columns, choose))


def _selected(
    extent: Extent, columns: tuple[ParquetColumn, ...], choose: BodyChoice
) -> Iterator[pa.RecordBatch]:
    """The documents of an extent, with null for the bodies that are not needed."""
    apart = tuple(column for column in columns if column.name == "body")
    others = tuple(column for column in columns if column.name != "body")
    bodies = _ColumnReader(extent, apart)
    for batch in _gathered(_rows_of(extent, _batches(extent, others))):
        documents, needed = choose(_named(batch, others))
        if not pc.any(needed).as_py():
            bodies.skip(documents.num_rows)
            yield documents.append_column("body", pa.nulls(documents.num_rows, pa.binary()))
            continue
        start = 0
        for part in bodies.take(documents.num_rows):
            rows = documents.slice(start, part.num_rows)
            wanted = needed.slice(start, part.num_rows)
            kept = pc.if_else(wanted, part.column("body"), pa.scalar(None, pa.binary()))
            yield rows.append_column("body", kept)
            start += part.num_rows


class _ColumnReader:
    """Reads a column of an extent forwards; nothing is read before the first rows are taken."""

    def __init__(self, extent: Extent, columns: tuple[ParquetColumn, ...]) -> None:
        self._batches = _rows_of(extent, _batches(extent, columns))
        self._columns = columns
        self._to_skip = 0
        self._rest: pa.RecordBatch | None = None

    def skip(self, rows: int) -> None:
        """Leave out the next rows."""
        self._to_skip += rows

    def take(self, rows: int) -> Iterator[pa.RecordBatch]:
        """The next rows, a few at a time."""
        while rows:
            batch = self._rest if self._rest is not None else next(self._batches)
            skipped = min(self._to_skip, batch.num_rows)
            self._to_skip -= skipped
            part = batch.slice(skipped, rows)
            rows -= part.num_rows
            used = skipped + part.num_rows
            self._rest = batch.slice(used) if used < batch.num_rows else None
            if part.num_rows:
                yield _named(part, self._columns)


def _batches(extent: Extent, columns: tuple[ParquetColumn, ...]) -> Iterator[pa.RecordBatch]:
    """The whole row group of an extent, a few rows at a time."""
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(extent.path, buffer_size=_BUFFER_BYTES, pre_buffer=False) as file:
            read: Any = file.iter_batches(
                batch_size=_ROWS,
                row_groups=[extent.group],
                columns=list({column.source: None for column in columns}),
                use_threads=False,
            )
            yield from read
    except (OSError, pa.ArrowException) as error:
        raise StageError(f"{extent.path} cannot be read: {error}", code="unreadable") from error


def _rows_of(extent: Extent, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of a row group that belong to the extent."""
    skip, left = extent.first, extent.rows
    for batch in batches:
        part = batch.slice(skip, left)
        skip = max(0, skip - batch.num_rows)
        left -= part.num_rows
        if part.num_rows:
            yield part
        if not left:
            return


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in larger batches, which are matched faster."""
    waiting: list[pa.RecordBatch] = []
    size = rows = 0
    for batch in batches:
        waiting.append(batch)
        size += batch.nbytes
        rows += batch.num_rows
        if size >= DOCUMENT_BATCH_BYTES or rows >= DOCUMENT_BATCH_ROWS:
            yield pa.concat_batches(waiting)
            waiting, size, rows = [], 0, 0
    if waiting:
        yield pa.concat_batches(waiting)

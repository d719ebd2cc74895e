"""Parquet files of this machine, read by the workers themselves.

    files ─► pieces: row groups or parts of one, so many for each task ─► documents

Only where that gives what Spark would read: the files are local, their columns are of plain types and the
same in each, none comes from the names of folders, and nothing was asked of Spark that is not known here.
Everything else is left to Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
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
from twigcast.spark.columns import BATCH_BYTES, BATCH_ROWS
from twigcast.spark.sources.worker_reading import Opening

MOST_FILES = 1000  # whose ends the driver reads, 0.3 ms each
_LEAST_BYTES = 4 << 20  # for a task: one takes 30 ms beside what it does
_MOST_PARTS = 4  # of a row group: each is read from the start of it, at a fifteenth of the cost of matching
_BUFFER_BYTES = 1 << 20
_ROWS = 64  # read at once: how large they are, a file of repeated values does not tell beforehand
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
class Column:
    """A column of documents, and that of the files which it comes from."""

    name: str
    source: str
    kind: type[DataType]
    """Spark's type of the source."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Rows of a row group of a file, and how many bytes they take there."""

    path: str
    group: int
    first: int
    rows: int
    bytes: int

    def cut(self, parts: int) -> list[Extent]:
        """So many of about one size, which are the same rows."""
        edges = [self.rows * number // parts for number in range(parts + 1)]
        return [
            Extent(self.path, self.group, self.first + start, stop - start, self.bytes // parts)
            for start, stop in pairwise(edges)
            if stop > start
        ]


def parquet_opening(
    spark: SparkSession, uris: Sequence[str], columns: Sequence[Column], options: Mapping[str, str]
) -> Opening | None:
    """How workers read the files; none where Spark must."""
    if not 0 < len(uris) <= MOST_FILES or not _asks_nothing_else(spark, options):
        return None
    if not all(uri.startswith("file:/") for uri in uris) or any("=" in uri for uri in uris):
        return None  # a folder that is called name=value may be a column
    if not all(column.kind in _PLAIN for column in columns):
        return None
    extents: list[Extent] = []
    for uri in uris:
        found = _extents(unquote(urlsplit(uri).path), columns)
        if found is None:
            return None
        extents += found
    most = _bytes(str(spark.conf.get("spark.sql.files.maxPartitionBytes")))
    pieces = _packed(extents, spark.sparkContext.defaultParallelism, most)
    if not pieces:
        return None
    places = spark.range(0, len(pieces), 1, len(pieces))
    return Opening(places, partial(_read, pieces=pieces, columns=tuple(columns)))


def _asks_nothing_else(spark: SparkSession, options: Mapping[str, str]) -> bool:
    ignoring = [f"spark.sql.files.ignore{what}Files" for what in ("Corrupt", "Missing")]
    return {name.lower() for name in options} <= _HARMLESS and all(
        spark.conf.get(name) == "false" for name in ignoring
    )


def _extents(path: str, columns: Sequence[Column]) -> list[Extent] | None:
    """The row groups of a file; none where its columns are not as they should be, or cannot be told."""
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
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if group.num_rows:
            stored = sum(group.column(each).total_compressed_size for each in range(group.num_columns))
            extents.append(Extent(path, number, 0, group.num_rows, stored))
    return extents


def _bytes(text: str) -> int:
    """A number of bytes as Spark writes it in its settings."""
    units = {"b": 0, "k": 10, "kb": 10, "m": 20, "mb": 20, "g": 30, "gb": 30, "t": 40, "tb": 40}
    number = text.strip().lower().rstrip("bkmgt")
    return int(number) << units.get(text.strip().lower()[len(number) :], 0)


def _packed(extents: Sequence[Extent], cores: int, most: int) -> list[list[Extent]]:
    """The extents in order as pieces, one for each task: large ones first, small ones at the end.

    Each is a share of what is left, so that there are few, and no core waits long for the last.
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
    batches: Iterator[pa.RecordBatch], *, pieces: list[list[Extent]], columns: tuple[Column, ...]
) -> Iterator[pa.RecordBatch]:
    """The stage, in a worker."""
    for batch in batches:
        for number in batch.column("id").to_pylist():
            for extent in pieces[number]:
                yield from _documents(extent, columns)


def _documents(extent: Extent, columns: tuple[Column, ...]) -> Iterator[pa.RecordBatch]:
    names = [column.name for column in columns]
    for batch in _gathered(_rows_of(extent, _batches(extent, columns))):
        arrays = [batch.column(column.source) for column in columns]
        arrays = [
            array.cast(pa.binary()) if name == "body" else array
            for name, array in zip(names, arrays, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, names)


def _batches(extent: Extent, columns: tuple[Column, ...]) -> Iterator[pa.RecordBatch]:
    """The whole row group of an extent, some rows at a time."""
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
    """Those rows of a row group that are the extent's."""
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
    """The same rows in batches as they are matched best: what is small goes together."""
    waiting: list[pa.RecordBatch] = []
    size = rows = 0
    for batch in batches:
        waiting.append(batch)
        size += batch.nbytes
        rows += batch.num_rows
        if size >= BATCH_BYTES or rows >= BATCH_ROWS:
            yield pa.concat_batches(waiting)
            waiting, size, rows = [], 0, 0
    if waiting:
        yield pa.concat_batches(waiting)

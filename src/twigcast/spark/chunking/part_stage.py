"""Cuts documents in the workers and uses each part where it was cut; only what that gives is passed on.

    files ─► cut points ─► pieces ─► cut, use each part ─┬─► rows ──────────────────────────────┬─► rows
                                                         ├─► slices ─► by chunk, join, use ─────┤
                                                         └─► ends ─► by document ─┬─────────────┤
                                                             a piece failed:      ├─ single pass┤
                                                             foreign pairs:       └─ second pass┘

A file that is one piece is finished by the task that reads it.  If a piece of a document fails, all that its
pieces gave is dropped, and one task reads the document from its beginning.  What the pieces give is computed
once and kept by Spark until the table is no longer used (``localCheckpoint``).
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Protocol, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from twigcast.chunking import (
    Chunk,
    DocumentPass,
    JoinedSlices,
    Pair,
    PartOfChunk,
    Scheme,
    settled,
    too_wide,
)
from twigcast.document import DocumentPiece
from twigcast.errors import ChunkingError
from twigcast.spark.chunking.file_pieces import (
    PIECES,
    Cutting,
    UnreadableFile,
    piece_blocks,
    piece_rows,
    whole_blocks,
)
from twigcast.spark.columns import ErrorRow, error_row
from twigcast.spark.fragments.fragment_columns import in_batches
from twigcast.spark.sources.file_access import refused
from twigcast.spark.sources.listing.places import FilePlaces

Row: TypeAlias = dict[str, Any]
PARTS_OF_A_PIECE = 1 << 20
"""Parts of the second piece are numbered from here, so that numbers rise without one task knowing another."""


class PartUser(Protocol):
    """Makes rows of parts, in one task."""

    def use(self, path: str, part: PartOfChunk, foreign: tuple[Pair, ...]) -> Iterable[Row]:
        """The rows of a part; ``foreign`` has the pairs of the second pass that it comes from."""
        ...

    def fail(self, path: str, error: ErrorRow) -> Row:
        """The row of a document that could not be read to its end."""
        ...

    def refuse(self, path: str, chunk: Chunk, error: ChunkingError) -> Row:
        """The row of a query that cannot be run on a document."""
        ...


class PartUse(Protocol):
    """What is done with parts: the columns of the rows, and who makes them."""

    columns: StructType
    arrow: pa.Schema

    def begin(self, scheme: Scheme) -> PartUser:
        """Called once in each task."""
        ...


def used_parts(places: FilePlaces, cutting: Cutting, use: PartUse) -> DataFrame:
    """The rows that a use makes of all parts of the documents at some places."""
    planning = places.reading(partial(piece_rows, cutting=cutting))
    pieces = planning.places.mapInArrow(planning.stage, PIECES)
    spread = pieces.repartition(4 * pieces.sparkSession.sparkContext.defaultParallelism)
    work = _Work(cutting, use)
    columns = StructType([*use.columns.fields, *_NOTES.fields])
    rows = spread.mapInArrow(work.pieces, columns).localCheckpoint(eager=False)
    ends = rows.where(F.col("tc_kind") == "end").select(*_NOTES.names)
    failed = ends.where("tc_failed").select("tc_path").distinct()
    whole = rows.join(F.broadcast(failed), "tc_path", "left_anti")
    finished = whole.where(F.col("tc_kind") == "row").select(*use.columns.names)
    grouped = ends.repartition(F.col("tc_path")).sortWithinPartitions("tc_path", "tc_piece")
    finished = finished.unionByName(grouped.mapInArrow(work.ends, use.columns))
    if all(chunk.is_divided for chunk in cutting.scheme.chunks):
        return finished
    slices = whole.where(F.col("tc_kind") == "slice").select(*_NOTES.names)
    slices = slices.repartition(F.col("tc_path"), F.col("tc_chunk"))
    slices = slices.sortWithinPartitions("tc_path", "tc_chunk", "tc_piece")
    return finished.unionByName(slices.mapInArrow(work.slices, use.columns))


_NOTES = StructType(
    [
        StructField("tc_path", StringType()),
        StructField("tc_piece", IntegerType()),
        StructField("tc_kind", StringType()),
        StructField("tc_chunk", IntegerType()),
        StructField("tc_body", BinaryType()),
        StructField("tc_map", BinaryType()),
        StructField("tc_size", LongType()),
        StructField("tc_foreign", StringType()),
        StructField("tc_failed", BooleanType()),
    ]
)
_ARROW_NOTES = [
    ("tc_path", pa.string()),
    ("tc_piece", pa.int32()),
    ("tc_kind", pa.string()),
    ("tc_chunk", pa.int32()),
    ("tc_body", pa.binary()),
    ("tc_map", pa.binary()),
    ("tc_size", pa.int64()),
    ("tc_foreign", pa.string()),
    ("tc_failed", pa.bool_()),
]


class _Work:
    """The three stages, as workers run them."""

    def __init__(self, cutting: Cutting, use: PartUse) -> None:
        self.cutting = cutting
        self.use = use

    def pieces(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows, slices and ends of pieces."""
        user = self.use.begin(self.cutting.scheme)
        rows = (made for row in single_rows(batches) for made in self._piece(row, user))
        yield from in_batches(rows, pa.schema([*self.use.arrow, *_ARROW_NOTES]))

    def ends(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of documents that need another pass."""
        user = self.use.begin(self.cutting.scheme)
        groups = groupby(single_rows(batches), itemgetter("tc_path"))
        rows = (made for path, group in groups for made in self._end(path, list(group), user))
        yield from in_batches(rows, self.use.arrow)

    def slices(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of chunks that are one document."""
        user = self.use.begin(self.cutting.scheme)
        groups = groupby(single_rows(batches), itemgetter("tc_path", "tc_chunk"))
        rows = (made for (path, chunk), group in groups for made in self._joined(path, chunk, group, user))
        yield from in_batches(rows, self.use.arrow)

    def _piece(self, row: Row, user: PartUser) -> Iterator[Row]:
        path = row["path"]
        if row["refusal"] is not None:
            yield {"tc_kind": "row", **user.fail(path, refused(row["refusal"]))}
            return
        if row["piece"] is None:
            for made in self._whole(path, user):
                yield {"tc_kind": "row", "tc_path": path, **made}
            return
        piece: DocumentPiece = pickle.loads(row["piece"])
        note = {"tc_path": path, "tc_piece": piece.number}
        cutting = self.cutting
        cut = DocumentPass(
            piece_blocks(path, piece, cutting.links),
            cutting.scheme,
            cutting.part_bytes,
            cutting.most_bytes,
            cutting.limits,
            piece,
        )
        has_failed = False
        try:
            for part in cut:
                if part.chunk.is_divided:
                    numbered = replace(part, number=piece.number * PARTS_OF_A_PIECE + part.number)
                    for made in user.use(path, numbered, ()):
                        yield {"tc_kind": "row", **note, **made}
                else:
                    body, map_bytes = part.body, bytes(part.source_map)
                    found = {"tc_chunk": part.chunk.number, "tc_body": body, "tc_map": map_bytes}
                    yield {"tc_kind": "slice", **note, **found}
        except UnreadableFile:
            has_failed = True
        for number, size in cut.too_wide.items():
            yield {"tc_kind": "slice", **note, "tc_chunk": number, "tc_size": size}
        foreign = json.dumps(cut.foreign)
        yield {
            "tc_kind": "end",
            **note,
            "tc_foreign": foreign,
            "tc_failed": has_failed or cut.error is not None,
        }

    def _end(self, path: str, rows: list[Row], user: PartUser) -> Iterator[Row]:
        if any(row["tc_failed"] for row in rows):
            yield from self._whole(path, user)
            return
        foreign = {pair: None for row in rows for pair in pairs_of(row["tc_foreign"])}
        yield from self._caught(path, user, lambda: self._second(path, user, tuple(foreign)))

    def _joined(self, path: str, chunk: int, rows: Iterable[Row], user: PartUser) -> Iterator[Row]:
        join = JoinedSlices(self.cutting.most_bytes)
        for row in rows:
            join.add(row["tc_body"] or b"", row["tc_map"] or b"", row["tc_size"])
        part = join.part(self.cutting.scheme.chunks[chunk - 1])
        if part is None:
            yield from self._refused(path, self.cutting.scheme, {chunk: join.size}, user)
        else:
            yield from user.use(path, part, ())

    def _whole(self, path: str, user: PartUser) -> Iterator[Row]:
        """A document in a single pass, and in a second one if that is needed."""

        def rows() -> Iterator[Row]:
            cut = self._pass(path, self.cutting.scheme)
            for part in cut:
                yield from user.use(path, part, ())
            yield from self._refused(path, self.cutting.scheme, cut.too_wide, user)
            if cut.error is not None:
                yield user.fail(path, error_row(cut.error))
            else:
                yield from self._second(path, user, tuple(cut.foreign))

        yield from self._caught(path, user, rows)

    def _second(self, path: str, user: PartUser, foreign: tuple[Pair, ...]) -> Iterator[Row]:
        second = settled(self.cutting.scheme, foreign)
        if second is not None:
            cut = self._pass(path, second)
            for part in cut:
                yield from user.use(path, part, foreign)
            yield from self._refused(path, second, cut.too_wide, user)

    def _pass(self, path: str, scheme: Scheme) -> DocumentPass:
        cutting = self.cutting
        blocks = whole_blocks(path, cutting)
        return DocumentPass(blocks, scheme, cutting.part_bytes, cutting.most_bytes, cutting.limits)

    def _refused(self, path: str, scheme: Scheme, sizes: dict[int, int], user: PartUser) -> Iterator[Row]:
        for number, size in sizes.items():
            chunk = scheme.chunks[number - 1]
            for error in too_wide(scheme, chunk, size, self.cutting.most_bytes):
                yield user.refuse(path, chunk, error)

    def _caught(self, path: str, user: PartUser, rows: Callable[[], Iterator[Row]]) -> Iterator[Row]:
        """Rows, and the error of a file that cannot be read."""
        try:
            yield from rows()
        except UnreadableFile as error:
            yield user.fail(path, error.row)


def pairs_of(text: str) -> list[Pair]:
    """The pairs of names of a text of JSON."""
    return [(None if parent is None else tuple(parent), tuple(child)) for parent, child in json.loads(text)]


def single_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        for number in range(batch.num_rows):
            yield batch.slice(number, 1).to_pylist()[0]

"""Files that workers cut into chunks: a value for ``answers``, and a table with a row for each part."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.chunking import MOST_BYTES, Chunk, Pair, PartOfChunk, Scheme
from twigcast.document import NO_LIMIT, PART_BYTES, PIECE_BYTES, DocumentLimits
from twigcast.errors import ChunkingError, StageError
from twigcast.spark.chunking.chunk_columns import ARROW_CHUNKS, CHUNKS
from twigcast.spark.chunking.file_pieces import Cutting
from twigcast.spark.chunking.part_stage import Row, used_parts
from twigcast.spark.columns import ErrorRow, error_without_position
from twigcast.spark.fragments.huge_files import check_readable
from twigcast.spark.jvm.workers import prepare_workers
from twigcast.spark.sources.documents import Documents
from twigcast.spark.sources.listing.file_listing import FileListing
from twigcast.spark.sources.listing.place_stream import PlaceStream
from twigcast.spark.sources.listing.places import FilePlaces, Place, listed_here
from twigcast.system import Links

Order: TypeAlias = Literal["document", "priority"]


class UncutFiles(Documents):
    """Files that are cut once there is a scheme for them."""

    def __init__(self, places: FilePlaces, links: Links, max_unpacked_bytes: int) -> None:
        super().__init__(places.frame)
        self.places = places
        self.links = links
        self.max_unpacked_bytes = max_unpacked_bytes

    def first_path(self) -> str | None:
        """The first of the paths, in the order of text; None if there is no file that may be read."""
        frame, stage = self.places.frame, self.places.stage
        files = (
            frame if stage is None else frame.mapInArrow(stage, "path string, length long, refusal string")
        )
        first: str | None = files.where(F.col("refusal").isNull()).agg(F.min("path")).collect()[0][0]
        return first


class Chunks(Documents):
    """The chunks of files; as a DataFrame it has a row for each part, see ``chunk_columns``."""

    def __init__(self, places: FilePlaces, cutting: Cutting, order: Order) -> None:
        self.places = places
        self.cutting = cutting
        self.order = order

    @property
    def scheme(self) -> Scheme:
        """The scheme by which the files are cut."""
        return self.cutting.scheme

    @cached_property
    def dataframe(self) -> DataFrame:  # type: ignore[override]
        return used_parts(self.places, self.cutting, PartRows())

    def worker_reading(self) -> None:
        return None


def chunks(
    spark: SparkSession,
    source: str,
    scheme: Scheme,
    *,
    part_bytes: int = PART_BYTES,
    most_bytes: int = MOST_BYTES,
    piece_bytes: int = PIECE_BYTES,
    order: Order = "document",
    limits: DocumentLimits | None = None,
    options: Mapping[str, str] | None = None,
) -> Chunks:
    """The chunks of one file, or of all files of a folder or glob pattern, cut by a scheme.

    Give the result to ``answers``: workers then cut and run in one stage.  As a DataFrame it has a row for
    each part: ``doc_id`` (the path, ``#``, and the offset of the first record), ``chunk``, ``part``,
    ``queries``, ``body``, ``source_map``, ``error``.  Parts have about ``part_bytes``; a chunk that is one
    document is refused, for its queries, if it has more than ``most_bytes``.  A file of more than
    ``piece_bytes`` is read in pieces of about that size, by several tasks.
    With ``order="priority"`` all chunks are cut first, and then run by the priorities of their queries.
    ``options`` are those of Spark's format ``binaryFile``, and ``links``.
    """
    if order not in get_args(Order):
        raise StageError(
            f"expected order to be {' or '.join(get_args(Order))}, got {order!r}", code="options"
        )
    prepare_workers(spark)
    given = dict(options or {})
    links: Any = given.pop("links", "skip")
    files = FileListing(source, given, {}, links)
    check_readable(spark, source)
    bounds = replace(limits or DocumentLimits(), bytes=NO_LIMIT)
    lean = replace(scheme, profile=None)
    cutting = Cutting(lean, part_bytes, most_bytes, piece_bytes, bounds, links)
    return Chunks(files.places(spark, streaming=False), cutting, order)


@dataclass(frozen=True, slots=True)
class ChunkFilesSource:
    """The files of a pipeline whose subscriptions are the queries."""

    files: FileListing
    max_unpacked_bytes: int

    def list(self, spark: SparkSession, *, streaming: bool) -> FilePlaces:
        """The paths of the files; raises ``StageError`` if workers cannot open them."""
        check_readable(spark, self.files.path)
        return self.files.places(spark, streaming=streaming)

    def stream(self, spark: SparkSession, work: Path) -> PlaceStream:
        """The paths of the files, as a stream."""
        check_readable(spark, self.files.path)
        return self.files.stream(spark, work)

    def past(self, spark: SparkSession, work: Path, checkpoint: str) -> Mapping[int, Sequence[Place]]:
        """Raise ``StageError``: other subscriptions cut other parts, whose deliveries have other ids."""
        raise StageError("chunks are cut by the subscriptions of their batch", code="no-replay")

    def at(self, spark: SparkSession, places: Sequence[Place]) -> FilePlaces:
        """These files."""
        return listed_here(spark, places)

    def open(self, places: FilePlaces) -> Documents:
        """The files, to be cut by the scheme of a batch."""
        return UncutFiles(places, self.files.links, self.max_unpacked_bytes)


class PartRows:
    """Uses parts as rows of a table."""

    columns = CHUNKS
    arrow = ARROW_CHUNKS

    def __init__(self, scheme: Scheme | None = None) -> None:
        self._scheme = scheme

    def begin(self, scheme: Scheme) -> PartRows:
        return PartRows(scheme)

    def use(self, path: str, part: PartOfChunk, foreign: tuple[Pair, ...]) -> Iterator[Row]:
        assert self._scheme is not None
        yield {
            "doc_id": part_id(path, part),
            "chunk": part.chunk.number,
            "part": part.number,
            "queries": [str(self._scheme.queries[number].query.id) for number in part.chunk.targets],
            "body": part.body,
            "source_map": bytes(part.source_map),
            "is_partial": part.is_partial,
            "foreign": json.dumps(foreign) if foreign else None,
        }

    def fail(self, path: str, error: ErrorRow) -> Row:
        return {"doc_id": document_name(path), "error": error}

    def refuse(self, path: str, chunk: Chunk, error: ChunkingError) -> Row:
        row = error_without_position(error.message, code=error.code)
        return {"doc_id": f"{document_name(path)}#0", "chunk": chunk.number, "error": row} | {
            "queries": [str(error.query)]
        }


def document_name(path: str) -> str:
    """A path as ids have it, so that an offset is what follows the only ``#``."""
    return path.replace("#", "\\x23")


def part_id(path: str, part: PartOfChunk) -> str:
    """The id of a part."""
    return f"{document_name(path)}#{part.start}"

"""The pieces of files that are cut in parallel: found by a scan, and read by their ranges."""

from __future__ import annotations

import mmap
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from twigcast.chunking import MOST_BYTES, Scheme, piece_depth
from twigcast.document import NO_LIMIT, PART_BYTES, PIECE_BYTES, DocumentLimits, DocumentPiece, cut_points
from twigcast.spark.columns import ErrorRow, error_without_position
from twigcast.spark.sources.archive_limits import ArchiveLimits, TooMuch
from twigcast.spark.sources.file_access import UNREADABLE, decompressed, is_compressed, open_file
from twigcast.system import Links

PIECES = "path string, number int, piece binary, refusal string"
_ARROW_PIECES = pa.schema(
    [("path", pa.string()), ("number", pa.int32()), ("piece", pa.binary()), ("refusal", pa.string())]
)
_BLOCK = 1 << 20
_UNBOUNDED = DocumentLimits(bytes=NO_LIMIT)


@dataclass(frozen=True, slots=True)
class Cutting:
    """How documents are cut: all that workers need to know, but for the documents."""

    scheme: Scheme
    part_bytes: int = PART_BYTES
    most_bytes: int = MOST_BYTES
    piece_bytes: int = PIECE_BYTES
    limits: DocumentLimits = _UNBOUNDED
    links: Links = "follow"
    max_unpacked_bytes: int = ArchiveLimits().bytes
    """Of a compressed file."""


def piece_rows(batches: Iterator[pa.RecordBatch], *, cutting: Cutting) -> Iterator[pa.RecordBatch]:
    """The pieces of files; a file that is one piece, or that cannot be read, is a row without a piece."""
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("path", "length", "refusal"))
        for path, length, refusal in zip(*columns, strict=True):
            pieces = [] if refusal is not None else pieces_of(path, length, cutting)
            rows = [{"path": path, "number": each.number, "piece": pickle.dumps(each)} for each in pieces]
            yield pa.RecordBatch.from_pylist(
                rows or [{"path": path, "number": 0, "refusal": refusal}], schema=_ARROW_PIECES
            )


def pieces_of(path: str, length: int, cutting: Cutting) -> list[DocumentPiece]:
    """The pieces of a file; none if it is to be read as a whole: a small, compressed or remote one."""
    if length <= cutting.piece_bytes or is_compressed(path):
        return []
    try:
        with (
            open_file(path, links=cutting.links) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        ):
            found = cut_points(mapped, cutting.piece_bytes, piece_depth(cutting.scheme), cutting.limits)
    except UNREADABLE:  # the pass over the whole says why; a remote file has no descriptor
        return []
    return found if len(found) > 1 else []


class UnreadableFile(Exception):
    """A file that cannot be read, with the error as a row."""

    def __init__(self, row: ErrorRow) -> None:
        super().__init__(row["message"])
        self.row = row


def piece_blocks(path: str, piece: DocumentPiece, links: Links) -> Iterator[bytes]:
    """What a parser of the piece is fed; raises ``UnreadableFile``."""
    with _reported(), open_file(path, links=links) as file:
        for start, end in [*piece.preamble, (piece.start, piece.end)]:
            file.seek(start)
            while start < end:
                block = file.read(min(_BLOCK, end - start))
                if not block:
                    raise OSError("it has changed while it was read")
                start += len(block)
                yield block


def whole_blocks(path: str, cutting: Cutting) -> Iterator[bytes]:
    """A file from its beginning, decompressed; raises ``UnreadableFile``."""
    with _reported(), open_file(path, links=cutting.links) as file:
        stream = decompressed(path, file)
        size = 0
        while block := stream.read(_BLOCK):
            size += len(block)
            if stream is not file and size > cutting.max_unpacked_bytes:
                raise TooMuch("bytes", cutting.max_unpacked_bytes)
            yield block


@contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except TooMuch as error:
        raise UnreadableFile(error_without_position(str(error), code="archive-limit")) from error
    except UNREADABLE as error:
        reason = getattr(error, "strerror", None) or str(error)
        row = error_without_position(f"the file cannot be read: {reason}", code="unreadable")
        raise UnreadableFile(row) from error

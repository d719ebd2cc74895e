"""The segment file: written once, mapped read-only by any number of processes.

    head 64 bytes | kernel segment | ids | subscribers | holes | expressions | table of contents (JSON)

Matching reads the kernel segment straight from the mapped pages.  Row i of the other parts belongs to
position ``first + i``.  Ids and subscribers have the layout of Arrow strings.  Expressions are stored in
compressed blocks (6 to 13 bytes for each expression); ``select``, ``explain`` and recompiling read them.

An index that is saved as one file is one segment that begins at position 0; its table of contents also has
the prefixes that are bound for all subscriptions, if there are any.  An index version is a list of
segments; each segment also lists the positions of earlier segments that were removed since (tombstones).

The head has the version of the format, the length and a checksum.  A file that was truncated, altered, or
written in another format is refused.  A checksum can be forged, so every number is checked as well, before
memory is allocated for it: the kernel checks the tables of its segment, and a block of expressions is not
decompressed beyond the size that the table of contents declares, at most ``TEXT_BYTES``.  So no file can
crash a process, or make it allocate much more than the size of the file and one such block.
"""

from __future__ import annotations

import bz2
import json
import struct
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import Any

from twigcast.errors import IndexFileError
from twigcast.filtering.kernel._kernel import Segment
from twigcast.filtering.mapped_file import MappedFile
from twigcast.filtering.stored_rows import (
    BLOCK,
    TEXT_BYTES,
    StoredRows,
    StoredTexts,
    StoredWords,
    decode_ids,
    encode_ids,
    text_buffers,
)
from twigcast.system import atomic_file

MAGIC = b"twigcast"
VERSION = 4
SUFFIX = ".tci"
_HEAD = struct.Struct("<8sIIQQQ24x")  # magic, version, checksum, length, offset and length of the contents
_COMPRESSORS = 2  # threads; one thread takes half a second for 100,000 expressions


@dataclass(frozen=True, slots=True)
class Row:
    """The row of one position in a segment file; the row of a removed subscription is ``HOLE``."""

    id: Any
    text: str
    subscriber: str
    part: bool


HOLE = Row("", "", "", False)


@dataclass(frozen=True, slots=True)
class StoredSegment:
    """The content of a segment file; the file stays mapped for as long as one of the parts is in use."""

    name: str
    segment: Segment
    first: int
    rows: StoredRows
    inexact: list[int]
    removed: list[int]
    file: MappedFile
    namespaces: Mapping[str, str]

    @property
    def stop(self) -> int:
        """The end of the range of positions: the last position plus one."""
        return self.first + len(self.rows)


def encode_segment(
    segment: bytes,
    first: int,
    rows: Sequence[Row],
    inexact: Iterable[int] = (),
    removed: Iterable[int] = (),
    namespaces: Mapping[str, str] | None = None,
) -> list[bytes]:
    """The content of a segment file, as pieces to be written in order.

    ``inexact`` and ``removed`` (the tombstones) are positions; ``namespaces`` are the prefixes of the index.
    """
    holes = bytearray((len(rows) + 7) // 8)
    living = [row for row in rows if row is not HOLE]
    filler = 0 if living and all(type(row.id) is int for row in living) else ""
    ids = [filler if row is HOLE else row.id for row in rows]
    for number, row in enumerate(rows):
        if row is HOLE:
            holes[number >> 3] |= 1 << (number & 7)
    kind, id_parts = encode_ids(ids)
    named = any(row.subscriber != str(row.id) for row in living)
    subscriber_parts = text_buffers([row.subscriber.encode() for row in rows]) if named else []
    hole_parts = [bytes(holes)] if len(living) < len(rows) else []
    starts = range(0, len(rows), BLOCK)
    blocks = [[row.text for row in rows[start : start + BLOCK]] for start in starts]
    if len(blocks) > 1:
        with ThreadPoolExecutor(_COMPRESSORS) as pool:
            encoded = list(pool.map(_encode_block, blocks))
    else:
        encoded = list(map(_encode_block, blocks))
    texts = [block for block, _ in encoded]
    groups = {
        "segment": [segment],
        "ids": id_parts,
        "subscribers": subscriber_parts,
        "holes": hole_parts,
        "texts": texts,
    }
    at = _HEAD.size
    pieces: list[bytes] = []
    extents: dict[str, list[tuple[int, int]]] = {}
    for name, parts in groups.items():
        extents[name] = []
        for part in parts:
            extents[name].append((at, len(part)))
            pieces += (part, bytes(-len(part) % 8))
            at += len(part) + -len(part) % 8
    contents: dict[str, Any] = {
        **extents,
        "text_bytes": [size for _, size in encoded],
        "kind": kind,
        "first": first,
        "count": len(rows),
        "parts": [number for number, row in enumerate(rows) if row.part],
        "inexact": list(inexact),
        "removed": list(removed),
    }
    if namespaces:  # an earlier twigcast reads such a file, and ignores them
        contents["namespaces"] = dict(namespaces)
    table = json.dumps(contents, separators=(",", ":")).encode()
    checksum = zlib.crc32(_head(0, at + len(table), at, len(table)))
    for piece in (*pieces, table):
        checksum = zlib.crc32(piece, checksum)
    return [_head(checksum, at + len(table), at, len(table)), *pieces, table]


def write_segment(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a segment file atomically: a reader finds the old file or the new one, never a part."""
    with atomic_file(path) as file:
        for piece in pieces:
            file.write(piece)


def segment_name(pieces: Iterable[bytes]) -> str:
    """The name of a segment file: a hash of its content."""
    content = blake2b(digest_size=16)
    for piece in pieces:
        content.update(piece)
    return content.hexdigest() + SUFFIX


def read_segment(path: Path) -> StoredSegment:
    """Map a segment file and validate it; raises ``IndexFileError``."""
    file = MappedFile(path)
    mapped, size = file.view, len(file.view)
    if size < _HEAD.size:
        raise IndexFileError(f"{path} is too short to be an index", code="truncated")
    magic, version, checksum, length, at, table_length = _HEAD.unpack(mapped[: _HEAD.size])
    if magic != MAGIC:
        raise IndexFileError(f"{path} is not a twigcast index", code="not-an-index")
    if version != VERSION:
        raise IndexFileError(
            f"{path} has format {version}, but this twigcast reads format {VERSION}: rebuild the index",
            code="version",
        )
    if length != size:
        raise IndexFileError(
            f"{path} has {size} bytes instead of {length}: it was truncated", code="truncated"
        )
    if bytes(mapped[: _HEAD.size]) != _head(checksum, length, at, table_length) or checksum != zlib.crc32(
        mapped[_HEAD.size :], zlib.crc32(_head(0, length, at, table_length))
    ):
        raise IndexFileError(
            f"{path} was altered after it was written: its checksum is wrong", code="altered"
        )
    try:
        return _decoded(file, json.loads(bytes(_part(mapped, (at, table_length)))))
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
        raise IndexFileError(f"{path} is not a valid index: {error}", code="altered") from error


def _decoded(file: MappedFile, contents: dict[str, Any]) -> StoredSegment:
    def parts(group: str, *numbers: int) -> list[memoryview]:
        extents = contents[group]
        if len(extents) not in numbers:
            raise ValueError(f"the number of parts of {group} is wrong")
        return [_part(file.view, extent) for extent in extents]

    (kernel,) = parts("segment", 1)
    segment = Segment(kernel)
    first, count = _whole(contents["first"]), _whole(contents["count"])
    if not 0 <= first <= first + count < 1 << 32:
        raise ValueError("its range of positions is out of bounds")
    if segment.end > segment.start and not first <= segment.start <= segment.end <= first + count:
        raise ValueError("the segment has positions without a row")
    ids = decode_ids(contents["kind"], parts("ids", 1, 2), count)
    subscribers = parts("subscribers", 0, 2)
    texts = parts("texts", (count + BLOCK - 1) // BLOCK)
    holes = b"".join(parts("holes", 0, 1))
    if holes and len(holes) != (count + 7) // 8:
        raise ValueError("the bitmap of holes has a wrong length")
    sizes = [_whole(size) for size in contents["text_bytes"]]
    if len(sizes) != len(texts) or not all(0 <= size <= TEXT_BYTES for size in sizes):
        raise ValueError("a block of expressions is too large")
    rows = StoredRows(
        ids,
        StoredTexts(texts, sizes, count),
        StoredWords(subscribers[0], subscribers[1], count) if subscribers else None,
        _positions(contents["parts"], count),
        holes,
    )
    inexact = _positions(contents["inexact"], first + count)
    removed = _positions(contents["removed"], first + count)
    bound = _bindings(contents.get("namespaces", {}))
    return StoredSegment(file.path.name, segment, first, rows, inexact, removed, file, bound)


def _bindings(bound: Any) -> Mapping[str, str]:
    if not isinstance(bound, dict) or not all(isinstance(uri, str) for uri in bound.values()):
        raise ValueError("its prefixes are not bound to text")
    return bound


def _positions(numbers: Iterable[Any], end: int) -> list[int]:
    positions = [_whole(number) for number in numbers]
    if any(not 0 <= position < end for position in positions):
        raise ValueError("a position is out of range")
    return positions


def _whole(number: Any) -> int:
    if type(number) is not int:
        raise ValueError("a number is not a whole number")
    return number


def _head(checksum: int, length: int, at: int, table_length: int) -> bytes:
    """The head; the checksum is computed over the file with 0 in the checksum field."""
    return _HEAD.pack(MAGIC, VERSION, checksum, length, at, table_length)


def _encode_block(texts: list[str]) -> tuple[bytes, int]:
    """A compressed block of expressions (the end offset of each, then their text), and its size before.

    Offsets are used because any separator could occur in an expression.
    """
    encoded = [text.encode() for text in texts]
    content = array("I", accumulate(map(len, encoded))).tobytes() + b"".join(encoded)
    if len(content) > TEXT_BYTES:
        raise IndexFileError(
            f"{len(texts):,} expressions have {len(content):,} bytes, but a file can have at most "
            f"{TEXT_BYTES:,} in one block: add smaller expressions or schemas",
            code="too-large",
        )
    return bz2.compress(content), len(content)


def _part(mapped: memoryview, extent: Iterable[int]) -> memoryview:
    at, length = map(_whole, extent)
    if not 0 <= at <= at + length <= len(mapped):
        raise ValueError("a part lies outside the file")
    return mapped[at : at + length]

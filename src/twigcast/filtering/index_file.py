"""An index as one file: written once, mapped read-only by as many processes as like.

    head 64 bytes | segment | ids | expressions | table of contents (JSON)

The segment is what matching reads, straight from the mapped pages.  Expressions are kept in compressed blocks
(6 to 13 bytes each), for ``select``, ``explain`` and for going on from a file.  The head carries the
format's version, the length and a checksum of the rest: a file that was cut, altered, or written by another
version is refused, and the segment's tables are checked once more by the kernel, so that no file can crash a
process.
"""

from __future__ import annotations

import base64
import bz2
import contextlib
import json
import mmap
import os
import struct
import tempfile
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, cast, overload

from twigcast.errors import IndexFileError, SubscriptionError
from twigcast.filtering.kernel._kernel import Segment
from twigcast.filtering.roster import StoredIds

MAGIC = b"twigcast"
VERSION = 2
_HEAD = struct.Struct("<8sIIQQQ24x")  # magic, version, checksum, length, place and length of the contents
_BLOCK = 1024  # expressions compressed together: bz2 needs 12.5 bytes each with many values, zlib 17.8
_COMPRESSORS = 2  # threads: half a second for 100,000 expressions on one


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """What an index file holds; the mapping lives as long as one of the parts."""

    segment: Segment
    ids: StoredIds
    texts: Sequence[str]
    inexact: list[int]


def write_index(
    path: Path, segment: bytes, ids: Sequence[Hashable], texts: Sequence[str], inexact: Sequence[int]
) -> None:
    """Write the file beside its place, then move it there: a reader sees the old index or the new one."""
    kind, encoded_ids = _encode_ids(ids)
    parts: list[bytes] = [segment, *encoded_ids]
    starts = range(0, len(texts), _BLOCK)
    with ThreadPoolExecutor(_COMPRESSORS) as pool:
        blocks = list(pool.map(lambda i: bz2.compress("\0".join(texts[i : i + _BLOCK]).encode()), starts))
    parts += blocks
    places: list[tuple[int, int]] = []
    at = _HEAD.size
    for part in parts:
        places.append((at, len(part)))
        at += len(part) + -len(part) % 8
    contents = {
        "segment": places[0],
        "ids": {"kind": kind, "count": len(ids), "buffers": places[1 : 1 + len(encoded_ids)]},
        "texts": places[1 + len(encoded_ids) :],
        "inexact": list(inexact),
    }
    table = json.dumps(contents).encode()
    checksum = zlib.crc32(_head(0, at + len(table), at, len(table)))
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(bytes(_HEAD.size))
            for part in [*parts, table]:
                for piece in (part, bytes(-len(part) % 8)) if part is not table else (part,):
                    checksum = zlib.crc32(piece, checksum)
                    file.write(piece)
            file.seek(0)
            file.write(_head(checksum, at + len(table), at, len(table)))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def read_index(path: Path) -> StoredIndex:
    """Map the file and check it; raises ``IndexFileError``."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < _HEAD.size:
                raise IndexFileError(f"{path} is too short to be an index", code="truncated")
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise IndexFileError(f"cannot read the index {path}: {error.strerror}", code="unreadable") from error
    magic, version, checksum, length, at, table_length = _HEAD.unpack(mapped[: _HEAD.size])
    if magic != MAGIC:
        raise IndexFileError(f"{path} is not a twigcast index", code="not-an-index")
    if version != VERSION:
        raise IndexFileError(
            f"{path} has format {version}, this twigcast reads format {VERSION}: build it anew",
            code="version",
        )
    if length != size:
        raise IndexFileError(
            f"{path} has {size} bytes instead of {length}: it was cut short", code="truncated"
        )
    if bytes(mapped[: _HEAD.size]) != _head(checksum, length, at, table_length) or checksum != zlib.crc32(
        mapped[_HEAD.size :], zlib.crc32(_head(0, length, at, table_length))
    ):
        raise IndexFileError(
            f"{path} was altered after it was written: its checksum is wrong", code="altered"
        )
    try:
        contents = json.loads(bytes(mapped[at : at + table_length]))
        segment = Segment(_part(mapped, contents["segment"]))
        ids = _decode_ids(contents["ids"], mapped)
        if segment.end > len(ids):
            raise ValueError("positions without ids")
        texts = StoredTexts([_part(mapped, place) for place in contents["texts"]], len(ids))
        inexact = [int(position) for position in contents["inexact"]]
        if any(not 0 <= position < len(ids) for position in inexact):
            raise ValueError("a position out of range")
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise IndexFileError(f"{path} is not a sound index: {error}", code="altered") from error
    return StoredIndex(segment, ids, texts, inexact)


def _head(checksum: int, length: int, at: int, table_length: int) -> bytes:
    """The head; the checksum is that of the file with 0 in its place."""
    return _HEAD.pack(MAGIC, VERSION, checksum, length, at, table_length)


class StoredTexts(Sequence[str]):
    """Expressions in compressed blocks; the block used last is kept open."""

    def __init__(self, blocks: list[memoryview], count: int) -> None:
        self._blocks = blocks
        self._count = count
        self._open: tuple[int, list[str]] = (-1, [])

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> list[str]: ...
    def __getitem__(self, position: int | slice) -> str | list[str]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        number, within = divmod(position, _BLOCK)
        open_number, texts = self._open
        try:
            if open_number != number:
                texts = bz2.decompress(self._blocks[number]).decode().split("\0")
                self._open = (number, texts)
            return texts[within]
        except (OSError, ValueError, IndexError) as error:
            raise IndexFileError(
                f"the expressions of the index cannot be read: {error}", code="altered"
            ) from error


class _StoredNumbers(Sequence[Hashable]):
    """Ids that are numbers, eight bytes each in the mapped file."""

    def __init__(self, numbers: memoryview) -> None:
        self._numbers = numbers.cast("q")

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, position: int) -> int: ...
    @overload
    def __getitem__(self, position: slice) -> list[int]: ...
    def __getitem__(self, position: int | slice) -> int | list[int]:
        return self._numbers[position].tolist() if isinstance(position, slice) else self._numbers[position]

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers.tolist())

    def find(self, id: Hashable) -> int | None:
        """The position of an id, found by looking at all of them."""
        if type(id) is not int or not -(2**63) <= id < 2**63:
            return None
        sought, numbers, at = struct.pack("<q", id), bytes(self._numbers), -1
        while (at := numbers.find(sought, at + 1)) >= 0:
            if at % 8 == 0:
                return at // 8
        return None


class _StoredWords(Sequence[Hashable]):
    """Ids as text in the mapped file, and where each begins; as JSON where they are not plain strings."""

    def __init__(self, starts: memoryview, text: memoryview, packed: bool) -> None:
        self._starts = starts.cast("q")
        self._text = text
        self._packed = packed

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, position: int) -> Hashable: ...
    @overload
    def __getitem__(self, position: slice) -> list[Hashable]: ...
    def __getitem__(self, position: int | slice) -> Hashable | list[Hashable]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        word = str(self._text[self._starts[position] : self._starts[position + 1]], "utf-8")
        return _unpacked(json.loads(word)) if self._packed else word

    def find(self, id: Hashable) -> int | None:
        """The position of an id, found by looking at all of them."""
        try:
            word = json.dumps(_packed(id)) if self._packed else id
        except SubscriptionError:
            return None
        if not isinstance(word, str):
            return None
        sought, text, at = word.encode(), bytes(self._text), -1
        while (at := text.find(sought, at + 1)) >= 0:
            position = bisect_left(self._starts, at)
            while position < len(self) and self._starts[position] == at:  # an empty word may stand before it
                if self._starts[position + 1] == at + len(sought):
                    return position
                position += 1
        return None


def _encode_ids(ids: Sequence[Hashable]) -> tuple[str, list[bytes]]:
    types = set(map(type, ids))
    if types <= {int}:
        with contextlib.suppress(OverflowError):
            return "int", [array("q", cast(Sequence[int], ids)).tobytes()]
    if types <= {str}:
        return "str", _text_buffers([str(id).encode() for id in ids])
    return "packed", _text_buffers([json.dumps(_packed(id)).encode() for id in ids])


def _text_buffers(texts: list[bytes]) -> list[bytes]:
    """Where each word begins, and the words."""
    return [array("q", accumulate(map(len, texts), initial=0)).tobytes(), b"".join(texts)]


def _decode_ids(contents: dict[str, Any], mapped: memoryview) -> StoredIds:
    kind, count = contents["kind"], int(contents["count"])
    first, *rest = [_part(mapped, place) for place in contents["buffers"]]
    ids = _StoredNumbers(first) if kind == "int" else _StoredWords(first, rest[0], kind == "packed")
    if len(ids) != count:
        raise ValueError("ids without positions")
    return ids


def _packed(id: Hashable) -> Any:
    """An id as JSON; tuples and bytes, which JSON lacks, as objects."""
    if isinstance(id, tuple):
        return {"tuple": [_packed(part) for part in id]}
    if isinstance(id, bytes):
        return {"bytes": base64.b64encode(id).decode()}
    if id is None or type(id) in (str, int, float, bool):
        return id
    raise SubscriptionError(
        f"the id {id!r} cannot be saved: use strings, numbers, bytes, or tuples of these",
        code="unsavable-id",
        id=id,
    )


def _unpacked(value: Any) -> Hashable:
    if isinstance(value, dict):
        if "tuple" in value:
            return tuple(_unpacked(part) for part in value["tuple"])
        return base64.b64decode(value["bytes"])
    scalar: Hashable = value
    return scalar


def _part(mapped: memoryview, place: Iterable[int]) -> memoryview:
    at, length = place
    if not 0 <= at <= at + length <= len(mapped):
        raise ValueError("a part lies outside the file")
    return mapped[at : at + length]

"""The rows of a segment file: ids, subscribers and expressions, decoded on first use.

Ids and subscribers are Arrow strings in the mapped file: an offset of eight bytes for each, and the text.
Expressions are in compressed blocks; the block that was used last stays decompressed.
"""

from __future__ import annotations

import base64
import bz2
import contextlib
import json
import struct
from array import array
from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Protocol, cast, overload

import pyarrow as pa

from twigcast.errors import IndexFileError, SubscriptionError

BLOCK = 1024  # expressions in a compressed block; with many values bz2 needs 12.5 bytes for each, zlib 17.8
TEXT_BYTES = 128 << 20  # of a block before compression: all subscriptions within the default limits fit

ROW_SCHEMA = pa.schema(
    [
        ("subscription", pa.large_string()),
        ("subscriber", pa.large_string()),
        ("pattern", pa.large_string()),  # null unless the subscription receives only the selected parts
    ]
)
"""The Arrow schema of the subscriptions that are stored with a segment."""


class StoredIds(Protocol):
    """Ids that are stored in a file; ``find`` scans all of them."""

    def __len__(self) -> int: ...
    def __getitem__(self, position: int, /) -> Hashable: ...
    def __iter__(self) -> Iterator[Hashable]: ...
    def find(self, id: Hashable) -> Iterator[int]:
        """The rows that have the id, found by a scan."""
        ...

    def to_arrow(self) -> Any:
        """The ids as an Arrow array of text."""
        ...


@dataclass(frozen=True)  # without slots, which ``cached_property`` does not support
class StoredRows:
    """The rows of one segment file."""

    ids: StoredIds
    texts: Sequence[str]
    subscribers: StoredWords | None  # none if each id is its own subscriber
    parts: Sequence[int]  # the rows of subscriptions that receive only the selected parts
    holes: bytes  # bitmap of the rows of removed subscriptions; empty if there are none

    def __len__(self) -> int:
        return len(self.ids)

    def subscriber(self, row: int) -> str:
        """The subscriber of the subscription in a row."""
        return str(self.ids[row]) if self.subscribers is None else str(self.subscribers[row])

    @cached_property
    def part_rows(self) -> frozenset[int]:
        """The rows of subscriptions that receive only the selected parts, as a set."""
        return frozenset(self.parts)

    @cached_property
    def table(self) -> Any:
        """The rows as an Arrow table of ``ROW_SCHEMA``; mapped ids and subscribers are not copied."""
        ids = self.ids.to_arrow()
        owners = ids if self.subscribers is None else self.subscribers.to_arrow()
        if self.parts:
            patterns: list[str | None] = [None] * len(self)
            for row in self.parts:
                patterns[row] = self.texts[row]
            selecting = pa.array(patterns, pa.large_string())
        else:
            selecting = pa.nulls(len(self), pa.large_string())
        return pa.Table.from_arrays([ids, owners, selecting], schema=ROW_SCHEMA)


class StoredTexts(Sequence[str]):
    """Expressions in compressed blocks; the block that was used last stays decompressed."""

    def __init__(self, blocks: list[memoryview], sizes: list[int], count: int) -> None:
        """``sizes`` are the declared sizes of the blocks after decompression."""
        self._blocks = blocks
        self._sizes = sizes
        self._count = count
        self._open: tuple[int, list[str]] = (-1, [])
        self._damaged: dict[int, str] = {}  # blocks that cannot be decompressed are not tried again

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> list[str]: ...
    def __getitem__(self, position: int | slice) -> str | list[str]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        number, within = divmod(position, BLOCK)
        open_number, texts = self._open
        if open_number != number:
            texts = self._read(number)
            self._open = (number, texts)
        return texts[within]

    def _read(self, number: int) -> list[str]:
        if number not in self._damaged:
            try:
                content = _decompressed(self._blocks[number], self._sizes[number])
                return _decoded_block(content, self._in_block(number))
            except (OSError, ValueError, EOFError) as error:
                self._damaged[number] = str(error)
        reason = self._damaged[number]
        raise IndexFileError(f"the expressions of the index cannot be read: {reason}", code="altered")

    def _in_block(self, number: int) -> int:
        return min(BLOCK, self._count - number * BLOCK)


def _decompressed(block: memoryview, size: int) -> bytes:
    """Decompress a block to exactly its declared size; raises an error before it takes more memory."""
    decompressor = bz2.BZ2Decompressor()
    content = decompressor.decompress(block, max_length=size + 1)
    if len(content) != size or not (decompressor.eof or size == 0):
        raise ValueError("a block of expressions has another size than declared")
    return content


def _decoded_block(content: bytes, count: int) -> list[str]:
    if len(content) < 4 * count:
        raise ValueError("an expression lies outside its block")
    ends = memoryview(content[: 4 * count]).cast("I")
    text = content[4 * count :]
    start = 0
    texts = []
    for end in ends:
        if not start <= end <= len(text):
            raise ValueError("an expression lies outside its block")
        texts.append(text[start:end].decode())
        start = end
    return texts


class StoredNumbers(Sequence[Hashable]):
    """Integer ids, of eight bytes each, in the mapped file."""

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

    def find(self, id: Hashable) -> Iterator[int]:
        """The rows that have the id, found by looking at all of them."""
        if type(id) is not int or not -(2**63) <= id < 2**63:
            return
        sought, numbers, at = struct.pack("<q", id), bytes(self._numbers), -1
        while (at := numbers.find(sought, at + 1)) >= 0:
            if at % 8 == 0:
                yield at // 8

    def to_arrow(self) -> Any:
        """The ids as Arrow text."""
        buffer = pa.py_buffer(self._numbers)
        return pa.Array.from_buffers(pa.int64(), len(self), [None, buffer]).cast(pa.large_string())


class StoredWords(Sequence[Hashable]):
    """Strings in the mapped file, as text and offsets; ``packed`` ids, which are no strings, are JSON."""

    def __init__(self, starts: memoryview, text: memoryview, count: int, *, packed: bool = False) -> None:
        self._starts = starts.cast("q")
        self._text = text
        self._packed = packed
        if len(self._starts) != count + 1 or self._starts[count] != len(text):
            raise ValueError("the offsets of a text column do not fit its rows")
        self._words = pa.Array.from_buffers(
            pa.large_string(), count, [None, pa.py_buffer(self._starts), pa.py_buffer(text)]
        )
        try:
            self._words.validate(full=True)  # Arrow trusts offsets, but those of a file may be forged
        except pa.ArrowInvalid as error:
            raise ValueError(f"a text column is not valid: {error}") from error

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
        if not self._packed or not word:
            return word
        try:
            return _unpacked(json.loads(word))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise IndexFileError(f"an id of the index cannot be read: {error}", code="altered") from error

    def find(self, id: Hashable) -> Iterator[int]:
        """The rows that have the id, found by looking at all of them."""
        try:
            word = json.dumps(_packed(id)) if self._packed else id
        except SubscriptionError:
            return
        if not isinstance(word, str):
            return
        sought, text, at = word.encode(), bytes(self._text), -1
        while (at := text.find(sought, at + 1)) >= 0:
            position = bisect_left(self._starts, at)
            while position < len(self) and self._starts[position] == at:  # empty words begin there as well
                if self._starts[position + 1] == at + len(sought):
                    yield position
                position += 1

    def to_arrow(self) -> Any:
        """The words as an Arrow array of text; a packed id becomes the ``str`` of its value."""
        if self._packed:
            return pa.array([str(word) for word in self], pa.large_string())
        return self._words


def encode_ids(ids: Sequence[Hashable]) -> tuple[str, list[bytes]]:
    """Encode ids as parts of a file; returns the kind of encoding and the parts."""
    types = set(map(type, ids))
    if types <= {int}:
        with contextlib.suppress(OverflowError):
            return "int", [array("q", cast(Sequence[int], ids)).tobytes()]
    if types <= {str}:
        return "str", text_buffers([str(id).encode() for id in ids])
    return "packed", text_buffers([json.dumps(_packed(id)).encode() for id in ids])


def text_buffers(texts: list[bytes]) -> list[bytes]:
    """Texts in the layout of Arrow: the offsets, and the concatenated text."""
    return [array("q", accumulate(map(len, texts), initial=0)).tobytes(), b"".join(texts)]


def decode_ids(kind: str, parts: Sequence[memoryview], count: int) -> StoredIds:
    """The ids in the parts of a file; raises ``ValueError`` if the parts are not valid."""
    if kind in ("str", "packed"):
        return StoredWords(parts[0], parts[1], count, packed=kind == "packed")
    if kind != "int":
        raise ValueError("the kind of ids is unknown")
    ids = StoredNumbers(parts[0])
    if len(ids) != count:
        raise ValueError("the number of ids is wrong")
    return ids


def _packed(id: Hashable) -> Any:
    """An id as a JSON value; tuples and bytes, which JSON lacks, become objects."""
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
    if isinstance(value, list):
        raise ValueError("a list is no id")
    scalar: Hashable = value
    return scalar

"""The input and output of batch matching as Arrow arrays, without a copy of their buffers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from twigcast.system import flat_buffer

POSITIONS = pa.list_(pa.uint32())


class Bodies:
    """A view of an Arrow array of documents (binary or string): one data buffer and the offsets into it.

    Any other iterable of buffers, with ``None`` where there is no document, is made such an array.
    """

    def __init__(self, bodies: Any) -> None:
        if not isinstance(bodies, pa.Array | pa.ChunkedArray):
            bodies = _array(bodies)
        if isinstance(bodies, pa.ChunkedArray):
            bodies = bodies.combine_chunks()
        kind = bodies.type
        self.wide = kind == pa.large_binary() or kind == pa.large_string()
        if not self.wide and kind != pa.binary() and kind != pa.string():
            raise TypeError(f"expected an Arrow array of binary or string, got {kind}")
        self._count = len(bodies)
        self.valid = bytes(bodies.is_valid().to_pylist()) if bodies.null_count else b""
        _, offsets, data = bodies.buffers()
        self.offsets = memoryview(offsets or b"").cast("B")[bodies.offset * (8 if self.wide else 4) :]
        self.data = memoryview(data or b"")

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, row: int) -> bytes:
        offsets = self.offsets.cast("q" if self.wide else "i")
        return bytes(self.data[offsets[row] : offsets[row + 1]])

    def present(self, errors: Sequence[Exception | None]) -> list[bool]:
        """Whether each row has an answer: there is a value, and no error; empty if all rows have one."""
        if not self.valid and not any(errors):
            return []
        valid = self.valid or bytes([1]) * len(self)
        return [error is None and there == 1 for error, there in zip(errors, valid, strict=True)]


def _array(bodies: Any) -> Any:
    """An Arrow array of the documents of an iterable: a list, a tuple, a column of pandas or Polars."""
    expected = "expected several documents: an Arrow array of binary or string, or an iterable of bytes"
    kind = type(bodies).__qualname__
    if isinstance(bodies, str) or _is_buffer(bodies):
        raise TypeError(f"{expected}, got {kind}: match takes one document")
    if isinstance(bodies, Mapping) or hasattr(bodies, "columns"):
        raise TypeError(f"{expected}, got {kind}: give one column of it")
    if not isinstance(bodies, Iterable):
        raise TypeError(f"{expected}, got {kind}")
    found: list[bytes | memoryview | str | None] = []
    for row, each in enumerate(bodies):
        try:
            found.append(each if each is None or isinstance(each, str) else flat_buffer(each))
        except TypeError as error:
            raise TypeError(f"document {row}: {error}") from None
    size = sum(len(each) for each in found if each is not None)
    return pa.array(found, pa.binary() if size < _WIDE else pa.large_binary())


def _is_buffer(given: object) -> bool:
    """Whether the object is one buffer of bytes; an array of objects has a buffer, too."""
    try:
        return memoryview(given).itemsize == 1  # type: ignore[arg-type]
    except TypeError:
        return False


_WIDE = 1 << 29
"""The characters from which a batch gets offsets of 64 bits: four bytes each are less than 2 GiB."""


class PositionLists:
    """The matching positions of each document: one buffer with all positions, and the offsets of the rows."""

    def __init__(self, offsets: Any, positions: Any) -> None:
        self._offsets = offsets
        self._positions = positions

    def __getitem__(self, row: int) -> Sequence[int]:
        offsets = memoryview(self._offsets).cast("I")
        return memoryview(self._positions).cast("I")[offsets[row] : offsets[row + 1]]

    def to_arrow(self, count: int, present: Sequence[bool] = ()) -> Any:
        """The rows as an Arrow ``list<uint32>``; if ``present`` is given, a row where it is false is null."""
        buffer = pa.py_buffer(self._positions)
        positions = pa.Array.from_buffers(pa.uint32(), buffer.size // 4, [None, buffer])
        validity = pa.array(present, pa.bool_()).buffers()[1] if present else None
        offsets = pa.py_buffer(self._offsets)
        return pa.Array.from_buffers(POSITIONS, count, [validity, offsets], children=[positions])

"""The input and output of batch matching as Arrow arrays, without a copy of their buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

POSITIONS = pa.list_(pa.uint32())


class Bodies:
    """A view of an Arrow array of documents (binary or string): one data buffer and the offsets into it."""

    def __init__(self, bodies: Any) -> None:
        if isinstance(bodies, list | tuple):
            bodies = pa.array(bodies, pa.binary())
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

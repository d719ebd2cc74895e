"""Many documents in, many answers out, as Arrow arrays that are never copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

POSITIONS = pa.list_(pa.uint32())


class Bodies:
    """An Arrow array of documents, as binary or text: bytes in one piece, and where each document begins."""

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
        places = self.offsets.cast("q" if self.wide else "i")
        return bytes(self.data[places[row] : places[row + 1]])


class PositionLists:
    """For each document the positions that match: offsets, and the positions of all rows in one piece."""

    def __init__(self, offsets: Any, positions: Any) -> None:
        self._offsets = offsets
        self._positions = positions

    def __getitem__(self, row: int) -> Sequence[int]:
        offsets = memoryview(self._offsets).cast("I")
        return memoryview(self._positions).cast("I")[offsets[row] : offsets[row + 1]]

    def replaced(self, by: Mapping[int, Sequence[int]]) -> PositionLists:
        """The rows with others in the place of some."""
        offsets, positions = [0], list[int]()
        for row in range(len(memoryview(self._offsets).cast("I")) - 1):
            positions += by[row] if row in by else self[row]
            offsets.append(len(positions))
        return PositionLists(
            pa.array(offsets, pa.int32()).buffers()[1], pa.array(positions, pa.uint32()).buffers()[1]
        )

    def to_arrow(self, count: int, present: Sequence[bool] = ()) -> Any:
        """The rows as an Arrow ``list<uint32>``, null where they are not ``present``, if that is told."""
        buffer = pa.py_buffer(self._positions)
        positions = pa.Array.from_buffers(pa.uint32(), buffer.size // 4, [None, buffer])
        validity = pa.array(present, pa.bool_()).buffers()[1] if present else None
        offsets = pa.py_buffer(self._offsets)
        return pa.Array.from_buffers(POSITIONS, count, [validity, offsets], children=[positions])

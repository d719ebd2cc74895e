"""Many documents in, many answers out, as Arrow arrays that are never copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa


class Bodies:
    """An Arrow array of documents, as binary or text, seen as places in one piece of memory."""

    def __init__(self, bodies: Any) -> None:
        if isinstance(bodies, list | tuple):
            bodies = pa.array(bodies, pa.binary())
        if isinstance(bodies, pa.ChunkedArray):
            bodies = bodies.combine_chunks()
        kind = bodies.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            bodies = bodies.cast(pa.large_string()).view(pa.large_binary())
        elif pa.types.is_binary(kind):
            bodies = bodies.cast(pa.large_binary())
        elif not pa.types.is_large_binary(kind):
            raise TypeError(f"expected an Arrow array of binary or string, got {kind}")
        _, offsets, data = bodies.buffers()
        places = memoryview(offsets).cast("q")[bodies.offset : bodies.offset + len(bodies) + 1]
        self.valid: list[bool] = bodies.is_valid().to_pylist()
        self.starts, self.ends = places[:-1], places[1:]
        if bodies.null_count:
            starts = [start if valid else -1 for start, valid in zip(self.starts, self.valid, strict=True)]
            self.starts = memoryview(pa.array(starts, pa.int64()).buffers()[1]).cast("q")
        self.data = memoryview(b"" if data is None else data)

    def __len__(self) -> int:
        return len(self.valid)

    def __getitem__(self, row: int) -> bytes:
        return bytes(self.data[self.starts[row] : self.ends[row]])


class Rows:
    """For each document the positions that match: offsets, and the positions of all rows in one piece."""

    def __init__(self, offsets: Any, positions: Any) -> None:
        self._offsets = offsets
        self._positions = positions

    def __getitem__(self, row: int) -> Sequence[int]:
        offsets = memoryview(self._offsets).cast("I")
        return memoryview(self._positions).cast("I")[offsets[row] : offsets[row + 1]]

    def replaced(self, by: Mapping[int, Sequence[int]]) -> Rows:
        """The rows with others in the place of some."""
        offsets, positions = [0], list[int]()
        for row in range(len(memoryview(self._offsets).cast("I")) - 1):
            positions += by[row] if row in by else self[row]
            offsets.append(len(positions))
        return Rows(pa.array(offsets, pa.int32()).buffers()[1], pa.array(positions, pa.uint32()).buffers()[1])

    def to_arrow(self, present: Sequence[bool]) -> Any:
        """The rows as an Arrow ``list<uint32>``, null where they are not ``present``."""
        buffer = pa.py_buffer(self._positions)
        positions = pa.Array.from_buffers(pa.uint32(), buffer.size // 4, [None, buffer])
        validity = None if all(present) else pa.array(present, pa.bool_()).buffers()[1]
        offsets = pa.py_buffer(self._offsets)
        return pa.Array.from_buffers(
            pa.list_(pa.uint32()), len(present), [validity, offsets], children=[positions]
        )

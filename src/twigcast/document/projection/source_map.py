"""Leads from offsets in something that was cut out of a document to offsets in that document.

    document   0 <r> 3 … 40 <a>…</a> 90 … 200 </r> 204
    output       <r>        <a>…</a>          </r>          pairs (0, 0) (3, 40) (53, 200)

A pair (offset, source) holds up to the next one.  Only end tags that close a part early are not copied; no
answer begins or ends there.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable


class SourceMap:
    """The pairs of one output, or of one part of it, in rising order of the offset."""

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        self._offsets = array("Q")
        self._sources = array("Q")
        for offset, source in pairs:
            self._offsets.append(offset)
            self._sources.append(source)

    @classmethod
    def of_bytes(cls, data: bytes) -> SourceMap:
        """Read a map from its bytes: pairs of integers of 8 bytes, in the order of this machine."""
        flat = array("Q")
        flat.frombytes(data)
        made = cls()
        made._offsets, made._sources = flat[::2], flat[1::2]
        return made

    def __bytes__(self) -> bytes:
        flat = array("Q", bytes(16 * len(self)))
        flat[::2], flat[1::2] = self._offsets, self._sources
        return flat.tobytes()

    def __len__(self) -> int:
        return len(self._offsets)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SourceMap) and self.pairs() == other.pairs()

    __hash__ = None  # type: ignore[assignment]

    def pairs(self) -> list[tuple[int, int]]:
        """The pairs as integers."""
        return list(zip(self._offsets, self._sources, strict=True))

    def start(self, offset: int) -> int:
        """The offset in the document of the byte at ``offset``."""
        at = bisect_right(self._offsets, offset) - 1
        if at < 0:
            raise ValueError(f"the offset {offset} is not in the map")
        return self._sources[at] + offset - self._offsets[at]

    def end(self, offset: int) -> int:
        """The offset in the document just after the byte before ``offset``."""
        return self.start(offset - 1) + 1 if offset else 0

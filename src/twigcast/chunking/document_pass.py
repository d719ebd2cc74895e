"""One pass over a document, or over a piece of it: the parts of its chunks, as they become whole.

    piece 1  ─►  parts of divided chunks, one slice of each other chunk  ─┐
    piece 2  ─►  parts of divided chunks, one slice of each other chunk  ─┴─►  JoinedSlices: one document each

A part of a divided chunk never reaches beyond its piece.  The slices of a chunk that is one document, put
together in the order of the pieces, are that document.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from twigcast.chunking.answers import PartOfChunk
from twigcast.chunking.kept_paths import KeptPaths
from twigcast.chunking.outline import Outline, Pair
from twigcast.chunking.scheme import Chunk, Scheme
from twigcast.document import CUT_DEPTH, DocumentLimits, DocumentPiece, Projector, Slice, SourceMap
from twigcast.errors import ChunkingError, DocumentError

Blocks: TypeAlias = Iterable[bytes]


class DocumentPass:
    """One pass over a document: iterate for the parts as they become whole.

    With a ``piece``, ``blocks`` are those of the piece, and what chunks that are one document get from it is
    given as a part.  An error of a piece has no position, and nothing that the piece gave is to be used.
    """

    def __init__(
        self,
        blocks: Blocks,
        scheme: Scheme,
        part_bytes: int,
        most_bytes: int,
        limits: DocumentLimits,
        piece: DocumentPiece | None = None,
    ) -> None:
        self.error: DocumentError | None = None
        self.foreign: list[Pair] = []
        self.foreign_at: int | None = None
        """The offset at which the first of the foreign pairs occurs first."""
        self.too_wide: dict[int, int] = {}
        """By the number of a chunk: the bytes of one that is larger than ``most_bytes``."""
        self._blocks = blocks
        self._scheme = scheme
        self._most_bytes = most_bytes
        self._decisions = scheme.decisions()
        divided = [chunk.is_divided for chunk in scheme.chunks]
        self._projector = Projector(self._decisions, divided, part_bytes, limits, piece)
        self._open: dict[int, _OpenPart] = {}

    @property
    def bytes(self) -> int:
        """The bytes of the document that were read."""
        return self._projector.bytes

    def __iter__(self) -> Iterator[PartOfChunk]:
        for block in self._blocks:
            yield from self._parts(self._projector.feed(block))
            if self._projector.error is not None:
                break
        projected = self._projector.finish()
        self.error = projected.error
        yield from self._parts(projected.slices)
        foreign = foreign_pairs(projected.steps, self._decisions, self._scheme.outline)
        self.foreign = [*foreign]
        self.foreign_at = next(iter(foreign.values()), None)

    def _parts(self, slices: Iterable[Slice]) -> Iterator[PartOfChunk]:
        for each in slices:
            chunk = self._scheme.chunks[each.output]
            part = self._open.setdefault(each.output, _OpenPart())
            part.add(each, None if chunk.is_divided else self._most_bytes)
            if each.is_last:
                del self._open[each.output]
                if part.is_skipped:
                    self.too_wide[chunk.number] = part.size
                    continue
                is_partial = self._projector.error is not None and not chunk.is_divided
                source_map = SourceMap.of_bytes(bytes(part.map_bytes))
                yield PartOfChunk(chunk, each.part + 1, bytes(part.body), source_map, is_partial)


class _OpenPart:
    """A part that is being written; one that becomes too large is counted, and not kept."""

    def __init__(self) -> None:
        self.body = bytearray()
        self.map_bytes = bytearray()
        self.size = 0
        self.is_skipped = False

    def add(self, piece: Slice, most_bytes: int | None) -> None:
        self.size = piece.start + len(piece.body)
        if most_bytes is not None and self.size > most_bytes:
            self.is_skipped = True
            self.body.clear()
            self.map_bytes.clear()
        if not self.is_skipped:
            del self.body[piece.start :]
            self.body += piece.body
            self.map_bytes += piece.map_bytes


class JoinedSlices:
    """A chunk that is one document, from the slices of consecutive pieces; too large, it is only counted."""

    def __init__(self, most_bytes: int) -> None:
        self.size = 0
        self._most_bytes = most_bytes
        self._body = bytearray()
        self._map = array("Q")

    def add(self, body: bytes, map_bytes: bytes, size: int | None = None) -> None:
        """Add the slice of the next piece; ``size`` is given where a slice alone is too large to be kept."""
        base = self.size
        self.size += len(body) if size is None else size
        if self.size > self._most_bytes:
            self._body.clear()
            self._map = array("Q")
            return
        pairs = array("Q")
        pairs.frombytes(map_bytes)
        pairs[::2] = array("Q", (offset + base for offset in pairs[::2]))
        self._body += body
        self._map += pairs

    def part(self, chunk: Chunk) -> PartOfChunk | None:
        """The chunk; None if it is too large."""
        if self.size > self._most_bytes:
            return None
        return PartOfChunk(chunk, 1, bytes(self._body), SourceMap.of_bytes(self._map.tobytes()))


def piece_depth(scheme: Scheme) -> int:
    """The depth at which a document may be cut into pieces: no record of the scheme is divided."""
    records = [len(path) for chunk in scheme.chunks for path in chunk.records]
    return min([CUT_DEPTH, *records])


def too_wide(scheme: Scheme, chunk: Chunk, size: int, most_bytes: int) -> Iterator[ChunkingError]:
    """The errors of the queries of a chunk that is too large to be one document."""
    for number in chunk.targets:
        query = scheme.queries[number].query.id
        message = f"the query {query} needs one document of {size:,} bytes, which is more than {most_bytes:,}"
        yield ChunkingError(message, code="too-wide", query=query)


def foreign_pairs(
    steps: Iterable[tuple[int, tuple[str, str], int]], decisions: KeptPaths, outline: Outline
) -> dict[Pair, int]:
    """The pairs of names that occurred and that the outline does not have, and where each occurred first."""
    pairs: dict[Pair, int] = {}
    for state, name, at in steps:
        pairs.setdefault((decisions.name(state), name), at)
    return {pair: at for pair, at in pairs.items() if not outline.has(*pair)}

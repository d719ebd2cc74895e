"""The compiled projector: writes what is kept of a document that comes in blocks.

    projector = Projector(decisions, divided=[True, False])
    for block in blocks:
        for piece in projector.feed(block): …          # bytes of parts, as soon as they are certain
    projected = projector.finish()                     # the last slices, names that occurred, the error

It knows label paths, ``Keep`` and byte ranges, but no query.  There are no files and no clock here.
If the document breaks off or is malformed, each part is taken back to its last element that was whole and is
closed there; ``Projected.error`` says what is wrong and where.

    projector = Projector(decisions, divided, piece=piece)      a DocumentPiece of cut_points
    for block in piece.blocks(source): …

A piece gives slices like a document, with source maps of the document.  Parts of divided outputs are closed
where the piece ends.  Of each other output a piece has one part, and these put together in the order of the
pieces are the output.  ``tests/oracles/naive_projection.py`` defines the bytes, on the tree of a document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from twigcast.document.cut_points import DocumentPiece
from twigcast.document.faults import EMPTY, WINDOW, document_error
from twigcast.document.kernel._projector import ProjectorKernel
from twigcast.document.limits import DocumentLimits
from twigcast.document.projection.decisions import Decisions
from twigcast.document.projection.source_map import SourceMap
from twigcast.errors import DocumentError

PART_BYTES = 1 << 20
"""The default size of a part.  lxml takes 0.65 of the time for parts of 1 MB that it takes for parts of 8 MB,
whose trees do not fit into the caches of a processor, and a worker 150 MB of memory in place of 350."""

BLOCK = 1 << 18
"""Bytes that expat gets at once, which it copies: of 32 KB to 1 MB the fastest, by 6 % before 1 MB."""
_HEAD = 1 << 10
_UNCLOSED_TOKEN = 5
_DEFAULT_LIMITS = DocumentLimits()


@dataclass(frozen=True, slots=True)
class Slice:
    """Bytes of a part of an output, and the source map of these bytes.

    They belong at ``start`` of the part: usually its end so far; after an error it can be before that, and
    what the part had beyond it is taken back.  ``is_last`` says that the part is whole with this slice.
    """

    output: int
    part: int
    start: int
    body: bytes
    map_bytes: bytes
    is_last: bool

    @property
    def source_map(self) -> SourceMap:
        """The source map of these bytes."""
        return SourceMap.of_bytes(self.map_bytes)


@dataclass(frozen=True, slots=True)
class Projected:
    """The end of a pass: the last slices, which names occurred in which states, and the error, if any.

    ``steps`` has each pair of the state of a parent and the name of a child that occurred, with the offset of
    its first occurrence, in this order; in the preamble of a piece, an offset has no meaning.
    """

    slices: list[Slice]
    steps: list[tuple[int, tuple[str, str], int]]
    error: DocumentError | None


class Projector:
    """Writes the outputs of one document.

    ``divided`` says for each output whether it is divided into parts of about ``part_bytes``; a divided
    output keeps whole subtrees and their ancestors only.  ``limits.bytes`` is not a limit here.
    With a ``piece``, an error says only that the piece cannot be used: its position is not that in the
    document, and what was given before it has to be dropped.  ``cut-in-record`` is the code if the piece
    begins or ends within a subtree that a divided output keeps.
    Cost: that of expat, and two probes of a table for each start tag; a decision is asked for once.
    """

    def __init__(
        self,
        decisions: Decisions,
        divided: Sequence[bool],
        part_bytes: int = PART_BYTES,
        limits: DocumentLimits = _DEFAULT_LIMITS,
        piece: DocumentPiece | None = None,
    ) -> None:
        self.limits = limits
        self._piece = piece
        self.bytes = 0
        self.error: DocumentError | None = None
        self._head = b""
        self._is_blank = True
        self._kernel = ProjectorKernel(
            decisions,
            divided,
            part_bytes,
            limits.depth,
            limits.attributes,
            limits.amplification,
            limits.amplification_threshold,
            piece,
        )

    def feed(self, block: bytes | memoryview) -> list[Slice]:
        """The slices that are certain after these bytes; none after an error."""
        found: list[Slice] = []
        for at in range(0, len(block), BLOCK):
            found += self._feed(block[at : at + BLOCK], is_last=False)
        return found

    def finish(self) -> Projected:
        """End the document."""
        piece = self._piece
        if piece is not None and self.error is None and self.bytes != piece.bytes_to_read:
            self.error = document_error(_UNCLOSED_TOKEN, 1, 0, piece.start, limits=self.limits)
        if piece is None or piece.is_last:
            slices = list(self._feed(b"", is_last=True))
        else:
            slices = self._taken(self._kernel.close_piece(piece.end_tags)) if self.error is None else []
        return Projected(slices, self._kernel.steps(), self.error)

    def _feed(self, block: bytes | memoryview, *, is_last: bool) -> list[Slice]:
        if self.error is not None:
            return []
        if len(self._head) < _HEAD:
            self._head += bytes(block[: _HEAD - len(self._head)])
        if self._is_blank:
            self._is_blank = not bytes(block).removeprefix(b"\xef\xbb\xbf").strip()
        self.bytes += len(block)
        return self._taken(self._kernel.feed(block, is_last))

    def _taken(self, given: list[tuple[int, int, int, bytes, bytes, bool]]) -> list[Slice]:
        if self._kernel.fault is not None:
            self.error = self._located(*self._kernel.fault)
        return [Slice(*each) for each in given]

    def _located(self, number: int, line: int, column: int, offset: int) -> DocumentError:
        """The error that ``read`` raises for the whole document, of which only a window is here."""
        if number == 3 and self._is_blank:
            number, line, column, offset = (number, line, column, offset) if self.bytes else (EMPTY, 1, 0, 0)
            known = b" "
        else:
            known = self._head.ljust(_HEAD, b" ") + self._kernel.window(offset, WINDOW)
        error = document_error(number, line, column, _HEAD, known, self.limits)
        return DocumentError(
            error.message, code=error.code, line=error.line, column=error.column, offset=offset
        )

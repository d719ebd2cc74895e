"""The compiled projector: the bytes of ``project``, from a document that comes in blocks.

    projector = Projector(decisions, divided=[True, False])
    for block in blocks:
        for piece in projector.feed(block): …          # bytes of parts, as soon as they are certain
    projected = projector.finish()                     # the last slices, names that occurred, the error

It knows label paths, ``Keep`` and byte ranges, but no query.  There are no files and no clock here.
If the document breaks off or is malformed, each part is taken back to its last element that was whole and is
closed there; ``Projected.error`` says what is wrong and where.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from twigcast.document.faults import EMPTY, document_error
from twigcast.document.kernel._projector import ProjectorKernel
from twigcast.document.limits import DocumentLimits
from twigcast.document.projection.decisions import Decisions
from twigcast.document.projection.source_map import SourceMap
from twigcast.errors import DocumentError

PART_BYTES = 8 << 20
BLOCK = 1 << 20  # bytes that expat gets at once: it copies what it gets
_HEAD = 100
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

    ``steps`` has each pair of the state of a parent and the name of a child that occurred, in the order of
    their first occurrence.
    """

    slices: list[Slice]
    steps: list[tuple[int, tuple[str, str]]]
    error: DocumentError | None


class Projector:
    """Writes the outputs of one document.

    ``divided`` says for each output whether it is divided into parts of about ``part_bytes``; a divided
    output keeps whole subtrees and their ancestors only.  ``limits.bytes`` is not a limit here.
    Cost: that of expat, and two probes of a table for each start tag; a decision is asked for once.
    """

    def __init__(
        self,
        decisions: Decisions,
        divided: Sequence[bool],
        part_bytes: int = PART_BYTES,
        limits: DocumentLimits = _DEFAULT_LIMITS,
    ) -> None:
        self.limits = limits
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
        )

    def feed(self, block: bytes | memoryview) -> list[Slice]:
        """The slices that are certain after these bytes; none after an error."""
        found: list[Slice] = []
        for at in range(0, len(block), BLOCK):
            found += self._feed(block[at : at + BLOCK], is_last=False)
        return found

    def finish(self) -> Projected:
        """End the document."""
        slices = list(self._feed(b"", is_last=True))
        return Projected(slices, self._kernel.steps(), self.error)

    def _feed(self, block: bytes | memoryview, *, is_last: bool) -> Iterator[Slice]:
        if self.error is not None:
            return
        if len(self._head) < _HEAD:
            self._head += bytes(block[: _HEAD - len(self._head)])
        if self._is_blank:
            self._is_blank = not bytes(block).removeprefix(b"\xef\xbb\xbf").strip()
        self.bytes += len(block)
        given = self._kernel.feed(block, is_last)
        if self._kernel.fault is not None:
            self.error = self._located(*self._kernel.fault)
        for output, part, start, body, map_bytes, is_whole in given:
            yield Slice(output, part, start, body, map_bytes, is_whole)

    def _located(self, number: int, line: int, column: int, offset: int) -> DocumentError:
        """The error that ``read`` raises for the whole document, of which only a window is here."""
        if number == 3 and self._is_blank:
            number, line, column, offset = (number, line, column, offset) if self.bytes else (EMPTY, 1, 0, 0)
            known = b" "
        else:
            known = self._head.ljust(_HEAD, b" ") + self._kernel.window(offset, 4)
        error = document_error(number, line, column, _HEAD, known, self.limits)
        return DocumentError(
            error.message, code=error.code, line=error.line, column=error.column, offset=offset
        )

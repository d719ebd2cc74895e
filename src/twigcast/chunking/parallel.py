"""Runs the pieces of one file in several processes, with the answers of a single pass.

    cut points ─► piece 1 ─► process ─► answers of divided chunks, slices of the others ─┐
                  piece 2 ─► process ─► answers of divided chunks, slices of the others ─┴─► in this order
                  …                       slices of a chunk, joined ─► process ─► answers

Answers are given in the order of the pieces, and only if all pieces before were well-formed.  A piece that
cannot be read sends the document to the single pass, which alone says where the error is and what was
complete; answers before that piece, which were given already, are not given again.
"""

from __future__ import annotations

import pickle
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from twigcast.chunking.answers import Answer, PartOfChunk, PartRunner, QueryFailure
from twigcast.chunking.document_pass import DocumentPass, JoinedSlices, piece_depth
from twigcast.chunking.outline import Pair
from twigcast.chunking.running import ChunkRun, Pass
from twigcast.chunking.scheme import Scheme
from twigcast.document import DocumentLimits, DocumentPiece, cut_points
from twigcast.errors import ChunkingError

_PLACELESS = ("row", "value")


@dataclass(slots=True)
class PieceAnswers:
    """What a piece gives: answers, slices by the number of the chunk, foreign pairs; or that it failed."""

    found: list[Answer | QueryFailure] = field(default_factory=list)
    slices: dict[int, tuple[bytes, bytes]] = field(default_factory=dict)
    too_wide: dict[int, int] = field(default_factory=dict)
    foreign: list[Pair] = field(default_factory=list)
    foreign_at: int | None = None
    parts: Counter[int] = field(default_factory=Counter)
    has_failed: bool = False


@dataclass(frozen=True, slots=True)
class PieceRunner:
    """Runs pieces of one file: all that a process needs to know."""

    path: Path
    scheme: Scheme
    part_bytes: int
    most_bytes: int
    limits: DocumentLimits
    answered: Scheme | None = None

    def run(self, piece: DocumentPiece) -> PieceAnswers:
        """Cut a piece and run the queries on its parts."""
        cut = DocumentPass(
            piece.blocks(self.path), self.scheme, self.part_bytes, self.most_bytes, self.limits, piece
        )
        runner = PartRunner(self.scheme, self.limits, answered=self.answered)
        given = PieceAnswers()
        for part in cut:
            if part.chunk.is_divided:
                given.parts[part.chunk.number] = part.number
                given.found += runner.run(part)
            else:
                given.slices[part.chunk.number] = part.body, bytes(part.source_map)
        given.too_wide = cut.too_wide
        given.foreign, given.foreign_at = cut.foreign, cut.foreign_at
        return PieceAnswers(has_failed=True) if cut.error is not None else given

    def run_part(self, part: PartOfChunk) -> list[Answer | QueryFailure]:
        """Run the queries of a chunk that is one document."""
        return list(PartRunner(self.scheme, self.limits, answered=self.answered).run(part))


class ParallelRun(ChunkRun):
    """A ``ChunkRun`` of a file by several processes."""

    def __init__(
        self, document: Any, scheme: Scheme, *, cores: int, piece_bytes: int, **options: Any
    ) -> None:
        super().__init__(document, scheme, **options)
        self._cores = cores
        self._piece_bytes = piece_bytes

    def _pass(self, scheme: Scheme, *, answered: Scheme | None = None) -> Pass:
        path = Path(self._document)  # type: ignore[arg-type]
        pieces = cut_points(path, self._piece_bytes, piece_depth(scheme), self._limits)
        if len(pieces) == 1:
            return (yield from super()._pass(scheme, answered=answered))
        runner = PieceRunner(path, scheme, self._part_bytes, self._most_bytes, self._limits, answered)
        with _pool(runner, min(self._cores, len(pieces))) as pool:
            return (yield from self._pieces(pool, pieces, runner))

    def _pieces(self, pool: ProcessPoolExecutor, pieces: list[DocumentPiece], runner: PieceRunner) -> Pass:
        scheme = runner.scheme
        joined = {
            each.number: JoinedSlices(self._most_bytes) for each in scheme.chunks if not each.is_divided
        }
        before: Counter[int] = Counter()  # parts of a chunk in the pieces before
        held: list[Answer] = []  # of functions, whose rows say nothing about where they belong
        foreign: dict[Pair, None] = {}
        for piece, given in zip(pieces, _in_order(pool, pieces, 2 * self._cores), strict=True):
            if given.has_failed:
                return (yield from self._single_pass(runner, piece.start))
            self.bytes = piece.end
            self.parts += given.parts.total()
            for found in self._answers(given.found):
                numbered = replace(found, part=before[found.chunk] + found.part)
                if found.kind in _PLACELESS:
                    held.append(numbered)
                else:
                    yield numbered
            before += given.parts
            for number, each in joined.items():
                each.add(*given.slices.get(number, (b"", b"")), given.too_wide.get(number))
            foreign |= dict.fromkeys(given.foreign)
            self._note_foreign(given.foreign_at)
        yield from held
        waiting: list[Future[list[Answer | QueryFailure]]] = []
        for number, each in joined.items():
            part = each.part(scheme.chunks[number - 1])
            if part is None:
                self._refuse(scheme, number, each.size)
            else:
                waiting.append(pool.submit(_run_part, part))
        for future in waiting:
            self.parts += 1
            yield from self._answers(future.result())
        return None, list(foreign)

    def _single_pass(self, runner: PieceRunner, start: int) -> Pass:
        """All answers of the single pass but those of divided chunks before an offset, which were given."""
        self.parts = 0
        divided = {each.number for each in runner.scheme.chunks if each.is_divided}
        found = super()._pass(runner.scheme, answered=runner.answered)
        while True:
            try:
                answer = next(found)
            except StopIteration as end:
                error, foreign = end.value
                return error, foreign
            is_given = answer.chunk in divided and answer.kind not in _PLACELESS
            if not (is_given and answer.start < start):
                yield answer

    def _answers(self, found: Iterable[Answer | QueryFailure]) -> Iterator[Answer]:
        for each in found:
            if isinstance(each, QueryFailure):
                self.failures.setdefault(each.query, each.error)
            else:
                yield each


_runner: PieceRunner | None = None  # of this process


def _pool(runner: PieceRunner, cores: int) -> ProcessPoolExecutor:
    """Processes that have the runner; it is pickled here, so that an error of that is one of the caller's."""
    try:
        data = pickle.dumps(runner)
    except Exception as error:
        message = f"the queries cannot be sent to other processes: {error}"
        raise ChunkingError(message, code="query") from error
    return ProcessPoolExecutor(cores, initializer=_begin, initargs=(data,))


def _begin(data: bytes) -> None:
    global _runner
    _runner = pickle.loads(data)


def _run_piece(piece: DocumentPiece) -> PieceAnswers:
    assert _runner is not None
    return _runner.run(piece)


def _run_part(part: PartOfChunk) -> list[Answer | QueryFailure]:
    assert _runner is not None
    return _runner.run_part(part)


def _in_order(
    pool: ProcessPoolExecutor, pieces: Iterable[DocumentPiece], ahead: int
) -> Iterator[PieceAnswers]:
    """What the pieces give, in their order; only some are run ahead of the one that is waited for."""
    waiting: deque[Future[PieceAnswers]] = deque()
    try:
        for piece in pieces:
            waiting.append(pool.submit(_run_piece, piece))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for each in waiting:
            each.cancel()

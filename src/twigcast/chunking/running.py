"""Cuts a document by a scheme and runs the queries on what is cut, in one pass.

    for answer in run_queries(document, scheme): …     answers of divided chunks come while it is read

A part is run as soon as it is whole, and then forgotten: memory is that of the parts that are open.  Chunks
that are one document are run at the end.  If the document has a pair of names that the outline does not
have, and a query can select there, a second pass answers what the first could not; a document that comes as a
stream cannot be read twice, so such queries are listed as unsettled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from twigcast.chunking.answers import Answer, PartOfChunk, PartRunner, QueryFailure
from twigcast.chunking.document_pass import Blocks, DocumentPass, too_wide
from twigcast.chunking.outline import Pair
from twigcast.chunking.planning import assemble, place_query, query_tree
from twigcast.chunking.prefixes import choose
from twigcast.chunking.scheme import PlacedQuery, Scheme
from twigcast.document import NO_LIMIT, PART_BYTES, PIECE_BYTES, DocumentLimits
from twigcast.errors import ChunkingError, DocumentError

Source: TypeAlias = bytes | str | os.PathLike[str] | Callable[[], Blocks] | Blocks
"""A document: its bytes, the path of a file, a function that opens it each time, or blocks that come once."""

MOST_BYTES = 256 << 20
"""The default limit on the bytes of a chunk that must be one document."""

_BLOCK = 1 << 20


class ChunkRun:
    """The answers of a scheme on one document; iterate over it once.

    After that, ``error`` says where the document broke off, ``foreign`` has the pairs that the outline does
    not have and ``foreign_at`` the offset of the first one, ``unsettled`` the queries that would need a
    second pass over a stream, or over a document that broke off, ``failures`` those that could not be run.
    """

    def __init__(
        self, document: Source, scheme: Scheme, *, part_bytes: int, most_bytes: int, limits: DocumentLimits
    ) -> None:
        self.scheme = scheme
        self.error: DocumentError | None = None
        self.foreign: list[Pair] = []
        self.foreign_at: int | None = None
        self.unsettled: list[Hashable] = []
        self.failures: dict[Hashable, ChunkingError] = {}
        self.bytes = 0
        self.parts = 0
        self._document = document
        self._part_bytes = part_bytes
        self._most_bytes = most_bytes
        self._limits = limits

    def __iter__(self) -> Iterator[Answer]:
        self.error, self.foreign = yield from self._pass(self.scheme)
        second = settled(self.scheme, self.foreign)
        if second is None:
            return
        is_stream = not isinstance(self._document, bytes | str | os.PathLike) and not callable(self._document)
        if self.error is not None or is_stream:
            self.unsettled = [each.query.id for each in second.queries if is_unsettled(each)]
            return
        yield from self._pass(second, answered=self.scheme)

    def _pass(self, scheme: Scheme, *, answered: Scheme | None = None) -> Pass:
        """The answers of one pass; it returns the error and the foreign pairs."""
        blocks = blocks_of(self._document)
        cut = DocumentPass(blocks, scheme, self._part_bytes, self._most_bytes, self._limits)
        runner = PartRunner(scheme, self._limits, answered=answered)
        for part in cut:
            self.bytes = cut.bytes
            yield from self._run(runner, part)
        self.bytes = cut.bytes
        self._note_foreign(cut.foreign_at)
        for number, size in cut.too_wide.items():
            self._refuse(scheme, number, size)
        return cut.error, cut.foreign

    def _note_foreign(self, at: int | None) -> None:
        """Keep the offset of the first foreign pair; a second pass has none."""
        if self.foreign_at is None:
            self.foreign_at = at

    def _run(self, runner: PartRunner, part: PartOfChunk) -> Iterator[Answer]:
        self.parts += 1
        for found in runner.run(part):
            if isinstance(found, QueryFailure):
                self.failures.setdefault(found.query, found.error)
            else:
                yield found

    def _refuse(self, scheme: Scheme, chunk: int, size: int) -> None:
        for error in too_wide(scheme, scheme.chunks[chunk - 1], size, self._most_bytes):
            self.failures.setdefault(error.query, error)


Pass: TypeAlias = Generator[Answer, None, tuple[DocumentError | None, list[Pair]]]


def run_queries(
    document: Source,
    scheme: Scheme,
    *,
    part_bytes: int = PART_BYTES,
    most_bytes: int = MOST_BYTES,
    limits: DocumentLimits | None = None,
    cores: int = 1,
    piece_bytes: int = PIECE_BYTES,
) -> ChunkRun:
    """The answers of the queries of a scheme on a document, as they are found; see ``in_order``.

    A chunk that is one document is refused, with its queries, if it is larger than ``most_bytes``.
    With ``cores``, a document that is given by its path is cut into pieces of about ``piece_bytes``, which so
    many processes read and run; the answers and the order of those of each query and chunk are the same.
    Queries travel to these processes, so a function must be one that ``pickle`` can name.
    """
    bounds = replace(limits or DocumentLimits(), bytes=NO_LIMIT)
    if cores > 1 and isinstance(document, str | os.PathLike):
        from twigcast.chunking.parallel import ParallelRun  # imports this module

        return ParallelRun(
            document,
            scheme,
            part_bytes=part_bytes,
            most_bytes=most_bytes,
            limits=bounds,
            cores=cores,
            piece_bytes=piece_bytes,
        )
    return ChunkRun(document, scheme, part_bytes=part_bytes, most_bytes=most_bytes, limits=bounds)


def blocks_of(document: Source) -> Blocks:
    """The bytes of a document, in blocks."""
    if isinstance(document, bytes):
        return [document]
    if isinstance(document, str | os.PathLike):
        return _file_blocks(Path(document))
    return document() if callable(document) else document


def _file_blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def in_order(answers: Iterable[Answer], scheme: Scheme) -> list[Answer]:
    """The answers by query, in the order of the scheme, and each query's in document order."""
    order = {each.query.id: number for number, each in enumerate(scheme.queries)}
    return sorted(answers, key=lambda each: (order[each.query], each.start, -each.end))


def settled(scheme: Scheme, foreign: Iterable[Pair]) -> Scheme | None:
    """The scheme of a second pass, for what pairs that the outline does not have may add; None if nothing.

    It has the same queries, with the targets only that the first scheme does not have; a query may also turn
    out to need the whole document, if its root is not the one of the outline.
    """
    pairs = list(foreign)
    if not pairs:
        return None
    outline = scheme.outline.with_pairs(pairs)
    placed: list[PlacedQuery] = []
    for each in scheme.queries:
        known = {target.target for target in each.targets}
        again = each if each.error is not None or each.whole else place_query(each.query, outline)
        targets = tuple(target for target in again.targets if target.target not in known)
        placed.append(PlacedQuery(each.query, targets, whole="" if each.whole else again.whole))
    if not any(map(is_unsettled, placed)):
        return None
    return assemble(placed, choose(query_tree(placed)), outline, profile=scheme.profile)


def is_unsettled(placed: PlacedQuery) -> bool:
    """Whether a query of the scheme of a second pass has something to be asked for in it."""
    return bool(placed.targets or placed.whole)

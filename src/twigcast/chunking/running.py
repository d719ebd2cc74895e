"""Cuts a document by a scheme and runs the queries on what is cut, in one pass.

    for answer in run(document, scheme): …     answers of divided chunks come while the document is read

A part is run as soon as it is whole, and then forgotten: memory is that of the parts that are open.  Chunks
that are one document are run at the end.  If the document has a pair of names that the outline does not
have, and a query can select there, a second pass answers what the first could not; a document that comes as a
stream cannot be read twice, so such queries are listed as unsettled.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from twigcast.chunking.answers import Answer, PartOfChunk, PartRunner, QueryFailure
from twigcast.chunking.kept_paths import KeptPaths
from twigcast.chunking.outline import Outline, Pair
from twigcast.chunking.planning import assemble, place_query, query_tree
from twigcast.chunking.prefixes import choose
from twigcast.chunking.scheme import Chunk, PlacedQuery, Scheme
from twigcast.document import PART_BYTES, DocumentLimits, Projector, Slice, SourceMap
from twigcast.errors import ChunkingError, DocumentError

Blocks: TypeAlias = Iterable[bytes]
Source: TypeAlias = bytes | Callable[[], Blocks] | Blocks
"""A document: its bytes, a function that opens it again and again, or blocks that come once."""

MOST_BYTES = 256 << 20


class ChunkRun:
    """The answers of a scheme on one document; iterate over it once.

    After that, ``error`` says where the document broke off, ``foreign`` has the pairs that the outline does
    not have, ``unsettled`` the queries that would need a second pass over a stream, ``failures`` the queries
    that could not be run.
    """

    def __init__(
        self,
        document: Source,
        scheme: Scheme,
        *,
        part_bytes: int = PART_BYTES,
        most_bytes: int = MOST_BYTES,
        limits: DocumentLimits | None = None,
    ) -> None:
        self.scheme = scheme
        self.error: DocumentError | None = None
        self.foreign: list[Pair] = []
        self.unsettled: list[Hashable] = []
        self.failures: dict[Hashable, ChunkingError] = {}
        self.bytes = 0
        self.parts = 0
        self._document = document
        self._part_bytes = part_bytes
        self._most_bytes = most_bytes
        self._limits = replace(limits or DocumentLimits(), bytes=1 << 62)

    def __iter__(self) -> Iterator[Answer]:
        cut = DocumentPass(self._blocks(), self.scheme, self._part_bytes, self._most_bytes, self._limits)
        yield from self._answers(cut, self.scheme)
        self.error = cut.error
        self.foreign = cut.foreign
        second = settled(self.scheme, cut.foreign) if self.error is None else None
        if second is None:
            return
        if not isinstance(self._document, bytes) and not callable(self._document):
            self.unsettled = [each.query.id for each in second.queries if each.targets]
            return
        again = DocumentPass(self._blocks(), second, self._part_bytes, self._most_bytes, self._limits)
        yield from self._answers(again, second, answered=self.scheme)

    def _answers(
        self, cut: DocumentPass, scheme: Scheme, *, answered: Scheme | None = None
    ) -> Iterator[Answer]:
        runner = PartRunner(scheme, self._limits, answered=answered)
        for part in cut:
            self.bytes = cut.bytes
            self.parts += 1
            for found in runner.run(part):
                if isinstance(found, QueryFailure):
                    self.failures.setdefault(found.query, found.error)
                else:
                    yield found
        self.bytes = cut.bytes
        for chunk in cut.too_wide:
            for number in chunk.targets:
                query = scheme.queries[number].query.id
                message = f"the query {query} needs one document of more than {self._most_bytes:,} bytes"
                self.failures.setdefault(query, ChunkingError(message, code="too-wide", query=query))

    def _blocks(self) -> Blocks:
        if isinstance(self._document, bytes):
            return [self._document]
        return self._document() if callable(self._document) else self._document


def run(
    document: Source,
    scheme: Scheme,
    *,
    part_bytes: int = PART_BYTES,
    most_bytes: int = MOST_BYTES,
    limits: DocumentLimits | None = None,
) -> ChunkRun:
    """The answers of the queries of a scheme on a document, as they are found; see ``in_order``.

    A chunk that is one document is refused, with its queries, if it is larger than ``most_bytes``.
    """
    return ChunkRun(document, scheme, part_bytes=part_bytes, most_bytes=most_bytes, limits=limits)


def in_order(answers: Iterable[Answer], scheme: Scheme) -> list[Answer]:
    """The answers by query, in the order of the scheme, and each query's in document order."""
    order = {each.query.id: number for number, each in enumerate(scheme.queries)}
    return sorted(answers, key=lambda each: (order[each.query], each.start, -each.end))


class DocumentPass:
    """One pass over a document: iterate for the parts as they become whole."""

    def __init__(
        self, blocks: Blocks, scheme: Scheme, part_bytes: int, most_bytes: int, limits: DocumentLimits
    ) -> None:
        self.error: DocumentError | None = None
        self.foreign: list[Pair] = []
        self.too_wide: list[Chunk] = []
        self._blocks = blocks
        self._scheme = scheme
        self._most_bytes = most_bytes
        self._decisions = scheme.decisions()
        divided = [chunk.is_divided for chunk in scheme.chunks]
        self._projector = Projector(self._decisions, divided, part_bytes, limits)
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
        self.foreign = foreign_pairs(projected.steps, self._decisions, self._scheme.outline)

    def _parts(self, slices: Iterable[Slice]) -> Iterator[PartOfChunk]:
        for each in slices:
            chunk = self._scheme.chunks[each.output]
            part = self._open.setdefault(each.output, _OpenPart())
            part.add(each)
            if not chunk.is_divided and len(part.body) > self._most_bytes and chunk not in self.too_wide:
                self.too_wide.append(chunk)
            if chunk in self.too_wide:
                part.body.clear()
                part.is_skipped = True
            if each.is_last:
                del self._open[each.output]
                if not part.is_skipped:
                    is_partial = self._projector.error is not None and not chunk.is_divided
                    source_map = SourceMap.of_bytes(bytes(part.map_bytes))
                    yield PartOfChunk(chunk, each.part + 1, bytes(part.body), source_map, is_partial)


class _OpenPart:
    """A part that is being written."""

    def __init__(self) -> None:
        self.body = bytearray()
        self.map_bytes = bytearray()
        self.is_skipped = False

    def add(self, piece: Slice) -> None:
        if self.is_skipped:
            return
        del self.body[piece.start :]
        self.body += piece.body
        self.map_bytes += piece.map_bytes


def foreign_pairs(
    steps: Iterable[tuple[int, tuple[str, str]]], decisions: KeptPaths, outline: Outline
) -> list[Pair]:
    """The pairs of names that occurred and that the outline does not have."""
    pairs = dict.fromkeys((decisions.name(state), name) for state, name in steps)
    return [(parent, child) for parent, child in pairs if not outline.has(parent, child)]


def settled(scheme: Scheme, foreign: Iterable[Pair]) -> Scheme | None:
    """The scheme of a second pass, for what pairs that the outline does not have may add; None if nothing.

    It has the same queries, with the targets only that the first scheme does not have.
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
        placed.append(PlacedQuery(each.query, targets))
    if not any(each.targets for each in placed):
        return None
    return assemble(placed, choose(query_tree(placed)), outline, profile=scheme.profile)

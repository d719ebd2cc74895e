"""Matches the parts of a document one by one, and joins what they show to the answer of the whole document.

    part 3 ──evaluate──► partial ┐
    part 1 ──evaluate──► partial ├──merge, derive──► certain matches, and in the end the match of the document
    part 2 ──evaluate──► partial ┘

A partial has the positions that are certain, and for each element that its part does not finish the
conditions that hold so far.  Partials can be merged in any order and grouping, and sent as bytes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from twigcast.document import document_error
from twigcast.errors import DocumentError, EvaluationError, PartialError
from twigcast.filtering.kernel._kernel import KernelPartial, evaluate_piece, hole_marker, interest, reads_text
from twigcast.filtering.results import Match, Undecided
from twigcast.pattern import too_costly
from twigcast.system import Buffer, flat_buffer

if TYPE_CHECKING:
    from twigcast.filtering.collection import Snapshot
    from twigcast.filtering.matching.engine_pool import EnginePool, LentEngine


class PieceHole(NamedTuple):
    """Where another part belongs: the offset in a piece, the id of the hole, and the place after it."""

    offset: int
    id: int
    place: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that stand together in a document, and what is known about the elements around them.

    ``place`` is the offset of the bytes in the document.  ``context`` has the node ids of the elements that
    are open where they begin, the root first; ``opening`` is what a parser must read before: the declarations
    of the document, and the start tags of these elements with their namespaces; ``closing`` has the end tags
    of the elements that are open where they end.  ``fills`` is the id of the
    hole to which the piece belongs.  ``first`` is the node id of the first element that begins in the piece.
    """

    body: bytes | memoryview
    place: int
    opening: bytes = b""
    closing: bytes = b""
    context: tuple[int, ...] = ()
    holes: tuple[PieceHole, ...] = ()
    fills: int | None = None
    first: int = 1
    starts_document: bool = False
    ends_document: bool = False
    codec: str = "utf_8"


class PieceShape(NamedTuple):
    """What was seen of a piece: the least depth of open elements, the depth at its end, its start tags."""

    least_depth: int
    last_depth: int
    elements: int


class Partial:
    """What some parts of a document show about all subscriptions; made by a ``PartialMatcher``."""

    __slots__ = ("kernel", "shapes")

    def __init__(self, kernel: KernelPartial, shapes: tuple[PieceShape, ...] = ()) -> None:
        self.kernel = kernel
        self.shapes = shapes
        """Of the pieces, if the partial comes from ``evaluate``."""

    @property
    def is_decided(self) -> bool:
        """Whether all parts are in it, so that the answer is final."""
        return bool(self.kernel.decided)

    @property
    def members(self) -> list[tuple[int, int]]:
        """The numbers of the parts in it, as ranges: the first number, and one more than the last."""
        return list(self.kernel.members)

    @property
    def unfinished(self) -> int:
        """The number of elements that its parts do not finish."""
        return int(self.kernel.unfinished)

    def __len__(self) -> int:
        """The number of parts in it."""
        return sum(end - start for start, end in self.kernel.members)

    def path(self, id: int) -> list[tuple[int, str]] | None:
        """The ids and names from the root to an element that its parts do not finish; ``None`` if unknown.

        Names are spelled as the parser does: namespace, form feed, local name.
        """
        found: list[tuple[int, str]] | None = self.kernel.path(id)
        return found

    def __contains__(self, number: int) -> bool:
        return bool(self.kernel.has(number))

    def encode(self) -> bytes:
        """The partial as bytes, for ``PartialMatcher.decode`` in any process that has the same index."""
        return bytes(self.kernel.encode())


class PartialMatcher:
    """Evaluates and joins parts of documents against one snapshot of the subscriptions of an index."""

    def __init__(self, pool: EnginePool, snapshot: Snapshot) -> None:
        self._pool = pool
        self._snapshot = snapshot

    @property
    def version(self) -> bytes:
        """A hash of the compiled subscriptions; only partials of the same version can be joined."""
        return self._snapshot.version

    @property
    def is_exact(self) -> bool:
        """Whether no subscription needs the tree of the whole document to be decided."""
        return not any(self._snapshot.inexact)

    def empty(self) -> Partial:
        """The partial of no part."""
        with self._engine() as engine:
            return Partial(KernelPartial(engine.kernel, self.version))

    def evaluate(self, number: int, pieces: Iterable[Piece]) -> Partial:
        """Evaluate all pieces of the part with this number; raises ``DocumentError``.

        The offset of the error is in the document, its line and column are in the piece.
        """
        shapes = []
        with self._engine() as engine:
            partial = KernelPartial(engine.kernel, self.version)
            for piece in pieces:
                error, *shape = evaluate_piece(
                    engine.kernel,
                    partial,
                    piece.body,
                    piece.place,
                    piece.opening,
                    piece.closing,
                    hole_marker().encode(piece.codec),
                    piece.context,
                    piece.holes,
                    piece.fills,
                    piece.first,
                    piece.starts_document,
                    piece.ends_document,
                )
                if error is not None:
                    raise _piece_error(engine, piece, error[0], error[3])
                shapes.append(PieceShape(*shape))
            partial.add_member(number)
        return Partial(partial, tuple(shapes))

    def interest(self, path: Sequence[str], *, below: bool, any_namespace: bool = False) -> int:
        """How much an element with this label path can contribute; 0 if the element makes no difference.

        Names are expanded: ``{namespace}local``, or ``local`` without a namespace.  With ``below`` the
        question is about the element and all that it contains, and with ``any_namespace`` the last name is a
        local name whose namespace is unknown.
        """
        with self._engine() as engine:
            return int(interest(engine.kernel, _spelled(path), below, any_namespace))

    def reads_text(self, path: Sequence[str]) -> bool:
        """Whether text in an element with this label path counts; names are expanded as in ``interest``."""
        with self._engine() as engine:
            return bool(reads_text(engine.kernel, _spelled(path)))

    def decode(self, data: bytes) -> Partial:
        """The partial that was encoded; raises ``PartialError`` if it is none, or of another version."""
        with self._engine() as engine:
            try:
                found = KernelPartial.decode(engine.kernel, data)
            except ValueError:
                raise PartialError("these bytes are no partial of this index", code="partial") from None
        if found.version != self.version:
            raise PartialError("the partial is of another version of the index", code="other-version")
        return Partial(found)

    def merge(self, into: Partial, other: Partial) -> None:
        """Add the parts of ``other`` to ``into``; raises ``PartialError``.

        They must have no part in common: one that was joined before must not be added again.
        """
        try:
            consistent = into.kernel.merge(other.kernel)
        except ValueError as error:
            raise PartialError(str(error), code="common-parts") from None
        if not consistent:
            message = "the parts contradict each other about an element that both are in"
            raise PartialError(message, code="inconsistent-parts")

    def derive(self, partial: Partial, *, early: bool = False) -> None:
        """Decide what is complete; if ``early``, also find what is certain in any case."""
        with self._engine() as engine:
            partial.kernel.derive(engine.kernel, early)

    def certain(self, partial: Partial) -> list[Hashable]:
        """The ids that match whatever the missing parts contain, in the order they were added."""
        with self._engine() as engine:
            found, _ = partial.kernel.positions(engine.kernel)
        return self._ids(memoryview(found).cast("I"))

    def certain_positions(self, partial: Partial) -> Sequence[int]:
        """The positions of the ids that are ``certain``."""
        with self._engine() as engine:
            found, _ = partial.kernel.positions(engine.kernel)
        return memoryview(found).cast("I")

    def candidates(self, partial: Partial) -> Sequence[int]:
        """The positions that can be decided only on the tree of the document: see ``match``."""
        with self._engine() as engine:
            _, candidates = partial.kernel.positions(engine.kernel)
        return memoryview(candidates).cast("I")

    def match(self, partial: Partial, body: Buffer | None = None) -> Match:
        """The match of a document that is decided.

        If there are ``candidates``, ``body`` must be the document; it may lack what makes no difference to
        their patterns.
        """
        with self._engine() as engine:
            positions, candidates = self._decided(engine, partial)
            left_out: tuple[Undecided, ...] = ()
            roster = self._snapshot.roster
            if len(candidates):
                if body is None:
                    raise PartialError("the document is needed to decide some subscriptions", code="body")
                body = flat_buffer(body)
                confirmed, undecided, error = engine.kernel.decide(body, candidates)
                if error is not None:
                    number, line, column, offset = error
                    fault = document_error(number, line, column, offset, body, engine.limits)
                    if fault.code == "too-large":
                        return self.match_in_parts(partial)
                    return Match((), fault, roster)
                positions = sorted([*positions, *memoryview(confirmed).cast("I")])
                why = too_costly(engine.limits.steps(len(body)))
                left_out = tuple(Undecided(each, roster[each], why) for each in undecided)
        return Match(positions, None, roster, left_out, figures=_figures(partial))

    def match_in_parts(self, partial: Partial) -> Match:
        """The match of a document that is decided, but too large to be read as a whole.

        The ``candidates`` are ``undecided`` in it; all other subscriptions are decided.
        """
        with self._engine() as engine:
            positions, candidates = self._decided(engine, partial)
            error = EvaluationError(
                "it can be decided only on the whole document, which is too large (limit bytes: "
                f"{engine.limits.bytes:,}): raise that limit, or subscribe without counts, positions and "
                "other general expressions",
                code="too-large",
            )
        roster = self._snapshot.roster
        left_out = tuple(Undecided(each, roster[each], error) for each in candidates)
        return Match(positions, None, roster, left_out, figures=_figures(partial))

    def _decided(self, engine: LentEngine, partial: Partial) -> tuple[list[int], memoryview]:
        """The positions that match, and those of the candidates; raises ``PartialError`` if parts miss."""
        if not partial.is_decided:
            raise PartialError("parts of the document are missing", code="incomplete")
        found, candidates = partial.kernel.positions(engine.kernel)
        return memoryview(found).cast("I").tolist(), memoryview(candidates).cast("I")

    def _engine(self) -> LentEngine:
        return self._pool.lend(None, False, self._snapshot)

    def _ids(self, positions: Sequence[int]) -> list[Hashable]:
        roster = self._snapshot.roster
        return [roster[position] for position in positions]


def _figures(partial: Partial) -> tuple[int, int, int]:
    _, elements, depth, attributes = partial.kernel.figures
    return elements, depth, attributes


def _spelled(path: Sequence[str]) -> list[bytes]:
    """Expanded names as the parser spells them."""
    names = [name[1:].replace("}", "\f", 1) if name[:1] == "{" else name for name in path]
    return [name.encode() for name in names]


def _piece_error(engine: LentEngine, piece: Piece, number: int, offset: int) -> DocumentError:
    before = bytes(piece.body[:offset])
    line, column = before.count(b"\n") + 1, offset - (before.rfind(b"\n") + 1)
    place = piece.place
    for hole in piece.holes:
        if hole.offset <= offset:
            place = hole.place - hole.offset
    return document_error(number, line, column, place + offset, piece.body, engine.limits, offset)

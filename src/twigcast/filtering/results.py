"""The results of an index as frozen values: matches, selected nodes, refusals and statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from twigcast.errors import DocumentError, EvaluationError, PatternError, StructureError, SubscriptionError
from twigcast.filtering.kernel._kernel import SegmentMatcher
from twigcast.filtering.roster import Roster


@dataclass(frozen=True, slots=True)
class RefusedSubscription:
    """A subscription that was not added, and the error that says why."""

    id: Hashable
    error: PatternError | SubscriptionError


@dataclass(frozen=True, slots=True)
class Undecided:
    """A subscription that could not be decided on the document, and the error that says why."""

    position: int
    id: Hashable
    error: EvaluationError


@dataclass(frozen=True, slots=True)
class Match:
    """The subscriptions that one document matches, or the error if it could not be read.

    A subscription that took too many steps, or needs the whole of a document that is too large, is in
    ``undecided``, and not among the matches.
    """

    positions: Sequence[int]
    error: DocumentError | None
    _names: Sequence[Hashable] = field(repr=False)
    undecided: tuple[Undecided, ...] = ()
    mapping: str | None = None
    """The reference of the mapping by which the document was rewritten, if it was."""
    strangers: int = 0
    """How many elements, with all they contain, the source schema of the mapping does not know."""
    cached_bytes: int = 0
    """The most bytes of names, values and text that the rewriting had to keep at a time."""
    figures: tuple[int, int, int] = (0, 0, 0)
    """Of the document as it was read: its elements, its greatest depth, the most attributes of an element."""
    structure: bytes | None = None
    """The structure, if it was asked for; none if it is beyond a limit."""

    @classmethod
    def of(cls, ids: Sequence[Hashable]) -> Match:
        """The match of exactly these ids."""
        return cls(range(len(ids)), None, ids)

    @property
    def ids(self) -> list[Hashable]:
        """The ids that match, in the order they were added; raises the error if there is one."""
        if self.error is not None:
            raise self.error
        return _ids(self._names, self.positions)

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True, slots=True)
class BatchMatch:
    """The positions that each document of a batch matches, and the error of each that could not be read."""

    matches: Any
    """Arrow ``list<uint32>``: a list of positions for each document; null if it could not be read."""
    errors: list[DocumentError | None]
    _names: Sequence[Hashable] = field(repr=False)
    undecided: Mapping[int, tuple[Undecided, ...]] = field(default_factory=dict)
    """By row: the subscriptions that took too many steps to decide, which are not among the matches."""
    mappings: Sequence[str | None] = ()
    """The reference of the mapping of each document, None if it was not rewritten; empty if none was."""
    strangers: Sequence[int] = ()
    cached_bytes: Sequence[int] = ()
    """Of each document, as in ``Match``; empty if no document was rewritten."""

    def ids(self, row: int) -> list[Hashable]:
        """The ids that the document in ``row`` matches; raises its error if it has one."""
        error = self.errors[row]
        if error is not None:
            raise error
        found = self.matches[row]
        return _ids(self._names, found.as_py() or ())

    def __len__(self) -> int:
        return len(self.errors)


@dataclass(frozen=True, slots=True)
class StructureMatch:
    """What the structure of a document tells: the subscriptions that match, and those that are left open.

    All others do not match.  A subscription is left open if the document may match it, which depends on
    values, counts or positions.  ``error`` says why the structure could not be used; then everything is open.
    """

    positions: Sequence[int]
    open: Sequence[int]
    error: StructureError | None
    _names: Sequence[Hashable] = field(repr=False)

    @property
    def ids(self) -> list[Hashable]:
        """The ids that match, in the order they were added; raises the error if there is one."""
        return self._ids(self.positions)

    @property
    def open_ids(self) -> list[Hashable]:
        """The ids that are left open, in the order they were added; raises the error if there is one."""
        return self._ids(self.open)

    def _ids(self, positions: Sequence[int]) -> list[Hashable]:
        if self.error is not None:
            raise self.error
        return _ids(self._names, positions)

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True, slots=True)
class StructureBatch:
    """What each structure of a batch tells, and the error of each that could not be used."""

    matches: Any
    """Arrow ``list<uint32>``: the positions that match, for each structure; null if it could not be used."""
    open: Any
    """Likewise, the positions that are left open."""
    errors: list[StructureError | None]
    _names: Sequence[Hashable] = field(repr=False)

    def ids(self, row: int) -> list[Hashable]:
        """The ids that match the structure in ``row``; raises its error if it has one."""
        return self._ids(self.matches, row)

    def open_ids(self, row: int) -> list[Hashable]:
        """The ids that the structure in ``row`` leaves open; raises its error if it has one."""
        return self._ids(self.open, row)

    def _ids(self, lists: Any, row: int) -> list[Hashable]:
        error = self.errors[row]
        if error is not None:
            raise error
        return _ids(self._names, lists[row].as_py() or ())

    def __len__(self) -> int:
        return len(self.errors)


@dataclass(frozen=True, slots=True)
class Selected:
    """A node that a subscription selects, as a range of bytes; ``kind`` is ``element``, ``attribute``, …"""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class CostlySubscription:
    """The cost of a subscription: how often it was a candidate, and how often it was decided on a tree.

    ``candidates`` is per thousand sampled documents, ``confirmations`` is the total number of evaluations.
    """

    id: Hashable
    candidates: float
    confirmations: int


@dataclass(frozen=True, slots=True)
class Stats:
    """The size of an index, and the state of the caches of its engines."""

    subscriptions: int
    bytes: int
    segments: int
    inexact: int
    """The number of subscriptions whose candidates are decided on a tree of the document."""
    engines: int
    documents: int
    cache_bytes: int
    path_nodes: int
    memo_hit_rate: float
    flushes: int
    steps: int
    """The steps that matching has taken so far, as ``DocumentLimits.matching_work`` counts them."""
    undecided: int
    """How often a subscription took too many steps to decide on a document."""
    costliest: tuple[CostlySubscription, ...]


def rank_costliest(
    roster: Roster, size: int, engines: Iterable[SegmentMatcher]
) -> tuple[CostlySubscription, ...]:
    """The ten subscriptions, of those at positions below ``size``, that cost the engines most."""
    looked_at: Counter[Hashable] = Counter()
    decided: Counter[Hashable] = Counter()
    documents = 0
    for engine in engines:
        sampled, counts = engine.candidates(32)
        documents += sampled
        for position, count in counts:
            if position < size:
                looked_at[roster[position]] += count
        for position, count in engine.confirmations()[0]:
            if position < size:
                decided[roster[position]] += count
    costly = {*dict(looked_at.most_common(10)), *dict(decided.most_common(10))}
    positions = {id: position for id in costly if (position := roster.find(id)) is not None}
    ranked = sorted(positions, key=lambda id: (-decided[id], -looked_at[id], positions[id]))
    return tuple(
        CostlySubscription(id, 1000 * looked_at[id] / documents if documents else 0.0, decided[id])
        for id in ranked[:10]
    )


def _ids(names: Sequence[Hashable], positions: Iterable[int]) -> list[Hashable]:
    if isinstance(names, Roster):
        return names.take(positions)
    return [names[position] for position in positions]

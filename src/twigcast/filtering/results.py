"""What an index answers, as values that carry their evidence."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from twigcast.errors import DocumentError, PatternError, SubscriptionError
from twigcast.filtering.roster import Roster


@dataclass(frozen=True, slots=True)
class RefusedSubscription:
    """A subscription that was not added, and why."""

    id: Hashable
    error: PatternError | SubscriptionError


@dataclass(frozen=True, slots=True)
class Match:
    """The subscriptions one document matches, or the error that kept it from being read."""

    positions: Sequence[int]
    error: DocumentError | None
    _names: Sequence[Hashable] = field(repr=False)

    @classmethod
    def of(cls, ids: Sequence[Hashable]) -> Match:
        """The match of these ids."""
        return cls(range(len(ids)), None, ids)

    @property
    def ids(self) -> list[Hashable]:
        """The ids, in the order they were added; raises the error of a document that could not be read."""
        if self.error is not None:
            raise self.error
        return _ids(self._names, self.positions)

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True, slots=True)
class BatchMatch:
    """The subscriptions each document of a batch matches, as positions, with the errors beside them."""

    matches: Any
    """Arrow ``list<uint32>``: a row of positions for each document, null where it could not be read."""
    errors: list[DocumentError | None]
    _names: Sequence[Hashable] = field(repr=False)

    def ids(self, row: int) -> list[Hashable]:
        """The ids of one row; raises the error of a document that could not be read."""
        error = self.errors[row]
        if error is not None:
            raise error
        found = self.matches[row]
        return _ids(self._names, found.as_py() or ())

    def __len__(self) -> int:
        return len(self.errors)


@dataclass(frozen=True, slots=True)
class Selected:
    """A node that a subscription selects, as a range of the document's bytes; kind is ``element``, …"""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class CostlySubscription:
    """A subscription and how often it had to be looked at, per thousand documents sampled."""

    id: Hashable
    candidates: float
    confirmations: int


@dataclass(frozen=True, slots=True)
class Stats:
    """What an index holds and what its engines have learnt."""

    subscriptions: int
    bytes: int
    segments: int
    inexact: int
    """Subscriptions whose candidates the evaluator confirms."""
    engines: int
    documents: int
    cache_bytes: int
    path_nodes: int
    memo_hit_rate: float
    flushes: int
    costliest: tuple[CostlySubscription, ...]


def _ids(names: Sequence[Hashable], positions: Iterable[int]) -> list[Hashable]:
    if isinstance(names, Roster):
        return names.take(positions)
    return [names[position] for position in positions]

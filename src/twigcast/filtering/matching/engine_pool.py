"""The kernel's engines of an index, each lent to one thread at a time.

An engine (a ``SegmentMatcher``) keeps its caches from document to document.  When it is lent it is given the
current snapshot of the subscriptions, and the caches of segments that both snapshots have stay warm.
"""

from __future__ import annotations

import weakref
from typing import Self

from twigcast.document import DocumentLimits
from twigcast.filtering.collection import Snapshot, SubscriptionCollection
from twigcast.filtering.expression_program import ExpressionProgram, expression_program
from twigcast.filtering.kernel._kernel import SegmentMatcher
from twigcast.filtering.mediation import RewritingSet
from twigcast.filtering.roster import Roster
from twigcast.filtering.tuning import Tuning
from twigcast.pattern import Pattern


class LentEngine:
    """An engine, the snapshot that it matches against, and the mappings that it rewrites by, if any.

    A ``with`` statement gives it back at its end, unless the kernel ran out of memory: then its caches may
    be incomplete, and it is not lent again.  The object is lent again and again: a new one for each document,
    and a generator as context manager, took 2.5 µs, half of what a call from Python costs.
    """

    __slots__ = ("_idle", "kernel", "limits", "rewritings", "snapshot")

    def __init__(self, kernel: SegmentMatcher, limits: DocumentLimits, snapshot: Snapshot) -> None:
        self.kernel = kernel
        self.limits = limits
        self.snapshot = snapshot
        self.rewritings: RewritingSet | None = None
        self._idle: list[LentEngine] | None = None  # of its pool, while it is lent

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        idle, self._idle = self._idle, None  # so that pool and engine do not keep each other alive
        assert idle is not None
        if kind is not MemoryError:
            idle.append(self)


class EnginePool:
    """Engines for the snapshots of one collection; as many as threads have used at the same time."""

    def __init__(self, collection: SubscriptionCollection, limits: DocumentLimits, tuning: Tuning) -> None:
        self._collection = collection
        self._limits = limits
        self._tuning = tuning
        self._idle: list[LentEngine] = []
        self._every: weakref.WeakSet[SegmentMatcher] = weakref.WeakSet()

    def lend(
        self, rewritings: RewritingSet | None, as_is: bool, snapshot: Snapshot | None = None
    ) -> LentEngine:
        """An engine for a snapshot, by default the current one, to be used in a ``with`` statement."""
        if snapshot is None:
            snapshot = self._collection.snapshot
        snapshot.roster.check_files()
        try:
            engine = self._idle.pop()
        except IndexError:
            engine = LentEngine(self._new_engine(), self._limits, snapshot)
        engine._idle = self._idle
        engine.snapshot = snapshot
        engine.rewritings = rewritings
        if engine.kernel.version is not snapshot:
            self._use(engine.kernel, snapshot)
        engine.kernel.rewrite(rewritings.plans if rewritings else None, as_is)
        return engine

    def share(self, other: EnginePool) -> None:
        """Use the engines of another pool, which has the same limits and tuning, together with it."""
        self._idle, self._every = other._idle, other._every

    def engines(self) -> list[SegmentMatcher]:
        """All engines, idle or lent."""
        return list(self._every)

    def _use(self, engine: SegmentMatcher, snapshot: Snapshot) -> None:
        roster = snapshot.roster
        engine.use(
            snapshot,
            tuple(level.segment for level in snapshot.levels if not level.is_empty),
            snapshot.size,
            snapshot.gone,
            snapshot.inexact,
            roster,
            lambda position: self._program(roster, position),
        )

    def _new_engine(self) -> SegmentMatcher:
        limits = self._limits
        engine = SegmentMatcher(
            self._tuning.cache_bytes,
            self._tuning.programs,
            self._tuning.memo,
            limits.bytes,
            limits.depth,
            limits.attributes,
            limits.amplification,
            limits.amplification_threshold,
            limits.entity_depth,
            limits.matching_work,
            limits.matching_work_threshold,
            limits.work,
            limits.work_threshold,
            self._tuning.dead_places,
            self._tuning.shared_copies,
            self._tuning.text_bytes,
            self._tuning.block_bytes,
        )
        self._every.add(engine)
        return engine

    def _program(self, roster: Roster, position: int) -> ExpressionProgram:
        """The program by which the kernel decides an inexact subscription."""
        pattern = roster.pattern(position, self._collection.limits)
        assert isinstance(pattern, Pattern)  # schemas are exact
        return expression_program(pattern)

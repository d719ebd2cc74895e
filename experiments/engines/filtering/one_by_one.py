"""Evaluates every pattern by itself: slow and simple, and the definition of correct for a set of patterns.

Cost: one evaluation per pattern and document.
"""

from __future__ import annotations

from collections.abc import Hashable

from experiments.engines.filtering.tree_engine import DEFAULT_LIMITS, ReferenceEngine
from twigcast.document import Document, DocumentLimits
from twigcast.filtering.subscription_ids import duplicate_id, unknown_id
from twigcast.pattern import Pattern, matches


class OneByOne(ReferenceEngine):
    """The engine that shares nothing."""

    def __init__(self, limits: DocumentLimits = DEFAULT_LIMITS) -> None:
        super().__init__(limits)
        self._patterns: dict[Hashable, Pattern] = {}

    def add(self, id: Hashable, pattern: Pattern) -> None:
        """Add a pattern; raises ``SubscriptionError`` if the id is in use."""
        if id in self._patterns:
            raise duplicate_id(id)
        self._patterns[id] = pattern

    def remove(self, id: Hashable) -> None:
        """Remove a pattern; raises ``SubscriptionError`` if there is none of this id."""
        if id not in self._patterns:
            raise unknown_id(id)
        del self._patterns[id]

    def matching(self, document: Document) -> list[Hashable]:
        return [id for id, pattern in self._patterns.items() if matches(pattern, document)]

    def __len__(self) -> int:
        return len(self._patterns)

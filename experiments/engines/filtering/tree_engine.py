"""The common base of the reference engines, which match against a tree of the document in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Hashable, Iterator

from experiments.engines.filtering.skeleton import skeleton
from twigcast.document import Document, DocumentLimits, read
from twigcast.errors import DocumentError
from twigcast.filtering.results import Match
from twigcast.filtering.subscription_ids import duplicate_id, unknown_id
from twigcast.pattern import Pattern, matches
from twigcast.system import Buffer

DEFAULT_LIMITS = DocumentLimits()


class ReferenceEngine(ABC):
    """An engine that reads the document into a tree first; for comparison and teaching."""

    def __init__(self, limits: DocumentLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits

    @abstractmethod
    def matching(self, document: Document) -> list[Hashable]:
        """The ids of the patterns that match, in the order they were added."""

    def match(self, body: Buffer) -> Match:
        """The ids of the patterns that match, in the order they were added; or the error of the document."""
        try:
            document = read(body, self._limits)
        except DocumentError as error:
            return Match((), error, ())
        return Match.of(self.matching(document))


class PatternTable:
    """Patterns by id, in the order they were added, with their skeletons.

    An engine that matches structure only finds candidates by the skeletons; ``confirm`` decides about them.
    """

    def __init__(self) -> None:
        self._patterns: dict[Hashable, Pattern] = {}
        self._structures: dict[Hashable, Pattern] = {}

    def add(self, id: Hashable, pattern: Pattern) -> Pattern:
        """Add a pattern and return its skeleton; raises ``SubscriptionError`` if the id is in use."""
        if id in self._patterns:
            raise duplicate_id(id)
        self._patterns[id] = pattern
        self._structures[id] = skeleton(pattern)
        return self._structures[id]

    def remove(self, id: Hashable) -> None:
        """Remove a pattern; raises ``SubscriptionError`` if there is none of this id."""
        if id not in self._patterns:
            raise unknown_id(id)
        del self._patterns[id], self._structures[id]

    def structures(self) -> Iterator[tuple[Hashable, Pattern]]:
        """The ids, each with the skeleton of its pattern."""
        yield from self._structures.items()

    def confirm(self, candidates: Container[Hashable], document: Document) -> list[Hashable]:
        """The candidates whose whole pattern matches the document, given that their skeleton does."""
        return [
            id
            for id, pattern in self._patterns.items()
            if id in candidates and (pattern == self._structures[id] or matches(pattern, document))
        ]

    def __len__(self) -> int:
        return len(self._patterns)

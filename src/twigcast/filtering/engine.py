"""What every matching engine offers: patterns by id, and the ids that match a document.

The engines differ in what they share between patterns, never in their answers:

    OneByOne    nothing: the definition of correct
    XTrie       common substrings of element names
    YFilter     common prefixes of paths
    Index       all of it, compiled
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Hashable, Iterator
from typing import Protocol

from twigcast.document import Document, DocumentLimits, read
from twigcast.errors import DocumentError, SubscriptionError
from twigcast.filtering.results import Match
from twigcast.filtering.skeleton import skeleton
from twigcast.pattern import Pattern, matches

DEFAULT_LIMITS = DocumentLimits()


class Engine(Protocol):
    """Many patterns, matched together against one document at a time."""

    def add(self, id: Hashable, pattern: Pattern) -> None:
        """Take a pattern in; raises ``SubscriptionError`` where the id is already there."""
        ...

    def remove(self, id: Hashable) -> None:
        """Forget a pattern; raises ``SubscriptionError`` where the id is unknown."""
        ...

    def match(self, body: bytes) -> Match:
        """The ids of the patterns that match, in the order of adding; or the error of the document."""
        ...

    def __len__(self) -> int: ...


class ReferenceEngine(ABC):
    """An engine over the small tree of a document, to compare with and to learn from."""

    def __init__(self, limits: DocumentLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits

    @abstractmethod
    def matching(self, document: Document) -> list[Hashable]:
        """The ids of the patterns that match, in the order of adding."""

    def match(self, body: bytes) -> Match:
        """The ids of the patterns that match, in the order of adding; or the error of the document."""
        try:
            document = read(body, self._limits)
        except DocumentError as error:
            return Match((), error, ())
        return Match.of(self.matching(document))


def duplicate_id(id: Hashable) -> SubscriptionError:
    """The error for an id that is already there."""
    return SubscriptionError(f"subscription {id!r} is already there", code="duplicate-id", id=id)


def unknown_id(id: Hashable) -> SubscriptionError:
    """The error for an id that is not there."""
    return SubscriptionError(f"there is no subscription {id!r}", code="unknown-id", id=id)


class Subscriptions:
    """Patterns by id, in the order of adding, with what an engine of structure cannot decide about them."""

    def __init__(self) -> None:
        self._patterns: dict[Hashable, Pattern] = {}
        self._structures: dict[Hashable, Pattern] = {}

    def add(self, id: Hashable, pattern: Pattern) -> Pattern:
        """Take a pattern in and return its skeleton."""
        if id in self._patterns:
            raise duplicate_id(id)
        self._patterns[id] = pattern
        self._structures[id] = skeleton(pattern)
        return self._structures[id]

    def remove(self, id: Hashable) -> None:
        if id not in self._patterns:
            raise unknown_id(id)
        del self._patterns[id], self._structures[id]

    def structures(self) -> Iterator[tuple[Hashable, Pattern]]:
        """Ids with the skeletons of their patterns."""
        yield from self._structures.items()

    def confirm(self, candidates: Container[Hashable], document: Document) -> list[Hashable]:
        """Those candidates, found by their skeletons, whose patterns match the document as a whole."""
        return [
            id
            for id, pattern in self._patterns.items()
            if id in candidates and (pattern == self._structures[id] or matches(pattern, document))
        ]

    def __len__(self) -> int:
        return len(self._patterns)

"""What every matching engine offers: patterns by id, and the ids that match a document.

The engines differ in what they share between patterns, never in their answers:

    OneByOne    nothing: the definition of correct
    XTrie       common substrings of element names
    YFilter     common prefixes of paths
    Index       all of it, compiled
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from twigcast.errors import SubscriptionError
from twigcast.filtering.results import Match
from twigcast.pattern import Pattern


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


def duplicate_id(id: Hashable) -> SubscriptionError:
    """The error for an id that is already there."""
    return SubscriptionError(f"subscription {id!r} is already there", code="duplicate-id", id=id)


def unknown_id(id: Hashable) -> SubscriptionError:
    """The error for an id that is not there."""
    return SubscriptionError(f"there is no subscription {id!r}", code="unknown-id", id=id)

"""The interface of every matching engine: it stores patterns by id and returns the ids that match a document.

Engines differ in the work that they share between patterns, never in their answers:

    OneByOne    shares nothing: the definition of correct
    XTrie       shares common substrings of element names
    YFilter     shares common prefixes of paths
    Index       shares both, and branches and predicates, in compiled code
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from twigcast.filtering.results import Match
from twigcast.pattern import Pattern
from twigcast.system import Buffer


class Engine(Protocol):
    """Matches many patterns together against one document at a time."""

    def add(self, id: Hashable, pattern: Pattern) -> None:
        """Add a pattern; raises ``SubscriptionError`` if the id is in use."""
        ...

    def remove(self, id: Hashable) -> None:
        """Remove a pattern; raises ``SubscriptionError`` if the id is unknown."""
        ...

    def match(self, body: Buffer) -> Match:
        """The ids of the patterns that match, in the order they were added; or the error of the document."""
        ...

    def __len__(self) -> int: ...

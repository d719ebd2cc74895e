"""The interface of every matching engine: it stores patterns by id and returns the ids that match a document.

Engines differ in the work that they share between patterns, never in their answers:

    OneByOne    shares nothing: the definition of correct
    XTrie       shares common substrings of element names
    YFilter     shares common prefixes of paths
    Index       shares both, and branches and predicates, in compiled code
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Protocol, TypeAlias

from twigcast.document import Document, DocumentLimits
from twigcast.errors import SubscriptionError
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


class Rewriting(Protocol):
    """How documents with one root element are rewritten before they are matched: a mapping between schemas.

    Two of the same ``reference`` are the same.  ``plan`` is for the kernel; ``apply`` gives what it stands
    for, a document whose ``sources`` are nodes of the original.
    """

    @property
    def name(self) -> str:
        """The name of the mapping."""
        ...

    @property
    def reference(self) -> str:
        """The name with a hash of the mapping."""
        ...

    @property
    def root(self) -> tuple[str, str]:
        """The namespace and the local name of the root element."""
        ...

    @property
    def plan(self) -> bytes:
        """The mapping as the kernel reads it."""
        ...

    def apply(self, document: Document, limits: DocumentLimits | None = None) -> Document:
        """Rewrite a document."""
        ...


Rewritings: TypeAlias = Rewriting | Iterable[Rewriting]
"""One mapping, or several, of which the root element of a document chooses."""


def duplicate_id(id: Hashable) -> SubscriptionError:
    """The error for an id that is already in use."""
    return SubscriptionError(f"there is already a subscription {id!r}", code="duplicate-id", id=id)


def unknown_id(id: Hashable) -> SubscriptionError:
    """The error for an id that no subscription has."""
    return SubscriptionError(f"there is no subscription {id!r}", code="unknown-id", id=id)

"""Matchers that a network may use in place of the index, for the documents of one mapping.

A pool makes one matcher for each mapping, and makes it anew after its patterns have changed.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as ByNumber
from typing import Protocol, TypeAlias

from twigcast.analysis import SchemaAutomaton
from twigcast.pattern import Pattern
from twigcast.rewriting import Mapping

Entries: TypeAlias = ByNumber[int, Pattern | SchemaAutomaton]
"""Patterns and schemas by number."""


class ImageMatcher(Protocol):
    """Patterns and schemas by number, matched against the images of one mapping's documents."""

    def numbers(self, body: bytes) -> list[int] | None:
        """The numbers that match; None if this matcher cannot say, so that the document must be rewritten.

        Raises ``DocumentError`` if the document cannot be read.
        """
        ...


MatcherMaker: TypeAlias = Callable[[Mapping, Entries], ImageMatcher]
"""Makes the matcher for the documents of a mapping."""

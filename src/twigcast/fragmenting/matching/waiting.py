"""Fragments that cannot be read before another one: each is looked at again only when that one was read."""

from __future__ import annotations

from collections.abc import Iterator

from twigcast.fragmenting.fragments import Fragment, fragment_number

OPENING = 0
"""What a fragment waits for if its header does not have the opening of the document."""


class WaitingFragments:
    """Fragments of one document by the number of the fragment that each waits for."""

    def __init__(self) -> None:
        self.bytes = 0
        """The bytes of their bodies."""
        self._for: dict[int, list[Fragment]] = {}
        self._numbers: set[int] = set()

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Fragment]:
        return (fragment for fragments in self._for.values() for fragment in fragments)

    def __contains__(self, number: int) -> bool:
        return number in self._numbers

    def add(self, fragment: Fragment, other: int) -> None:
        """Keep a fragment until another one was read, or until the opening is known."""
        self._for.setdefault(other, []).append(fragment)
        self._numbers.add(fragment.number)
        self.bytes += len(fragment.body)

    def take(self, other: int) -> list[Fragment]:
        """Remove and return the fragments that have waited for another one, in the order of their arrival."""
        fragments = self._for.pop(other, [])
        for fragment in fragments:
            self._numbers.remove(fragment.number)
            self.bytes -= len(fragment.body)
        return fragments


def needed_fragments(fragment: Fragment) -> Iterator[int]:
    """The fragments that must be read first, because the header of this one lacks the names around it."""
    for run in fragment.runs:
        if run.fills is not None and run.context is None:
            yield fragment_number(run.fills if fragment.is_span else run.parent)

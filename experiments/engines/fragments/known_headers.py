"""The headers of a document that are known, and whether they are all.

A manifest has the headers of all fragments and is sent ahead; without it, "no other fragment can matter" is
known only when the last fragment has come.
"""

from __future__ import annotations

from twigcast.fragmenting import Header


class KnownHeaders:
    """The numbers of the fragments whose headers are known, from a manifest or by arrival."""

    def __init__(self) -> None:
        self._numbers: set[int] = set()
        self._last: int | None = None

    def add(self, header: Header) -> bool:
        """Note a header; returns whether it is new."""
        new = header.number not in self._numbers
        self._numbers.add(header.number)
        if header.is_last:
            self._last = header.number
        return new

    @property
    def complete(self) -> bool:
        """Whether the headers of all fragments are known."""
        return self._last is not None and len(self._numbers) == self._last

"""Which fragments are scheduled together, and whether all headers of a document are known.

A window of w fragments is scheduled and evaluated when the w-th fragment has come, or when the caller ends
it; with w = 1 fragments are evaluated as they come, with w = ∞ all together at the end of the document.
A manifest has the headers of all fragments and is sent ahead; without it, "no other fragment can matter" is
known only when the last fragment has come.
"""

from __future__ import annotations

from math import inf

from twigcast.fragmenting.fragments import Fragment, Header


class Window:
    """Collects the fragments of a document until there are ``size`` of them; ``math.inf`` has no limit."""

    def __init__(self, size: float = inf) -> None:
        if size < 1:
            raise ValueError("a window has at least one fragment")
        self.size = size
        self._fragments: list[Fragment] = []

    def add(self, fragment: Fragment) -> list[Fragment]:
        """Add a fragment; returns the fragments of the window if it is full, and begins the next one."""
        self._fragments.append(fragment)
        return self.flush() if len(self._fragments) >= self.size else []

    def flush(self) -> list[Fragment]:
        """End the window early; returns its fragments."""
        fragments, self._fragments = self._fragments, []
        return fragments

    def __len__(self) -> int:
        return len(self._fragments)


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

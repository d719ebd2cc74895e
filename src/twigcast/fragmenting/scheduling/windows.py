"""Which fragments are scheduled together.

A window of w fragments is scheduled and evaluated when the w-th fragment has come, or when the caller ends
it; with w = 1 fragments are evaluated as they come, with w = ∞ all together at the end of the document.
"""

from __future__ import annotations

from math import inf

from twigcast.fragmenting.fragments import Fragment


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

"""Notices that the schema of a publisher has changed: more of its documents contain strangers than before.

Strangers are elements that the source schema of a mapping does not have.  A batch may be small, so shares are
taken over windows of some documents; a share is reported when it is half as high again as the last that was
reported.  So a run says little, however long it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

WINDOW = 100  # documents
LEAST = 0.01  # lower shares are not reported
RISE = 1.5


class MappingFigures(Protocol):
    """The figures of a mapping in a batch."""

    @property
    def mapping(self) -> str | None: ...
    @property
    def documents(self) -> int: ...
    @property
    def documents_with_strangers(self) -> int: ...


@dataclass(slots=True)
class _Seen:
    documents: int = 0
    strange: int = 0
    window: int = 0
    strange_in_window: int = 0
    reported: float = 0.0

    def add(self, documents: int, strange: int) -> tuple[float, float] | None:
        """Add a batch; returns the last reported share and the share now, if that is much higher."""
        self.documents, self.strange = self.documents + documents, self.strange + strange
        self.window, self.strange_in_window = self.window + documents, self.strange_in_window + strange
        if self.window < WINDOW:
            return None
        before, share = self.reported, self.strange_in_window / self.window
        self.window = self.strange_in_window = 0
        if share < max(LEAST, RISE * before):
            return None
        self.reported = share
        return before, share


class StrangerShares:
    """The shares of documents with strangers in a run, for each mapping."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def add(self, mappings: Iterable[MappingFigures]) -> list[str]:
        """Add the figures of a batch; returns a line for each mapping whose share has risen."""
        lines = []
        for each in mappings:
            if each.mapping is None:
                continue
            seen = self._seen.setdefault(each.mapping, _Seen())
            risen = seen.add(each.documents, each.documents_with_strangers)
            if risen is not None:
                before, share = risen
                lines.append(f"{_sentence(each.mapping, share)} (before: {before:.0%})")
        return lines

    def summary(self) -> list[str]:
        """A line for each mapping with strangers, over the whole run."""
        return [
            f"{_sentence(mapping, seen.strange / seen.documents)} ({seen.strange:,} of {seen.documents:,})"
            for mapping, seen in self._seen.items()
            if seen.strange
        ]


def _sentence(mapping: str, share: float) -> str:
    name = mapping.partition("#")[0]
    return f"mapping {name}: {share:.0%} of the documents have elements that its source schema does not have"

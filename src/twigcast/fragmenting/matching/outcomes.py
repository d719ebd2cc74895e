"""What is known about a document that arrives in fragments: certain matches, and in the end an outcome."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from twigcast.errors import DocumentError, FragmentError
from twigcast.filtering import Match

Status: TypeAlias = Literal["open", "complete", "broken", "incomplete"]
"""``open``: fragments are expected; the others are outcomes."""


@dataclass(frozen=True, slots=True)
class Certain:
    """Subscriptions that a document matches whatever its other fragments contain, if it is well-formed.

    ``arrived`` is the number of bytes that had come when this became known, of ``size`` in all if that is
    known.
    """

    doc_id: str
    ids: tuple[Hashable, ...]
    arrived: int
    size: int | None = None

    @property
    def share(self) -> float | None:
        """The share of the document's bytes that had come; ``None`` if its size is not known."""
        return self.arrived / self.size if self.size else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The last word on a document.

    A ``complete`` document has a ``match``.  A ``broken`` one has the ``error`` that makes it useless.  An
    ``incomplete`` one has the numbers of the ``missing`` fragments as ranges, as far as they are known, and
    the ``reason``; the ids in ``certain`` match it, if the rest is well-formed.
    """

    doc_id: str
    status: Status
    match: Match | None = None
    error: DocumentError | FragmentError | None = None
    missing: tuple[range, ...] = ()
    certain: tuple[Hashable, ...] = ()
    reason: str = ""


News: TypeAlias = Certain | Outcome
"""What a fragment brought: a certain match, or the outcome of its document."""


@dataclass(frozen=True, slots=True)
class DocumentProgress:
    """How far a document has come: its status, the fragments that are there, and what was done with them.

    ``parsed`` and ``skipped`` count fragments that were evaluated, with and without their body; ``waiting``
    ones wait for their window or for another fragment; ``duplicates`` came more than once.
    """

    status: Status
    arrived: int
    fragments: int
    parsed: int
    skipped: int
    waiting: int
    duplicates: int
    missing: tuple[range, ...]

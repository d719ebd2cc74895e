"""The last documents of a router, by which the questions of its plans are chosen."""

from __future__ import annotations

from collections import deque
from functools import cached_property

from twigcast.document import NameTable, Structure
from twigcast.routing.piggyback.questions.data_patterns import Chain, chains_of

SAMPLE = 64
"""How many of the last documents plans are chosen by."""
SAMPLE_EVERY = 16
"""Once the sample is full, one of this many parsed documents replaces the oldest of it."""


class DocumentSample:
    """A sample of the documents that were parsed, kept as structures.

    Chains of names are computed when a plan is made: for a document of 100 elements that takes a millisecond,
    ten times as long as matching it.
    """

    def __init__(self) -> None:
        self._documents: deque[_Sampled] = deque(maxlen=SAMPLE)
        self._parsed = 0

    def __len__(self) -> int:
        return len(self._documents)

    @property
    def is_full(self) -> bool:
        """Whether it has as many documents as it can have."""
        return len(self._documents) == SAMPLE

    def takes_next(self) -> bool:
        """Count one more parsed document, and return whether it should be added."""
        self._parsed += 1
        return len(self._documents) < SAMPLE or self._parsed % SAMPLE_EVERY == 0

    def add(self, structure: bytes, names: NameTable | None = None) -> None:
        """Add a document by its structure, and the table of names with which that was written."""
        self._documents.append(_Sampled(structure, names))

    def chains(self) -> list[frozenset[Chain]]:
        """Return the chains of names that each document has."""
        return [each.chains for each in self._documents]


class _Sampled:
    def __init__(self, structure: bytes, names: NameTable | None) -> None:
        self._structure = structure
        self._names = names

    @cached_property
    def chains(self) -> frozenset[Chain]:
        return chains_of(Structure.decode(self._structure, self._names))

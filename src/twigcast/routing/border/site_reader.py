"""The data plane of a site's border: which documents their annotations decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from twigcast.routing.piggyback import Annotations, ClaimReader, Known, ToldSet
from twigcast.routing.piggyback.verdict import NO_NUMBERS, Numbers, Serials

NO_ROW, OTHER_ROW = -1, -2
"""Numbers of positions without an entry, and of entries that the router of the border does not have."""


@dataclass(frozen=True)  # without slots: rows are cached in the instance
class SiteReader:
    """Decides by annotations which positions of an index a document matches.

    Without arguments it knows no plan, so that only structures decide.
    """

    claims: ClaimReader = field(default_factory=lambda: ClaimReader(ToldSet()))
    numbers: Numbers = field(default_factory=lambda: NO_NUMBERS)
    """For each position of the index its number in the router's pool, ``NO_ROW`` or ``OTHER_ROW``."""
    serials: Serials = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    entered: int = 0
    capacity: int = 0

    def matches(
        self, annotations: Annotations, found: tuple[Numbers, Numbers] | None = None
    ) -> Numbers | None:
        """Return the positions that the document matches; None if it must be parsed.

        ``found`` has the positions that its structure proves, and those that it leaves open.
        """
        is_alone = len(annotations.sections) == 1
        if found is not None and not len(found[1]) and (is_alone or not len(self.numbers)):
            return found[0]
        if not len(self.numbers):
            return None
        known = Known(self.capacity)
        try:
            self.claims.conclude(annotations, self.serials, self.entered, known)
        except ValueError:
            return None  # they are malformed
        by_structure = (
            Known(len(self.numbers)) if found is None else Known.of_answer(*found, len(self.numbers))
        )
        yes, no, rows = by_structure.yes, by_structure.no, self._rows
        yes[rows] |= known.yes[self.numbers[rows]]
        no[rows] |= known.no[self.numbers[rows]]
        entries = self.numbers != NO_ROW
        if (yes & no)[entries].any() or not (yes | no)[entries].all():
            return None  # they contradict each other, or leave something open
        return np.flatnonzero(yes & entries).astype(np.int32)

    @cached_property
    def _rows(self) -> Numbers:
        return np.flatnonzero(self.numbers >= 0).astype(np.int32)

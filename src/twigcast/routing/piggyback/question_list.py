"""The questions of a neighbour in their order, each given by the number of its pattern in the pool."""

from __future__ import annotations

import numpy as np

from twigcast.routing.piggyback.payloads import Places
from twigcast.routing.piggyback.verdict import ClaimTable, Numbers, Serials

NOT_ASKED = -1


class QuestionList:
    """Finds the questions that a document answers with yes, from the patterns that it matches.

    Cost: a few array operations on the matched patterns, whatever the number of questions.
    """

    __slots__ = ("_answered_by", "_is_distinct", "_place", "numbers")

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self._is_distinct = len(np.unique(numbers)) == len(numbers)
        most = int(numbers.max(initial=-1)) + 1
        self._place = np.full(most + 1, NOT_ASKED, dtype=np.int64)  # the last one is for larger numbers
        self._place[numbers] = np.arange(len(numbers))
        self._answered_by: ClaimTable | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def places(self, matched: Numbers) -> Places:
        """Return the places of the questions about patterns that match, in ascending order."""
        if not self._is_distinct:
            return np.flatnonzero(np.isin(self.numbers, matched))
        found: Places = self._place.take(matched, mode="clip")
        found = found[found != NOT_ASKED]
        found.sort()
        return found

    def are_answered_by(self, table: ClaimTable, serials: Serials) -> bool:
        """Whether the answers to a plan, as this router made it, decide all of these questions."""
        if table is not self._answered_by:
            if not table.answers_all(self.numbers, serials):
                return False
            self._answered_by = table
        return True


NO_QUESTIONS = QuestionList(np.zeros(0, dtype=np.int32))

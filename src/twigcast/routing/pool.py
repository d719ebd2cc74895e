"""The patterns that routers hold, each once, and which of them a document matches.

Tables hold numbers, the pool holds what they stand for.  Routers of one process may share a pool: a pattern
that stands in a hundred tables is compiled once, a document that passes a hundred routers is matched once,
and each router looks up in the answer what concerns it.

        tables      link n1: x ─► 0, y ─► 1        link n2: z ─► 1
        pool        0 /a/b    1 //c[@d]
        answer      {1}                            y and z match

Cost: a set of numbers for each document; the index is built when the first document comes, and brought up to
date when the next one does.
"""

from __future__ import annotations

from collections.abc import Iterable

from twigcast.analysis import overlaps
from twigcast.errors import DocumentError
from twigcast.filtering import Index
from twigcast.pattern import Pattern
from twigcast.routing.advertising import Advertisement

ANSWERS = 64
FEW = 64


class Pool:
    """Patterns by number, counted by how often they are held; a number means the same until let go of."""

    def __init__(self, answers: int = ANSWERS) -> None:
        """``answers`` is how many documents are remembered with what they matched."""
        self._numbers: dict[Pattern, int] = {}
        self._same: dict[
            int, int
        ] = {}  # by the identity of the pattern first: hashing one takes microseconds
        self._patterns: dict[int, Pattern] = {}
        self._held: dict[int, int] = {}
        self._next = 0
        self._index: Index | None = None
        self._indexed: set[int] = set()
        self._changed: set[int] = set()
        self._answers: dict[bytes, frozenset[int] | DocumentError] = {}
        self._most_answers = answers
        self._distinct: dict[frozenset[int], frozenset[int]] = {}
        self._overlaps: dict[str, tuple[Advertisement, dict[int, bool]]] = {}

    def hold(self, pattern: Pattern) -> int:
        """The number of a pattern, which is held once more."""
        number = self._same.get(id(pattern))
        if number is None:
            number = self._numbers.get(pattern)
            if number is None:
                number = self._enter(pattern)
        self._held[number] += 1
        return number

    def release(self, number: int) -> None:
        """Hold the pattern of a number once less; the last one lets go of it."""
        held = self._held[number] - 1
        if held:
            self._held[number] = held
            return
        pattern = self._patterns.pop(number)
        del self._held[number], self._numbers[pattern], self._same[id(pattern)]
        self._changed.add(number)
        for _, known in self._overlaps.values():
            known.pop(number, None)

    def pattern(self, number: int) -> Pattern:
        """The pattern of a number that is held."""
        return self._patterns[number]

    def __len__(self) -> int:
        return len(self._patterns)

    def match(self, body: bytes) -> frozenset[int]:
        """The numbers of all patterns that the document matches; raises ``DocumentError``.

        Equal answers are the same object, so that what follows from one can be remembered by it.
        """
        if self._changed:
            self._update()
        known = self._answers.get(body)
        if known is None:
            known = self._answer(body)
            if len(self._answers) >= self._most_answers:
                del self._answers[next(iter(self._answers))]
            self._answers[body] = known
        if isinstance(known, DocumentError):
            raise known.with_traceback(None)
        return known

    def overlaps(self, advertisement: Advertisement, number: int) -> bool:
        """Whether some document of the advertisement can match the pattern."""
        kept, known = self._overlaps.get(advertisement.id, (None, {}))
        if kept is not advertisement and kept != advertisement:
            known = {}
            self._overlaps[advertisement.id] = advertisement, known
        answer = known.get(number)
        if answer is None:
            answer = known[number] = overlaps(advertisement.automaton, self._patterns[number])
        return answer

    def forget(self, advertisements: Iterable[str]) -> None:
        """Drop what is known of these advertisements."""
        for id in advertisements:
            self._overlaps.pop(id, None)

    def _enter(self, pattern: Pattern) -> int:
        number = self._next
        self._next += 1
        self._numbers[pattern] = self._same[id(pattern)] = number
        self._patterns[number] = pattern
        self._held[number] = 0
        self._changed.add(number)
        return number

    def _answer(self, body: bytes) -> frozenset[int] | DocumentError:
        if self._index is None:
            self._index = Index()
        match = self._index.match(body)
        if match.error is not None:
            return match.error
        answer: frozenset[int] = frozenset(match.ids)  # type: ignore[arg-type]
        return self._distinct.setdefault(answer, answer)

    def _update(self) -> None:
        """Bring the index to the patterns that are held: a few one by one, else all anew."""
        if self._index is not None and len(self._changed) <= FEW + len(self._indexed) // 2:
            gone = self._changed & self._indexed
            new = self._changed & self._patterns.keys()
            for number in gone:
                self._index.remove(number)
            self._index.add_all((number, self._patterns[number]) for number in new)
            self._indexed = (self._indexed - gone) | new
        else:
            self._index = Index(self._patterns.items())
            self._indexed = set(self._patterns)
        self._changed.clear()
        self._answers.clear()
        self._distinct.clear()

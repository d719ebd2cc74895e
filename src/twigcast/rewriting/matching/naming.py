"""How similar two names are: their words, compared one by one, with a thesaurus.

    CourseTitle ──► course, title ┐
                                  ├──► (0 + 1 + 1) / 3 = 0.67       best of each word, both ways
    title       ──► title         ┘

Words are equal (1), in one line of the thesaurus (0.99, so that equal words win), one the beginning of the
other (0.9), or alike by Jaro–Winkler (above 0.85, as it is); all others have nothing in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import JaroWinkler

from twigcast.rewriting.labels import parse_path
from twigcast.rewriting.matching.thesaurus import Thesaurus

SYNONYM = 0.99
"""The similarity of synonyms: of an equal word and a synonym, the equal word is meant."""
PREFIX = 0.9
"""The similarity of a word and its beginning, such as ``prereq`` and ``prerequisite``."""
SHORTEST_PREFIX = 3
ALIKE = 0.85
"""Words that are less similar by Jaro–Winkler have nothing in common."""
SHORTEST_PART = 3
"""The letters that both parts of a compound such as ``coursewebsite`` have at least."""

_PIECE = re.compile(r"\d+|[^\W\d_]+")


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in lower case, cut at case, digits and all that is no letter."""
    words: list[str] = []
    for piece in _PIECE.findall(name):
        start = 0
        for at in range(1, len(piece)):
            rises = piece[at].isupper() and not piece[at - 1].isupper()
            ends = piece[at].isupper() and piece[at + 1 : at + 2].islower()  # the F of XMLFile
            if rises or ends:
                words.append(piece[start:at].lower())
                start = at
        words.append(piece[start:].lower())
    return tuple(words)


def pooled_names(publishers: Iterable[Mapping[str, str]]) -> dict[str, frozenset[str]]:
    """The names that publishers have for each place of the global schema, from the pairs of each."""
    found: dict[str, set[str]] = {}
    for pairs in publishers:
        for source, target in pairs.items():
            found.setdefault(target, set()).add(parse_path(source)[-1].label.local)
    return {target: frozenset(names) for target, names in found.items()}


@dataclass(frozen=True, slots=True)
class NameSimilarity:
    """How similar two names are, and which synonyms made them so."""

    value: float
    synonyms: tuple[tuple[str, str], ...] = ()


class NameComparison:
    """Compares names; a word that is two words of the vocabulary in a row is cut into these."""

    def __init__(self, thesaurus: Thesaurus, names: Iterable[str] = ()) -> None:
        self.thesaurus = thesaurus
        self._vocabulary = {word for name in names for word in words_of(name)} | thesaurus.vocabulary
        self._similarity = lru_cache(maxsize=None)(self._word_similarity)
        self._words = lru_cache(maxsize=None)(self._parts)
        # Large schemas have few names at many places.
        self.of_words = lru_cache(maxsize=1 << 20)(self._similarity_of_words)
        """How similar two names are that are already cut into words."""
        self.contained = lru_cache(maxsize=1 << 20)(self._contained)
        """How much of some words is found among others, from 0 to 1; all of no words is found."""

    def words(self, name: str) -> tuple[str, ...]:
        """The words of a name, compounds cut."""
        return self._words(name)

    def similarity(self, a: str, b: str) -> NameSimilarity:
        """How similar two names are, from 0 to 1."""
        return self.of_words(self._words(a), self._words(b))

    def _similarity_of_words(self, a: tuple[str, ...], b: tuple[str, ...]) -> NameSimilarity:
        if not a or not b:
            return NameSimilarity(0.0)
        total = 0.0
        synonyms: dict[tuple[str, str], None] = {}
        for ours, theirs, swapped in ((a, b, False), (b, a, True)):
            for word in ours:
                best, partner = max(
                    ((self._similarity(word, each), each) for each in theirs), key=lambda found: found[0]
                )
                total += best
                if best and self._is_synonym(word, partner):
                    synonyms[(partner, word) if swapped else (word, partner)] = None
        return NameSimilarity(total / (len(a) + len(b)), tuple(synonyms))

    def _contained(self, words: tuple[str, ...], among: tuple[str, ...]) -> float:
        if not words:
            return 1.0
        best = (max((self._similarity(word, each) for each in among), default=0.0) for word in words)
        return sum(best) / len(words)

    def _is_synonym(self, a: str, b: str) -> bool:
        return a != b and self.thesaurus.are_synonyms(a, b)

    def _word_similarity(self, a: str, b: str) -> float:
        if a == b:
            return 1.0
        if self.thesaurus.are_synonyms(a, b):
            return SYNONYM
        if a.isdigit() or b.isdigit():
            return 0.0
        short, long = sorted((a, b), key=len)
        if len(short) >= SHORTEST_PREFIX and long.startswith(short):
            return PREFIX
        alike = JaroWinkler.normalized_similarity(a, b)
        return alike if alike > ALIKE else 0.0

    def _parts(self, name: str) -> tuple[str, ...]:
        return tuple(part for word in words_of(name) for part in self._cut(word))

    def _cut(self, word: str) -> tuple[str, ...]:
        for at in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
            if word[:at] in self._vocabulary and word[at:] in self._vocabulary:
                return word[:at], word[at:]
        return (word,)

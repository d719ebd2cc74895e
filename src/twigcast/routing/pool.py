"""Stores each distinct pattern of one or more routers once, and matches documents against all of them.

Routing tables hold numbers, and the pool holds the patterns with these numbers.  The routers of one process
may share a pool.  Then a pattern that is in a hundred tables is compiled once, a document that passes a
hundred routers is matched once, and each router looks up the matched numbers in its own tables.

        tables      link n1: x ─► 0, y ─► 1        link n2: z ─► 1
        pool        0 /a/b    1 //c[@d]
        answer      [1]                            y and z match

A document may have a mapping: then its image is matched, and the answer is cached for document and mapping.
A schema automaton can be stored like a pattern; it matches the documents that it describes.
Cost: the index is updated when the next document arrives.  A released pattern stays in the index as a
tombstone, which is removed from answers; the index is rebuilt when half of its entries are tombstones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Mapping as ByNumber
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from twigcast.analysis import SchemaAutomaton, overlaps
from twigcast.document import DocumentLimits, NameTable
from twigcast.errors import DocumentError, MappingError
from twigcast.filtering import Index, Match
from twigcast.fragmenting import FragmentIndex
from twigcast.pattern import Pattern
from twigcast.routing.advertising import Advertisement

if TYPE_CHECKING:
    from twigcast.rewriting import Mapping
    from twigcast.routing.mediation.image_matching import ImageMatcher

FEW = 64
RELEASED = -1

Answer: TypeAlias = npt.NDArray[np.int32]
"""The numbers of the patterns that a document matches."""

NONE: Answer = np.zeros(0, dtype=np.int32)


class Reading(NamedTuple):
    """What reading a document has shown."""

    answer: Answer
    undecided: Answer = NONE
    """The numbers in ``answer`` of patterns that took too many steps to decide."""
    figures: tuple[int, int, int] = (0, 0, 0)
    """Its number of elements, its depth, and the most attributes of one element."""
    structure: bytes | None = None


@dataclass(frozen=True, slots=True)
class FragmentReader:
    """Matches one document that comes in fragments; the patterns stay those of its first fragment."""

    index: FragmentIndex
    """Its ids are positions."""
    numbers: Answer
    """By position: the number that the pattern there had."""

    def answer(self, positions: Sequence[int], undecided: Sequence[int] = ()) -> Answer:
        """Return the numbers at these positions."""
        numbers = self.numbers.take(np.asarray([*positions, *undecided], dtype=np.uint32))
        known: Answer = numbers[numbers != RELEASED]
        return known


class Pool:
    """Patterns by number with reference counts; a number is reused after its last reference is released."""

    def __init__(
        self,
        answers: int = 0,
        matcher: Callable[[Mapping, ByNumber[int, Pattern | SchemaAutomaton]], ImageMatcher] | None = None,
    ) -> None:
        """``answers`` is the number of answers to cache, which pays off if routers share the pool.

        ``matcher`` makes another matcher than the index for the documents of a mapping.
        """
        self._numbers: dict[Pattern | SchemaAutomaton, int] = {}
        self._by_identity: dict[int, int] = {}  # hashing a pattern takes microseconds
        self._entries: dict[int, Pattern | SchemaAutomaton] = {}
        self._held: dict[int, int] = {}
        self._free: list[int] = []
        self._next = 0
        self.entered = 0
        """How many entries there have been."""
        self.serials = np.zeros(FEW, dtype=np.int64)
        """By number: how many entries came before its entry.  A number is reused, a serial never is."""
        self._index = Index()
        self._number_at = np.zeros(FEW, dtype=np.int32)  # by position in the index
        self._position_of: dict[int, int] = {}
        self._indexed = 0  # positions in the index, including tombstones
        self._new: dict[int, None] = {}
        self._changed = False
        self._frozen_numbers: Answer | None = None  # of the present positions
        self._answers: dict[tuple[str, bytes], Reading | DocumentError] = {}
        self._most_answers = answers
        self._matcher = matcher
        self._matchers: dict[str, ImageMatcher] = {}  # by the hash of the mapping
        self._overlaps: dict[str, tuple[Advertisement, dict[int, bool]]] = {}

    def hold(self, entry: Pattern | SchemaAutomaton) -> int:
        """Add a reference to a pattern or schema, and return its number."""
        number = self._by_identity.get(id(entry))
        if number is None:
            number = self._numbers.get(entry)
            if number is None:
                number = self._enter(entry)
        self._held[number] += 1
        return number

    def release(self, number: int) -> None:
        """Drop a reference to the pattern of a number; the number may be reused after the last one."""
        held = self._held[number] - 1
        if held:
            self._held[number] = held
            return
        entry = self._entries.pop(number)
        del self._held[number], self._numbers[entry], self._by_identity[id(entry)]
        self._free.append(number)
        if number in self._new:
            del self._new[number]
        else:
            self._number_at[self._position_of.pop(number)] = RELEASED
        self._changed = True
        for _, known in self._overlaps.values():
            known.pop(number, None)

    def pattern(self, number: int) -> Pattern:
        """Return the pattern of a number; it must have a reference, and must not be a schema."""
        pattern = self._entries[number]
        assert isinstance(pattern, Pattern)
        return pattern

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def capacity(self) -> int:
        """A size for arrays by number: a power of two, with room for all numbers and for some new ones."""
        return 1 << max(6, self._next.bit_length())

    def match(self, body: bytes, mapping: Mapping | None = None) -> Answer:
        """Return the numbers of all patterns that a document, or its image, matches.

        Raises ``DocumentError``.
        """
        return self.read(body, mapping).answer

    def read(self, body: bytes, mapping: Mapping | None = None) -> Reading:
        """Match a document, or its image, and return what was found; raises ``DocumentError``."""
        return self._kept("" if mapping is None else mapping.hash, body, lambda: self._read(body, mapping))

    def read_with_structure(
        self, body: bytes, names: NameTable | None = None, mapping: Mapping | None = None
    ) -> Reading:
        """Match a document, or its image, and compute its structure in the same pass.

        Raises ``DocumentError``.
        """
        if mapping is not None and self._matcher is not None:
            return self.read(body, mapping)  # another matcher than the index makes no structure
        key = "structure" if names is None else names.id.hex()
        if mapping is not None:
            key = f"{key} {mapping.hash}"
        return self._kept(
            key,
            body,
            lambda: self._found(self._index.match_with_structure(body, names, rewriting=mapping)),
        )

    def match_structure(
        self, structure: bytes, names: NameTable | None = None
    ) -> tuple[Answer, Answer] | None:
        """Return the numbers of the patterns that match, and of those that a structure leaves open.

        None if the bytes are no structure.
        """
        if self._changed:
            self._update()
        match = self._index.match_structure(structure, names)
        if match.error is not None:
            return None
        return self._numbers_at(match.positions), self._numbers_at(match.open) if len(match.open) else NONE

    def fragment_reader(self, *, checked: bool) -> FragmentReader:
        """Return what matches a document by its fragments, against the patterns that there are now.

        With ``checked=False`` the document is trusted to be well-formed, and parts that no pattern asks for
        are not parsed.
        """
        if self._changed:
            self._update()
        if self._frozen_numbers is None:
            self._frozen_numbers = self._number_at[: self._indexed].copy()
        return FragmentReader(FragmentIndex(self._index, early=True, checked=checked), self._frozen_numbers)

    @property
    def limits(self) -> DocumentLimits:
        """The limits on documents."""
        return self._index.limits

    def _kept(self, key: str, body: bytes, read: Callable[[], Reading | DocumentError]) -> Reading:
        if self._changed:
            self._update()
        known = self._answers.get((key, body)) if self._answers else None
        if known is None:
            known = read()
            if self._most_answers:
                if len(self._answers) >= self._most_answers:
                    del self._answers[next(iter(self._answers))]
                self._answers[key, body] = known
        if isinstance(known, DocumentError):
            raise known.with_traceback(None)
        return known

    def overlaps(self, advertisement: Advertisement, number: int) -> bool:
        """Whether some document of the advertisement can match the pattern of a number; this is cached."""
        kept, known = self._overlaps.get(advertisement.id, (None, {}))
        if kept is not advertisement and kept != advertisement:
            known = {}
            self._overlaps[advertisement.id] = advertisement, known
        answer = known.get(number)
        if answer is None:
            answer = known[number] = overlaps(advertisement.automaton, self.pattern(number))
        return answer

    def forget(self, advertisements: Iterable[str]) -> None:
        """Drop the cached overlaps of these advertisements."""
        for id in advertisements:
            self._overlaps.pop(id, None)

    def _enter(self, entry: Pattern | SchemaAutomaton) -> int:
        if self._free:
            number = self._free.pop()
        else:
            number = self._next
            self._next += 1
        if number >= len(self.serials):
            self.serials = np.concatenate([self.serials, np.zeros_like(self.serials)])
        self.entered += 1
        self.serials[number] = self.entered
        self._numbers[entry] = self._by_identity[id(entry)] = number
        self._entries[number] = entry
        self._held[number] = 0
        self._new[number] = None
        self._changed = True
        return number

    def _read(self, body: bytes, mapping: Mapping | None) -> Reading | DocumentError:
        if mapping is not None and self._matcher is not None:
            found = self._matched(body, mapping, self._matcher)
            if found is not None:
                return found if isinstance(found, DocumentError) else Reading(found)
        return self._found(self._index.match(body, mapping))

    def _found(self, match: Match) -> Reading | DocumentError:
        if match.error is not None:
            return match.error
        answer, undecided = self._numbers_at(match.positions), NONE
        if match.undecided:  # a router forwards a document in vain rather than lose it
            undecided = self._numbers_at([each.position for each in match.undecided])
            answer = np.concatenate([answer, undecided])
        return Reading(answer, undecided, match.figures, match.structure)

    def _numbers_at(self, positions: Sequence[int]) -> Answer:
        numbers = self._number_at.take(np.asarray(positions, dtype=np.uint32))
        return numbers if len(self._position_of) == self._indexed else numbers[numbers != RELEASED]

    def _matched(
        self,
        body: bytes,
        mapping: Mapping,
        matcher: Callable[[Mapping, ByNumber[int, Pattern | SchemaAutomaton]], ImageMatcher],
    ) -> Answer | DocumentError | None:
        if mapping.hash not in self._matchers:
            self._matchers[mapping.hash] = matcher(mapping, self._entries)
        try:
            numbers = self._matchers[mapping.hash].numbers(body)
        except DocumentError as error:
            return error
        except MappingError as error:
            return DocumentError(error.message, code=error.code)
        return None if numbers is None else np.asarray(sorted(numbers), dtype=np.int32)

    def _update(self) -> None:
        """Add new patterns to the index, or rebuild it if it has too many tombstones."""
        if self._indexed > 2 * len(self._position_of) + FEW:
            self._index = Index()
            self._position_of.clear()
            self._indexed = 0
            self._new = dict.fromkeys(self._entries)
        entries = [self._entries[number] for number in self._new]
        # The index assigns positions in this order.  A refusal would shift them, so routers check before.
        refused = self._index.add_all(enumerate(entries, self._indexed))
        if refused:
            self._index, self._indexed = Index(), 0
            self._position_of.clear()
            self._new = dict.fromkeys(self._entries)
            raise refused[0].error
        size = self._indexed + len(self._new)
        if size > len(self._number_at):
            self._number_at = np.concatenate([self._number_at, np.zeros(size, dtype=np.int32)])
        for position, number in enumerate(self._new, self._indexed):
            self._number_at[position] = number
            self._position_of[number] = position
        self._indexed = size
        self._new.clear()
        self._changed = False
        self._frozen_numbers = None
        self._answers.clear()
        self._matchers.clear()

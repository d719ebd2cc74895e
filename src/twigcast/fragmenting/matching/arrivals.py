"""The fragments of one document that have come: whether their headers fit together, and what is missing."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

from twigcast.errors import FragmentError
from twigcast.fragmenting.fragments import Fragment, Header, missing_numbers


@dataclass(frozen=True, slots=True)
class Arrival:
    """What is remembered of the header of a fragment that has come.

    ``opening`` is the codec and the digest of the document's opening, and ``fills`` are the holes that its
    runs fill.
    """

    number: int
    digest: str
    size: int
    opening: str
    is_last: bool
    fills: tuple[int | None, ...]

    @classmethod
    def of(cls, fragment: Fragment) -> Arrival:
        return cls._of(fragment.header, fragment.digest)

    @classmethod
    def _of(cls, header: Header, digest: str) -> Arrival:
        fills = tuple(run.fills for run in header.runs)
        opening = f"{header.opening.codec} {header.opening.digest}"
        return cls(header.number, digest, header.size, opening, header.is_last, fills)

    def agrees_with(self, header: Header) -> bool:
        """Whether this may be the arrival of a fragment with a header."""
        return self == self._of(header, self.digest)


class Arrivals:
    """The arrivals of one document; a fragment that contradicts those before it is refused."""

    def __init__(self, doc_id: str) -> None:
        self.size = 0
        """The bytes of all fragments that have come."""
        self.last: int | None = None
        """The number of fragments, if it is known."""
        self._doc_id = doc_id
        self._highest = 0
        self._by_number: dict[int, Arrival] = {}
        self._fillers: dict[int | None, int] = {}
        self._opening: str | None = None

    def __len__(self) -> int:
        return len(self._by_number)

    def __iter__(self) -> Iterator[Arrival]:
        """The arrivals in the order of their numbers."""
        return iter([self._by_number[number] for number in sorted(self._by_number)])

    def __contains__(self, number: int) -> bool:
        return number in self._by_number

    def __getitem__(self, number: int) -> Arrival:
        return self._by_number[number]

    def add(self, arrival: Arrival) -> bool:
        """Note an arrival; false if it is a duplicate.  Raises ``FragmentError``."""
        number = arrival.number
        known = self._by_number.get(number)
        if known is not None:
            if known.digest == arrival.digest:
                return False
            message = f"two fragments have the number {number} and differ"
            raise self.fault(message, "fragment-conflict", number)
        if self._opening not in (None, arrival.opening):
            raise self.fault("fragments have different openings", "fragment-inconsistent", number)
        if arrival.is_last and (self.last not in (None, number) or self._highest > number):
            raise self.fault("two fragments are the last one", "fragment-inconsistent", number)
        if self.last is not None and number > self.last:
            raise self.fault("a fragment comes after the last one", "fragment-inconsistent", number)
        for hole in arrival.fills:
            other = self._fillers.setdefault(hole, number)
            if other != number:
                message = f"two runs stand in one place: fragments {other} and {number}"
                raise self.fault(message, "fragments-overlap", number)
        self._opening = arrival.opening
        if arrival.is_last:
            self.last = number
        self._by_number[number] = arrival
        self._highest = max(self._highest, number)
        self.size += arrival.size
        return True

    @property
    def filled(self) -> Container[int | None]:
        """The holes that have been filled."""
        return self._fillers

    @property
    def are_all(self) -> bool:
        """Whether all fragments have come."""
        return self.last is not None and len(self._by_number) == self.last

    @property
    def has_gaps(self) -> bool:
        """Whether a fragment is known to be missing."""
        return len(self._by_number) < (self.last or self._highest)

    @property
    def missing(self) -> tuple[range, ...]:
        """The numbers of the fragments that have not come, as far as they are known, as ranges."""
        return missing_numbers(self._by_number, self.last or self._highest)

    def unjoined(self) -> FragmentError:
        """The error of fragments that have all come and still leave the document open."""
        return self.fault("the fragments do not make a whole document", "fragment-inconsistent", 0)

    def superfluous(self, number: int) -> FragmentError:
        """The error of a fragment without which the document is whole."""
        message = "the other fragments make a whole document without this one"
        return self.fault(message, "fragment-inconsistent", number)

    def fault(self, message: str, code: str, number: int) -> FragmentError:
        """An error of one of these fragments; the number is 0 if it is none in particular."""
        return FragmentError(message, code=code, doc_id=self._doc_id, number=number)

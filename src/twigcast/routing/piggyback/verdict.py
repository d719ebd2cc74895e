"""What a router concludes from annotations: which of its patterns match a document, and which do not.

One rule makes all of it sound.  An annotation claims that the document matches a pattern q, or does not:

    refuted   q does not match, and q covers the pattern       //a/b is absent      refutes  /r//a/b[c]
    proven    q matches, and the pattern covers q              /r/x/c is present    proves   /r/*/c
    open      anything else                                    the document must be parsed

The claims that a plan asks for are compared with the patterns once, when the plan is made; a document then
costs a few array operations for each kind of annotation.  Patterns are given by their numbers in a pool.
A number can be reused for another pattern while annotated documents are under way, so a conclusion counts
only if the serial of the number is still the one for which it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from twigcast.analysis import covers, proof_budget
from twigcast.pattern import NameTest, Pattern, render, render_name
from twigcast.routing.piggyback.annotations import AnnotationKind, Annotations
from twigcast.routing.piggyback.payloads import (
    OTHER,
    Bits,
    decode_bindings,
    decode_bits,
    decode_positions,
    decode_set,
)
from twigcast.routing.piggyback.plan import AnnotationPlan
from twigcast.routing.piggyback.questions.bindings import Binding, Pieces, bound, pieces
from twigcast.routing.piggyback.questions.data_patterns import (
    Chain,
    chain_pattern,
    closing_chains,
    demanded_chains,
)
from twigcast.routing.piggyback.questions.ranges import (
    RangeDemand,
    Ranges,
    demanded_ranges,
    range_text,
    refutes,
)
from twigcast.routing.piggyback.told_set import ToldSet

Numbers: TypeAlias = npt.NDArray[np.int32]
Serials: TypeAlias = npt.NDArray[np.int64]

OTHER_TEXT = render_name(NameTest(*OTHER))
NO_NUMBERS: Numbers = np.zeros(0, dtype=np.int32)
BINDINGS = 4096
"""How many bindings are cached with the rows that they prove, for each plan."""
MOST_MATRIX = 4 << 20
"""The bytes of the largest matrix of claims and patterns; larger relations are lists of pairs."""
DENSE = 4
"""A matrix is used if it has at most this many bytes for each pair."""
MOST_PLANS = 4
"""How many plans are kept for documents that are under way, if the neighbour does not follow the last one."""
TOLD = 2
"""How many states of the forwarded subscriptions are kept, for documents that are under way."""


class Known:
    """What is known about a document: for each number of a pool, whether its pattern matches, or does not."""

    __slots__ = ("no", "yes")

    def __init__(self, size: int) -> None:
        self.yes: Bits = np.zeros(size, dtype=np.bool_)
        self.no: Bits = np.zeros(size, dtype=np.bool_)

    @classmethod
    def of_answer(cls, answer: Numbers, unsure: Numbers, size: int) -> Known:
        """Everything: the numbers in ``answer`` match, those in ``unsure`` are open, the others do not."""
        known = cls(size)
        known.yes[answer] = True
        known.yes[unsure] = False
        np.logical_not(known.yes, out=known.no)
        known.no[unsure] = False
        return known

    def join(self, other: Known) -> None:
        """Add what is known otherwise."""
        self.yes |= other.yes
        self.no |= other.no

    def denied(self, numbers: Numbers) -> tuple[Bits, bool]:
        """Return which of the patterns do not match, and whether it is known of all of them."""
        no = self.no[numbers]
        return no, bool((no | self.yes[numbers]).all())


class Claim(NamedTuple):
    """One statement of the annotations, as text, with the numbers of the patterns that it decides."""

    kind: AnnotationKind
    text: str
    proven: Numbers
    refuted: Numbers


class ClaimTable:
    """Which patterns each answer to a plan decides.

    ``rows`` are the patterns to be decided, by number: rows of the router's table, and questions that other
    neighbours ask.  ``covered`` has, for each forwarded subscription, the numbers of the rows that it covers.
    ``serials`` are those of the pool, when ``entered`` patterns had been entered in it.
    """

    def __init__(
        self,
        plan: AnnotationPlan,
        rows: Mapping[int, Pattern],
        covered: Mapping[Pattern, Sequence[int]],
        serials: Serials,
        entered: int,
    ) -> None:
        self.plan = plan
        self.rows = rows
        self.covered = covered
        self.serials = serials
        self.entered = entered
        self.number_of = {pattern: number for number, pattern in rows.items()}
        self.absences = self._decided(
            [chain_pattern(chain) for chain in plan.absences],
            _occurrences(plan.absences, rows, known_chains),
        )
        closed = _occurrences(plan.positions, rows, known_closing)
        self._closed = [
            [number for at, number in closed if at == chain] for chain in range(len(plan.positions))
        ]
        self._simple = [
            [
                number
                for number in covered.get(wish.pattern, ())
                if number in rows and known_pieces(wish.pattern, rows[number]) is not None
            ]
            for wish in plan.wishes
        ]
        self._proven: dict[tuple[int, Binding], Numbers] = {}
        self.answers = np.array([self.number_of[each] for each in plan.answers], dtype=np.int32)
        self._ranged: list[tuple[int, tuple[RangeDemand, ...]]] = []
        if plan.ranges:
            self._ranged = [
                (number, known_demands(row)) for number, row in rows.items() if known_demands(row)
            ]

    def answers_all(self, numbers: Numbers, serials: Serials) -> bool:
        """Whether the answers to the plan decide all of these patterns; ``serials`` are the present ones."""
        if not np.isin(numbers, self.answers).all():
            return False
        return bool((serials[numbers] == self.serials[numbers]).all())

    def told(self, told: ToldSet) -> Decided:
        """Return what answers about the forwarded subscriptions decide, in the order of their ids."""
        patterns = [told.patterns[id] for id in told.ids]
        return self._decided(
            patterns,
            [(rank, number) for rank, each in enumerate(patterns) for number in self.covered.get(each, ())],
        )

    def proven(self, wish: int, binding: Binding) -> Numbers:
        """Return the rows that a binding proves: those that cover the forwarded pattern with its names."""
        found = self._proven.get((wish, binding))
        if found is None:
            pattern = bound(self.plan.wishes[wish].pattern, binding)
            rows = self._simple[wish]
            with proof_budget(len(rows)):
                numbers = [number for number in rows if covers(self.rows[number], pattern)]
            if len(self._proven) >= BINDINGS:
                self._proven.clear()
            found = self._proven[wish, binding] = np.array(numbers, dtype=np.int32)
        return found

    def refuted_by(self, ranges: Ranges) -> Numbers:
        """Return the rows that demand a value which the document does not have."""
        numbers = [
            number for number, demands in self._ranged if any(refutes(ranges, each) for each in demands)
        ]
        return np.array(numbers, dtype=np.int32)

    def switched_off(self, ends: Mapping[int, int], elements: int) -> float:
        """Return how much of the document need not be matched with rows that cannot match after an end tag.

        It is the sum of the shares of the document after the end tag, over these rows.  ``ends`` has the
        number of the end tag for each chain of the plan that occurs.
        """
        first: dict[int, int] = {}
        for chain, end in ends.items():
            for number in self._closed[chain]:
                first[number] = min(end, first.get(number, end))
        return sum(1.0 - min(end, elements) / elements for end in first.values()) if elements else 0.0

    def _decided(self, patterns: Sequence[Pattern], refuted: Iterable[tuple[int, int]]) -> Decided:
        proven = [(at, self.number_of[each]) for at, each in enumerate(patterns) if each in self.number_of]
        count = len(patterns)
        return Decided(count, Relation(refuted, count), Relation(proven, count), tuple(patterns))


class Relation:
    """Pairs of a claim and the number of a pattern that it decides.

    If there are many pairs they are a matrix of bits, with a line for each claim: to join 150 lines of 5,000
    bits takes 10 µs, to look up the 30,000 pairs that they stand for takes 150 µs.
    """

    __slots__ = ("_claims", "_lines", "_numbers")

    def __init__(self, pairs: Iterable[tuple[int, int]], count: int) -> None:
        together = np.array(list(pairs), dtype=np.int32).reshape(-1, 2)
        claims, numbers = together[:, 0], together[:, 1]
        distinct, column = np.unique(numbers, return_inverse=True)
        self._lines: npt.NDArray[np.uint8] | None = None
        if count * len(distinct) <= 8 * min(MOST_MATRIX, DENSE * len(numbers)):
            matrix = np.zeros((count, len(distinct)), dtype=np.bool_)
            matrix[claims, column] = True
            self._lines = np.packbits(matrix, axis=1)
            claims, numbers = NO_NUMBERS, distinct
        self._claims, self._numbers = claims.copy(), numbers.astype(np.int32)

    def numbers(self, holds: Bits) -> Numbers:
        """Return the numbers that a claim which holds decides; some may come twice."""
        if self._lines is None:
            return self._numbers[holds[self._claims]]
        bits = np.bitwise_or.reduce(self._lines[holds], axis=0)
        return self._numbers[np.unpackbits(bits, count=len(self._numbers)).view(np.bool_)]


@dataclass(frozen=True, slots=True)
class Decided:
    """What the answers to ``count`` questions decide: if the answer is no, and if it is yes."""

    count: int
    refuted: Relation
    proven: Relation
    patterns: tuple[Pattern, ...]

    def answers(self, payload: bytes, annotations: Annotations) -> tuple[Bits, Bits]:
        """Return which questions have the answer no, and which yes; raises ``ValueError``."""
        no = decode_bits(payload, self.count)
        return no, ~no if annotations.whole else np.zeros(self.count, dtype=np.bool_)


class ClaimReader:
    """Reads the annotations of one neighbour, by the plans that were sent to it.

    Links are first in, first out: once an annotation of the newest plan has arrived, older plans are dropped.
    """

    def __init__(self, told: ToldSet) -> None:
        self.told = told
        self._tables: dict[int, ClaimTable] = {}
        self._told: dict[int, Decided] = {}

    @property
    def newest(self) -> ClaimTable | None:
        """The table of the last plan; None if there is none."""
        return next(reversed(self._tables.values()), None)

    def add(self, table: ClaimTable) -> None:
        """Use the table of a new plan, and older ones until the neighbour follows the plan."""
        self._tables.pop(table.plan.epoch, None)
        self._tables[table.plan.epoch] = table
        if len(self._tables) > MOST_PLANS:
            del self._tables[next(iter(self._tables))]
        self._told.clear()

    def drop_older(self) -> None:
        """Forget all plans but the last: the neighbour follows it."""
        newest = self.newest
        if newest is not None and len(self._tables) > 1:
            self._tables = {newest.plan.epoch: newest}

    def table(self, annotations: Annotations) -> ClaimTable | None:
        """Return the table by which the annotations were made, if it is known."""
        return self._tables.get(annotations.epoch)

    def conclude(self, annotations: Annotations, serials: Serials, entered: int, known: Known) -> None:
        """Add to ``known`` what the annotations prove and refute; raises ``ValueError``."""

        def add(flags: Bits, numbers: Numbers, table: ClaimTable) -> None:
            if table.entered != entered:  # some of the numbers may stand for other patterns now
                numbers = numbers[serials[numbers] == table.serials[numbers]]
            flags[numbers] = True

        for table, decided, payload in self._answered(annotations):
            no, yes = decided.answers(payload, annotations)
            add(known.yes, decided.proven.numbers(yes), table)
            add(known.no, decided.refuted.numbers(no), table)
        found = self.table(annotations)
        if found is None:
            return
        answers = annotations.sections.get(AnnotationKind.ANSWERS)
        if answers is not None:
            yes = decode_bits(answers, len(found.answers))
            add(known.yes, found.answers[yes], found)
            add(known.no, found.answers[~yes], found)
        for wish, binding in self.bindings(annotations):
            add(known.yes, found.proven(wish, binding), found)
        ranges = self.ranges(annotations)
        if ranges is not None:
            add(known.no, found.refuted_by(ranges), found)
        self.positions(annotations)  # they decide nothing, but malformed ones are refused

    def answered(self, annotations: Annotations) -> Numbers | None:
        """Return the numbers of the patterns of the plan that match; None if that is not known."""
        table = self.table(annotations)
        payload = annotations.sections.get(AnnotationKind.ANSWERS)
        if table is None or payload is None:
            return None
        try:
            return table.answers[decode_set(payload, len(table.answers))]
        except ValueError:
            return None

    def claims(self, annotations: Annotations) -> Iterator[Claim]:
        """Yield the statements one by one, each with what it decides; raises ``ValueError``."""
        for table, decided, payload in self._answered(annotations):
            kind = (
                AnnotationKind.NEGATIVE_DATA
                if decided is table.absences
                else AnnotationKind.NEGATIVE_SUBSCRIPTIONS
            )
            no, yes = decided.answers(payload, annotations)
            for at in np.flatnonzero(no | yes).tolist():
                only = np.zeros(decided.count, dtype=np.bool_)
                only[at] = True
                text = f"{'does not match' if no[at] else 'matches'} {render(decided.patterns[at])}"
                yield Claim(
                    kind, text, decided.proven.numbers(only & yes), decided.refuted.numbers(only & no)
                )
        found = self.table(annotations)
        if found is None:
            return
        answers = annotations.sections.get(AnnotationKind.ANSWERS)
        if answers is not None:
            for number, holds in zip(
                found.answers.tolist(), decode_bits(answers, len(found.answers)), strict=True
            ):
                text = f"{'matches' if holds else 'does not match'} {render(found.rows[number])}"
                one = np.array([number], dtype=np.int32)
                yield Claim(
                    AnnotationKind.ANSWERS, text, *((one, NO_NUMBERS) if holds else (NO_NUMBERS, one))
                )
        for wish, binding in self.bindings(annotations):
            pattern = render(bound(found.plan.wishes[wish].pattern, binding))
            text = f"matches {pattern.replace(OTHER_TEXT, '*')}"
            yield Claim(AnnotationKind.POSITIVE_SUBSCRIPTIONS, text, found.proven(wish, binding), NO_NUMBERS)
        for chain, end in self.positions(annotations).items():
            text = f"{render(chain_pattern(found.plan.positions[chain]))} does not begin after end tag {end}"
            yield Claim(AnnotationKind.POSITIVE_DATA, text, NO_NUMBERS, NO_NUMBERS)
        ranges = self.ranges(annotations)
        if ranges is not None:
            for question, values in zip(ranges.questions, ranges.values, strict=True):
                if values is not None:
                    refuted = found.refuted_by(Ranges((question,), (values,)))
                    yield Claim(AnnotationKind.RANGES, range_text(question, values), NO_NUMBERS, refuted)

    def bindings(self, annotations: Annotations) -> Iterator[tuple[int, Binding]]:
        """Yield the wishes of the plan that were granted, each with a binding; raises ``ValueError``."""
        table = self.table(annotations)
        payload = annotations.sections.get(AnnotationKind.POSITIVE_SUBSCRIPTIONS)
        if table is not None and payload is not None:
            yield from decode_bindings(payload, table.plan, annotations.figures.depth)

    def positions(self, annotations: Annotations) -> dict[int, int]:
        """Return the end tags for the chains of the plan that occur; raises ``ValueError``."""
        table = self.table(annotations)
        payload = annotations.sections.get(AnnotationKind.POSITIVE_DATA)
        return decode_positions(payload, table.plan) if table is not None and payload is not None else {}

    def ranges(self, annotations: Annotations) -> Ranges | None:
        """Return the ranges of values, if there are any; raises ``ValueError``."""
        table = self.table(annotations)
        payload = annotations.sections.get(AnnotationKind.RANGES)
        return (
            Ranges.decode(payload, table.plan.ranges) if table is not None and payload is not None else None
        )

    def _answered(self, annotations: Annotations) -> Iterator[tuple[ClaimTable, Decided, bytes]]:
        """Yield the lists of questions that are answered yes or no."""
        newest = self.newest
        payload = annotations.sections.get(AnnotationKind.NEGATIVE_SUBSCRIPTIONS)
        if payload is not None and newest is not None:
            decided = self._told.get(annotations.told)
            if decided is None and annotations.told == self.told.fingerprint:
                decided = self._told[annotations.told] = newest.told(self.told)
                if len(self._told) > TOLD:
                    del self._told[next(iter(self._told))]
            if decided is not None:
                yield newest, decided, payload
        table = self.table(annotations)
        payload = annotations.sections.get(AnnotationKind.NEGATIVE_DATA)
        if payload is not None and table is not None:
            yield table, table.absences, payload


def _occurrences(
    chains: Sequence[Chain], rows: Mapping[int, Pattern], demanded: Callable[[Pattern], frozenset[Chain]]
) -> list[tuple[int, int]]:
    """Return the pairs of a chain, by its place in ``chains``, and the number of a row that demands it."""
    at = {chain: place for place, chain in enumerate(chains)}
    if not at:
        return []
    return [(at[chain], number) for number, row in rows.items() for chain in demanded(row) if chain in at]


@lru_cache(maxsize=1 << 16)
def known_chains(pattern: Pattern) -> frozenset[Chain]:
    """The chains that a pattern demands; cached, since a row is in the plans for several neighbours."""
    return demanded_chains(pattern)


@lru_cache(maxsize=1 << 16)
def known_closing(pattern: Pattern) -> frozenset[Chain]:
    """The chains that close a pattern, cached."""
    return closing_chains(pattern)


@lru_cache(maxsize=1 << 16)
def known_demands(pattern: Pattern) -> tuple[RangeDemand, ...]:
    """The ranges that a pattern demands, cached."""
    return demanded_ranges(pattern)


@lru_cache(maxsize=1 << 16)
def known_pieces(told: Pattern, row: Pattern) -> Pieces | None:
    """What makes a row of a forwarded pattern, cached."""
    return pieces(told, row)

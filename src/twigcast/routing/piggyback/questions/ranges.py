"""Value ranges of a document: which values its attributes and leaf elements have, as a few bytes.

A row such as ``//item[@price < 3]/name`` demands that some ``price`` of an ``item`` is below 3.  If the
ranges of a document say that all of them are between 4 and 70, the row is refuted without the body:

    pattern ── demanded_ranges ──► RangeDemand(item/@price, <, 3)
                                        │ refutes
    document ── measure ──► Ranges      ▼
                            item/@price  NumberBounds(4, 70)     → refuted
                            item/note    ValueSet('new', 'old')
                            item/text    None                    → unknown, refutes nothing

Only comparisons that every match must satisfy are demands: ``< <= > >=`` and ``=`` with a number, and ``=``
with a string.  A value that is not a number satisfies ``@p != 3`` and ``not(@p < 3)``, so neither of these
demands anything of the numbers.  Order comparisons with dates are general expressions, which demand nothing.

Invariant: if ``refutes(ranges, demand)``, no document with these ranges matches a pattern with that demand.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import TypeAlias

from twigcast.document import Document, Element, Text, descendants, elements, string_value
from twigcast.pattern import (
    AttributeTail,
    Comparison,
    NameTest,
    Onward,
    Path,
    Pattern,
    Predicate,
    compare,
    demands_a_node,
    number,
    render_name,
)
from twigcast.system import read_varint, varint

MOST_TEXTS = 8
"""The greatest number of distinct values that are sent as a set."""

MOST_TEXT_BYTES = 64
"""The greatest total length of the values of a set, in UTF-8."""

FullName: TypeAlias = tuple[str, str]
"""A namespace, ``""`` for none, and a local name."""


@dataclass(frozen=True, slots=True)
class RangeQuestion:
    """Which values does this attribute of this element have, or without an attribute, the element itself?

    The values of an element are known only in documents where no such element has child elements.
    """

    element: FullName
    attribute: FullName | None = None


@dataclass(frozen=True, slots=True)
class RangeDemand:
    """A comparison that some value must satisfy: ``< <= > >= =`` with a number, or ``=`` with a string."""

    question: RangeQuestion
    operator: str
    value: float | str


@dataclass(frozen=True, slots=True)
class ValueSet:
    """All values, distinct and sorted; none at all if the attribute or element does not occur."""

    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NumberBounds:
    """The least and the greatest number among the values, and how many values are not numbers.

    If there is no number, ``least`` is infinity and ``greatest`` is minus infinity.
    """

    least: float
    greatest: float
    not_numbers: int = 0


ValueRange: TypeAlias = ValueSet | NumberBounds | None
"""What is known about the values of one question; ``None``: nothing."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """The answers to the range questions of a plan, in their order."""

    questions: tuple[RangeQuestion, ...]
    values: tuple[ValueRange, ...]
    _known: dict[RangeQuestion, ValueRange] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", dict(zip(self.questions, self.values, strict=True)))

    def of(self, question: RangeQuestion) -> ValueRange:
        """What is known about the values of ``question``."""
        return self._known.get(question)

    def answering(self, questions: Sequence[RangeQuestion]) -> Ranges:
        """The same knowledge as answers to the questions of another plan."""
        return Ranges(tuple(questions), tuple(self.of(question) for question in questions))

    def encode(self) -> bytes:
        """The answers as bytes, without the questions, which both ends of a link know.

        For each question one byte for the kind, or the size of the set plus 1; then the texts, each behind
        its length, or the bounds.  A bound with few decimal digits takes 2 to 5 bytes, any other one 9.
        """
        return b"".join(_encoded(each) for each in self.values)

    @classmethod
    def decode(cls, data: bytes, questions: Sequence[RangeQuestion]) -> Ranges:
        """The ranges that ``encode`` wrote for these questions; raises ``ValueError`` for any other bytes."""
        reader = _Reader(data)
        values = tuple(_decoded(reader) for _ in questions)
        if reader.at != len(data):
            raise ValueError(f"{len(data) - reader.at} bytes left over behind the ranges")
        return cls(tuple(questions), values)


def refutes(ranges: Ranges, demand: RangeDemand) -> bool:
    """Whether no value in the document satisfies the demand."""
    wanted = demand.value
    match ranges.of(demand.question):
        case None:
            return False
        case ValueSet(texts):
            return not any(_satisfies(text, demand.operator, wanted) for text in texts)
        case NumberBounds(least, greatest, not_numbers):
            if isinstance(wanted, str):  # a text that equals this string spells the same number, or none
                wanted = number(wanted)
                if math.isnan(wanted):
                    return not not_numbers
            if demand.operator == "=":
                return not least <= wanted <= greatest
            nearest = least if demand.operator in ("<", "<=") else greatest
            return not compare(nearest, demand.operator, wanted)


def _satisfies(text: str, operator: str, wanted: float | str) -> bool:
    return text == wanted if isinstance(wanted, str) else compare(number(text), operator, wanted)


# What a pattern demands


def demanded_ranges(pattern: Pattern) -> tuple[RangeDemand, ...]:
    """The comparisons that hold for some value in every document that ``pattern`` matches.

    A comparison is demanded if it stands in a conjunction, at any depth, on a path that must select a node;
    in a union, if every alternative demands the same.  Elements and attributes must be fully named.
    """
    return tuple(_common(pattern.alternatives, None))


_Demands: TypeAlias = dict[RangeDemand, None]  # a set in the order of the pattern


def _common(
    paths: Iterable[Path], context: NameTest | None, comparison: Comparison | None = None
) -> _Demands:
    """The demands that are the same for all paths, from an element with this name."""
    first, *others = [_along(path, context, comparison) for path in paths]
    return {demand: None for demand in first if all(demand in each for each in others)}


def _along(path: Path, context: NameTest | None, comparison: Comparison | None) -> _Demands:
    """The demands if ``path`` selects a node, and this node satisfies the comparison."""
    found = _conjoined(path.filters, context)
    for step in path.steps:
        context = step.test
        found |= _conjoined(step.predicates, context)
    if comparison is not None:
        question = _question(path, context)
        if question is not None and _is_range(comparison):
            found[RangeDemand(question, comparison.operator, comparison.value)] = None
    return found


def _conjoined(predicates: Iterable[Predicate], context: NameTest | None) -> _Demands:
    found: _Demands = {}
    for predicate in predicates:
        if demands_a_node(predicate):
            found |= _common(
                predicate.paths, context, predicate if isinstance(predicate, Comparison) else None
            )
    return found


def _question(path: Path, last: NameTest | None) -> RangeQuestion | None:
    """The question about the nodes of a path whose last element has this name; ``None`` if there is none."""
    element = _full_name(last)
    if element is None or isinstance(path.tail, Onward):
        return None
    if not isinstance(path.tail, AttributeTail):
        return RangeQuestion(element)
    attribute = _full_name(path.tail.test)
    return None if attribute is None else RangeQuestion(element, attribute)


def _full_name(test: NameTest | None) -> FullName | None:
    if test is None or test.namespace is None or test.local is None:
        return None
    return test.namespace, test.local


def _is_range(comparison: Comparison) -> bool:
    if isinstance(comparison.value, str):
        return comparison.operator == "="
    return comparison.operator != "!="


# What a document has


def measure(document: Document, questions: Sequence[RangeQuestion]) -> Ranges:
    """Answer the questions for one document.

    The values of an attribute are those of all such attributes on such elements.  The values of an element
    are its texts; where comments divide one, its pieces too, which ``text()`` selects.
    Cost: one pass over the document, with a look at each attribute of the elements that are asked for.
    """
    collected = [_Collected() for _ in questions]
    asked: dict[FullName, list[tuple[FullName | None, _Collected]]] = {}
    for question, values in zip(questions, collected, strict=True):
        asked.setdefault(question.element, []).append((question.attribute, values))
    for element in descendants(document):
        for attribute, values in asked.get((element.namespace, element.local), ()):
            if attribute is None:
                _collect_text(element, values)
            else:
                for each in element.attributes:
                    if (each.namespace, each.local) == attribute:
                        values.add(each.value)
    return Ranges(tuple(questions), tuple(values.range() for values in collected))


def _collect_text(element: Element, values: _Collected) -> None:
    if values.unknown or next(elements(element), None) is not None:
        values.unknown = True
        return
    values.add(string_value(element))
    pieces = [child.value for child in element.children if isinstance(child, Text)]
    if len(pieces) > 1:
        for piece in pieces:
            values.add(piece)


@dataclass(slots=True)
class _Collected:
    """The values of one question so far; ``texts`` is ``None`` when they are too many for a set."""

    texts: set[str] | None = field(default_factory=set)
    text_bytes: int = 0
    least: float = math.inf
    greatest: float = -math.inf
    not_numbers: int = 0
    unknown: bool = False

    def add(self, text: str) -> None:
        value = number(text)
        if math.isnan(value):
            self.not_numbers += 1
        else:
            self.least, self.greatest = min(self.least, value), max(self.greatest, value)
        if self.texts is not None and text not in self.texts:
            self.texts.add(text)
            self.text_bytes += len(text.encode())
            if len(self.texts) > MOST_TEXTS or self.text_bytes > MOST_TEXT_BYTES:
                self.texts = None

    def range(self) -> ValueRange:
        if self.unknown:
            return None
        if self.texts is not None:
            return ValueSet(tuple(sorted(self.texts)))
        return NumberBounds(self.least, self.greatest, self.not_numbers)


def range_text(question: RangeQuestion, values: ValueSet | NumberBounds) -> str:
    """Say in words what is known about the values of a question."""
    what = render_name(NameTest(*question.element))
    if question.attribute is not None:
        what += f"/@{render_name(NameTest(*question.attribute))}"
    match values:
        case ValueSet(()):
            return f"there is no {what}"
        case ValueSet(texts):
            return f"{what} is one of {', '.join(map(repr, texts))}"
        case NumberBounds(least, greatest, not_numbers):
            if least > greatest:
                return f"no {what} is a number"
            others = f", or no number ({not_numbers} times)" if not_numbers else ""
            return f"{what} is between {least:g} and {greatest:g}{others}"


# Bytes

_UNKNOWN = 0
_SETS = range(1, MOST_TEXTS + 2)  # 1 is the empty set
_BOUNDS = 10
_NO_NUMBERS = 11
_DIGITS = 22  # powers of ten up to this one are exact in binary
_MANTISSA = 1 << 53
_BINARY = 255
_LONGEST = 9  # bytes of an integer


def _encoded(values: ValueRange) -> bytes:
    match values:
        case None:
            return bytes([_UNKNOWN])
        case ValueSet(texts):
            parts = [text.encode() for text in texts]
            return bytes([_SETS[len(parts)]]) + b"".join(varint(len(part)) + part for part in parts)
        case NumberBounds(least, greatest, not_numbers) if least <= greatest:
            return bytes([_BOUNDS]) + varint(not_numbers) + _encoded_number(least) + _encoded_number(greatest)
        case NumberBounds(_, _, not_numbers):
            return bytes([_NO_NUMBERS]) + varint(not_numbers)


def _decoded(reader: _Reader) -> ValueRange:
    kind = reader.byte()
    if kind == _UNKNOWN:
        return None
    if kind in _SETS:
        return _decoded_set([reader.take(reader.varint()) for _ in range(kind - 1)])
    if kind == _NO_NUMBERS:
        return NumberBounds(math.inf, -math.inf, reader.varint())
    if kind != _BOUNDS:
        raise ValueError(f"{kind} is no kind of range")
    not_numbers, least, greatest = reader.varint(), _decoded_number(reader), _decoded_number(reader)
    if not least <= greatest:
        raise ValueError("the least number is above the greatest")
    return NumberBounds(least, greatest, not_numbers)


def _decoded_set(parts: list[bytes]) -> ValueSet:
    texts = tuple(part.decode() for part in parts)  # UnicodeDecodeError is a ValueError
    if any(one >= other for one, other in pairwise(texts)):
        raise ValueError("the values of a set are not in ascending order")
    if sum(map(len, parts)) > MOST_TEXT_BYTES:
        raise ValueError("the values of a set are too long")
    return ValueSet(texts)


def _encoded_number(value: float) -> bytes:
    """A number as decimal digits and their scale: 12.99 is 1299 and 2; if they are too many, in binary."""
    if math.isfinite(value):
        sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
        assert isinstance(exponent, int)
        mantissa = int("".join(map(str, digits))) * 10 ** max(exponent, 0)
        if mantissa < _MANTISSA and -exponent <= _DIGITS:
            return bytes([max(-exponent, 0)]) + varint(mantissa << 1 | sign)
    return bytes([_BINARY]) + struct.pack("<d", value)


def _decoded_number(reader: _Reader) -> float:
    scale = reader.byte()
    if scale == _BINARY:
        (value,) = struct.unpack("<d", reader.take(8))
        return float(value)
    mantissa, sign = divmod(reader.varint(), 2)
    if scale > _DIGITS or mantissa >= _MANTISSA:
        raise ValueError("a number has too many digits")
    return float(-mantissa if sign else mantissa) / float(10**scale)  # both exact, so correctly rounded


@dataclass(slots=True)
class _Reader:
    """Reads bytes from front to back; raises ``ValueError`` at the end."""

    data: bytes
    at: int = 0

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise ValueError("the ranges end too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def byte(self) -> int:
        return self.take(1)[0]

    def varint(self) -> int:
        start = self.at
        try:
            value, self.at = read_varint(self.data, start)
        except ValueError:
            is_cut_off = len(self.data) - start < _LONGEST
            what = "the ranges end too early" if is_cut_off else "an integer is too long"
            raise ValueError(what) from None
        if self.at - start > _LONGEST:
            raise ValueError("an integer is too long")
        return value

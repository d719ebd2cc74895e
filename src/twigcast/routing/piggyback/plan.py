"""An annotation plan: what a router asks its neighbour to say about each document that it sends.

    R_i  ──(document, annotations)──►  R_j
         ◄──────────plan──────────────          R_j knows which of its rows each answer decides

A plan is named by its epoch, a hash of its content.  An annotation refers to a question by its position in
the plan of its epoch, so both ends always mean the same question, whatever messages are under way.
The subscriptions that R_j has forwarded need no plan: R_i has them in its table (``told_set``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

from twigcast.document import Name
from twigcast.errors import RoutingError, TwigcastError
from twigcast.pattern import Pattern, parse, render
from twigcast.routing.piggyback.questions.bindings import wildcards
from twigcast.routing.piggyback.questions.data_patterns import Chain, chain_pattern
from twigcast.routing.piggyback.questions.ranges import RangeQuestion


@dataclass(frozen=True, slots=True)
class Wish:
    """Asks how some wildcards of a forwarded pattern are bound, because that can prove rows."""

    pattern: Pattern
    numbers: tuple[int, ...]
    """The numbers of the wildcards; see ``bindings``."""
    rows: int
    """How many rows a binding of them can prove."""


@dataclass(frozen=True)  # without slots: the epoch is cached in the instance
class AnnotationPlan:
    """The questions of one router to one neighbour."""

    absences: tuple[Chain, ...] = ()
    """Negative data: does the document lack this chain of names?"""
    wishes: tuple[Wish, ...] = ()
    """Positive subscriptions."""
    positions: tuple[Chain, ...] = ()
    """Positive data: after which end tag does this chain of names not begin any more?"""
    answers: tuple[Pattern, ...] = ()
    """Answers: does the document match this pattern?"""
    ranges: tuple[RangeQuestion, ...] = ()
    names: tuple[Name, ...] = ()
    """The names that the rows mention; in bindings, any other name is as good as any other."""
    saving: float = field(default=0.0, compare=False)
    """The seconds that annotations save behind this link for each document; negative if they cost time."""

    def check(self) -> None:
        """Refuse a plan with a question that no router asks; raises ``RoutingError``.

        A router holds the questions beside its rows: a name that no index accepts would stop all documents.
        Patterns are checked where they come from, since their text has to be parsed for that.
        """
        for chain in (*self.absences, *self.positions):
            if not chain:
                raise _refused("a chain has no names")
        for name in set(self._all_names()):
            if not _is_name(name):
                raise _refused(f"{name!r} is no name")
        for wish in self.wishes:
            most = len(wildcards(wish.pattern))
            if list(wish.numbers) != sorted(set(wish.numbers) & set(range(1, most + 1))):
                raise _refused(f"{render(wish.pattern)} has no wildcards {wish.numbers}")
        if not math.isfinite(self.saving):
            raise _refused(f"{self.saving} is no time that is saved or lost")

    def _all_names(self) -> Iterator[Name]:
        for chain in (*self.absences, *self.positions, self.names):
            yield from chain
        for question in self.ranges:
            yield question.element
            if question.attribute is not None:
                yield question.attribute

    @cached_property
    def epoch(self) -> int:
        """A number of 64 bits that names the questions; never 0."""
        fields = self.to_json()
        del fields["saving"]
        content = json.dumps(fields, separators=(",", ":")).encode()
        return int.from_bytes(blake2b(content, digest_size=8).digest(), "little") or 1

    def encode(self) -> bytes:
        """Return the plan as bytes."""
        return json.dumps(self.to_json(), separators=(",", ":"), ensure_ascii=False).encode()

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain lists and strings."""
        return {
            "absences": [list(map(list, chain)) for chain in self.absences],
            "wishes": [[render(wish.pattern), list(wish.numbers), wish.rows] for wish in self.wishes],
            "positions": [list(map(list, chain)) for chain in self.positions],
            "answers": [render(pattern) for pattern in self.answers],
            "ranges": [[each.element, each.attribute] for each in self.ranges],
            "names": list(map(list, self.names)),
            "saving": self.saving,
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> AnnotationPlan:
        """Read the output of ``to_json``; raises ``RoutingError``."""
        try:
            plan = cls(
                tuple(map(_chain, fields["absences"])),
                tuple(
                    Wish(parse(text), tuple(map(int, numbers)), int(rows))
                    for text, numbers, rows in fields["wishes"]
                ),
                tuple(map(_chain, fields["positions"])),
                tuple(map(parse, fields["answers"])),
                tuple(
                    RangeQuestion(_name(element), None if attribute is None else _name(attribute))
                    for element, attribute in fields["ranges"]
                ),
                _chain(fields["names"]),
                float(fields["saving"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError, TwigcastError) as error:
            raise _refused(f"{type(error).__name__}: {error}") from error
        plan.check()
        return plan

    @classmethod
    def decode(cls, data: bytes) -> AnnotationPlan:
        """Read the output of ``encode``; raises ``RoutingError``."""
        try:
            fields = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise _refused(str(error)) from error
        return cls.from_json(fields)


@dataclass(slots=True)
class PlanState:
    """When the last plan for a neighbour was made: after how many changes, and with how large a sample."""

    row_changes: int = -1
    sampled: int = 0
    missed: int = 0
    """The documents in a row that were not annotated by the last plan."""
    parsed: int = 0
    """The documents in a row that annotations did not decide."""
    has_new_questions: bool = False
    """Whether another neighbour has asked something since then."""


def _chain(names: list[list[str]]) -> Chain:
    return tuple(map(_name, names))


def _name(name: list[str]) -> Name:
    namespace, local = name
    return namespace, local


def _is_name(name: Name) -> bool:
    """Whether a pattern with this name has a text that means the same."""
    if not all(isinstance(part, str) for part in name):
        return False
    pattern = chain_pattern((name,))
    try:
        return parse(render(pattern)) == pattern
    except (ValueError, TwigcastError):
        return False


def _refused(why: str) -> RoutingError:
    return RoutingError(f"an annotation plan cannot be used: {why}", code="annotations")

"""The three rules of merging: patterns that differ little have a merger that covers them all.

    one difference     /a/*/c/d   /a/*/c/e      /a/*/c/*      other names become *
    two differences    /a/c/*/*   /a//c/*/c     /a//c/*/*     and one other axis becomes //
    with descendant    /a/b/x/d   /a/c/y/d      /a//d         other steps in the middle become //

A pattern is below each merger that a rule can make of it; patterns can be merged if they are below the same
one.  The rules only drop what may differ, so a merger covers its parts whatever the schema.  Steps are alike
only if their predicates are.  A pattern with alternatives is merged with none.

Cost: a pattern has some five mergers for each step; as tuples of numbers they are made and compared fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from twigcast.pattern import ANY, Axis, Path, Pattern, Position, Step, render_absolute

Key: TypeAlias = tuple[int, ...]
"""A pattern as numbers: that of what is beside its steps, and those of its steps."""

Order: TypeAlias = tuple[int, int, str, Key]
"""Where a merger stands in the fixed order: after all that can be below it."""

DROPPED = 2
"""The most steps that a merger leaves out for ``//``: its parts are to be alike for the most part."""


class MergeRules:
    """Gives numbers to steps, so that patterns are short tuples, and applies the rules to those."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._numbers: dict[Step, int] = {}
        self._texts: list[str] = []
        self._any: list[int] = []
        self._below: list[int] = []
        self._frames: list[Path] = []
        self._frame_numbers: dict[Path, int] = {}
        self._fixed: list[Pattern] = []
        self._fixed_numbers: dict[Pattern, int] = {}

    def key(self, pattern: Pattern) -> Key:
        """Return the numbers of a pattern; one that is merged with none has a single number below zero."""
        path = pattern.alternatives[0]
        if len(pattern.alternatives) > 1 or not path.steps:
            number = self._fixed_numbers.setdefault(pattern, len(self._fixed))
            if number == len(self._fixed):
                self._fixed.append(pattern)
            return (-1 - number,)
        frame = Path((), path.tail, path.filters)
        number = self._frame_numbers.setdefault(frame, len(self._frames))
        if number == len(self._frames):
            self._frames.append(frame)
        return (number, *map(self._number, path.steps))

    def pattern(self, key: Key) -> Pattern:
        """Return the pattern with these numbers."""
        if key[0] < 0:
            return self._fixed[-1 - key[0]]
        steps = tuple([self.steps[number] for number in key[1:]])
        return Pattern((replace(self._frames[key[0]], steps=steps),))

    def order(self, key: Key) -> Order:
        """Return where a pattern stands in the fixed order: after longer ones, and after less vague ones."""
        if key[0] < 0 or self._frames[key[0]] != _PLAIN:
            text = str(self.pattern(key))
        else:
            text = "".join([self._texts[number] for number in key[1:]])
        vague = 0
        for number in key[1:]:
            vague += (self._any[number] == number) + (self._below[number] == number)
        return -len(key), vague, text, key

    def is_linear(self, key: Key) -> bool:
        """Whether a pattern is nothing but steps without predicates."""
        return self._frames[key[0]] == _PLAIN and not any(self.steps[n].predicates for n in key[1:])

    def generalised(self, number: int) -> int:
        """Return the number of the step with any name in place of its own."""
        return self._any[number]

    def above(self, key: Key) -> Iterator[Key]:
        """Yield the mergers that the rules can make of a pattern, with whatever other patterns.

        One name becomes any; one axis becomes ``//``, and a name beside it any; up to ``DROPPED`` steps
        without predicates are left out for ``//``.
        """
        last = len(key) - 1
        for place in range(1, last + 1):
            number = key[place]
            if self._any[number] != number:
                yield (*key[:place], self._any[number], *key[place + 1 :])
            below = self._below[number]
            if below != number:
                deeper = (*key[:place], below, *key[place + 1 :])
                yield deeper
                for near in range(max(place - 1, 1), min(place + 1, last) + 1):
                    vaguer = self._any[deeper[near]]
                    if vaguer != deeper[near]:
                        yield (*deeper[:near], vaguer, *deeper[near + 1 :])
            for after in range(place + 1, min(place + DROPPED, last) + 1):
                if self.steps[key[after - 1]].predicates:
                    break
                yield (*key[:place], self._below[key[after]], *key[after + 1 :])

    def _number(self, step: Step) -> int:
        number = self._numbers.get(step)
        if number is None:
            number = self._numbers[step] = len(self.steps)
            self.steps.append(step)
            self._texts.append(render_absolute(Path((step,))))
            self._any.append(number)
            self._below.append(number)
            if not any(isinstance(each, Position) and each.test != ANY for each in step.predicates):
                self._any[number] = self._number(replace(step, test=ANY))
            self._below[number] = self._number(replace(step, axis=Axis.DESCENDANT))
        return number


_PLAIN = Path(())

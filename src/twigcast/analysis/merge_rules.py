"""The three merge rules: patterns that differ in a few steps have a merger that covers all of them.

    one difference     /a/*/c/d   /a/*/c/e      /a/*/c/*      the names that differ become *
    two differences    /a/c/*/*   /a//c/*/c     /a//c/*/*     and one axis that differs becomes //
    with descendant    /a/b/x/d   /a/c/y/d      /a//d         the steps in the middle that differ become //

The mergers of a pattern are ordered above it; patterns can be merged if they have a merger in common.  A rule
only generalises steps or leaves them out, so a merger covers its parts under any schema.  Two steps are equal
only if their predicates are.  A pattern with several alternatives is never merged.

Cost: a pattern has about five mergers for each step; as tuples of numbers they are cheap to make and compare.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from twigcast.pattern import ANY, Axis, Path, Pattern, Step, counted_names, render_absolute

Key: TypeAlias = tuple[int, ...]
"""A pattern as numbers: the number of its frame (tail and filters), then the numbers of its steps."""

Order: TypeAlias = tuple[int, int, str, Key]
"""A sort key for patterns, by which a merger comes after all patterns that it can be made of."""

DROPPED = 2
"""The largest number of steps that a merger replaces by ``//``, so that its parts stay similar."""


class MergeRules:
    """Applies the merge rules to patterns as tuples of numbers; each distinct step gets a number."""

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
        """Return the key of a pattern; that of a pattern that is never merged is a single negative number."""
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
        """Return the pattern of a key."""
        if key[0] < 0:
            return self._fixed[-1 - key[0]]
        steps = tuple([self.steps[number] for number in key[1:]])
        return Pattern((replace(self._frames[key[0]], steps=steps),))

    def order(self, key: Key) -> Order:
        """Return the sort key of a pattern: longer patterns come first, then less general ones."""
        if key[0] < 0 or self._frames[key[0]] != _PLAIN:
            text = str(self.pattern(key))
        else:
            text = "".join([self._texts[number] for number in key[1:]])
        generality = 0
        for number in key[1:]:
            generality += (self._any[number] == number) + (self._below[number] == number)
        return -len(key), generality, text, key

    def is_linear(self, key: Key) -> bool:
        """Whether a pattern consists only of steps without predicates."""
        return self._frames[key[0]] == _PLAIN and not any(self.steps[n].predicates for n in key[1:])

    def generalised(self, number: int) -> int:
        """Return the number of the same step with ``*`` as its name test."""
        return self._any[number]

    def above(self, key: Key) -> Iterator[Key]:
        """Yield all mergers that the rules can make of a pattern and any other patterns.

        One name becomes ``*``; or one axis becomes ``//``, and perhaps a name next to it ``*``; or up to
        ``DROPPED`` steps without predicates are replaced by ``//``.
        """
        last = len(key) - 1
        for at in range(1, last + 1):
            number = key[at]
            if self._any[number] != number:
                yield (*key[:at], self._any[number], *key[at + 1 :])
            below = self._below[number]
            if below != number:
                deeper = (*key[:at], below, *key[at + 1 :])
                yield deeper
                for near in range(max(at - 1, 1), min(at + 1, last) + 1):
                    wider = self._any[deeper[near]]
                    if wider != deeper[near]:
                        yield (*deeper[:near], wider, *deeper[near + 1 :])
            for after in range(at + 1, min(at + DROPPED, last) + 1):
                if self.steps[key[after - 1]].predicates:
                    break
                yield (*key[:at], self._below[key[after]], *key[after + 1 :])

    def _number(self, step: Step) -> int:
        number = self._numbers.get(step)
        if number is None:
            number = self._numbers[step] = len(self.steps)
            self.steps.append(step)
            self._texts.append(render_absolute(Path((step,))))
            self._any.append(number)
            self._below.append(number)
            if all(counted_names(each) in (None, ANY) for each in step.predicates):
                self._any[number] = self._number(replace(step, test=ANY))
            self._below[number] = self._number(replace(step, axis=Axis.DESCENDANT))
        return number


_PLAIN = Path(())

"""Decides covering of paths without predicates, by running the automaton of one path on the other.

The automaton of the path ``/a//*/b`` has a state for each number of steps matched; a set of states is a mask:

    0 ──a──► 1 ──*──► 2 ──b──► 3         state 1 has a loop for any name, since the next step is ``//``

A path p covers a path q if p matches every chain of elements that q matches.  The chains that are hardest for
p are those in which each ``*`` of q, and each element in the gaps of its ``//``, has a name that p does not
mention.  So only these are run, for all lengths of the gaps at once: after each step of q there is a set of
masks, one for each distinguishable choice of gap lengths, and p must accept from every one of them.
A mask that is a superset of another is dropped: whatever is accepted from the smaller mask is accepted from
the larger one.

The answer is exact for unions of paths of ``/``, ``//``, ``*`` and names.
Cost: a few integer operations for each step of q; for each gap at most as many lengths matter as p has steps.
A homomorphism of steps is simpler, but misses that ``/a/*//b`` and ``/a//*/b`` are equivalent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from twigcast.pattern import ANY, Axis, NameTest, Path

Chain: TypeAlias = tuple[tuple[bool, NameTest], ...]
"""The steps of a path without predicates: for each, whether its axis is descendant, and its name test."""

MOST_MASKS = 256
"""The answer is "not covered" if a run needs more masks than this; no real path comes near."""


def chain(path: Path) -> Chain:
    """Return the steps of ``path`` without their predicates."""
    return tuple([(step.axis is Axis.DESCENDANT, step.test) for step in path.steps])


class ChainAutomaton:
    """The automaton of a union of chains; its sets of states (``start``, ``accept`` …) are masks."""

    __slots__ = ("accept", "admits", "partial", "start", "stay", "wild")

    def __init__(self, chains: Iterable[Chain]) -> None:
        self.start = self.stay = self.accept = self.wild = 0
        self.admits: dict[NameTest, int] = {}
        bit = 1
        for steps in chains:
            self.start |= bit
            for deep, test in steps:
                if deep:
                    self.stay |= bit
                if test == ANY:
                    self.wild |= bit
                else:
                    self.admits[test] = self.admits.get(test, 0) | bit
                bit <<= 1
            self.accept |= bit
            bit <<= 1
        self.partial = [test for test in self.admits if test[0] is None or test[1] is None]
        exact = dict(self.admits)
        for test in self.admits:
            self.admits[test] |= self.wild
            for other in self.partial:
                if other.includes(test):
                    self.admits[test] |= exact[other]

    def covers(self, steps: Sequence[tuple[bool, NameTest]]) -> bool:
        """Whether the chains together match every document that the chain ``steps`` matches."""
        stay, accept, wild, admits = self.stay, self.accept, self.wild, self.admits
        mask = self.start
        if mask & accept:
            return True
        masks = None
        for deep, test in steps:
            moving = admits.get(test, wild)
            if self.partial and test not in admits:
                moving = self._moving(test)
            if masks is None:
                if not deep:
                    mask = ((mask & moving) << 1) | (mask & stay)
                    if mask & accept:
                        return True
                    if not mask:
                        return False
                    continue
                masks = {mask}
            if deep:
                masks = self._widened(masks)
            after = set()
            for mask in masks:
                moved = ((mask & moving) << 1) | (mask & stay)
                if not moved & accept:
                    if not moved:
                        return False
                    after.add(moved)
            if not after:
                return True
            if len(after) == 1:
                mask = after.pop()
                masks = None
            else:
                masks = _least(after)
                if len(masks) > MOST_MASKS:
                    return False
        return False

    def _moving(self, test: NameTest) -> int:
        moving = self.wild
        for partial in self.partial:
            if partial.includes(test):
                moving |= self.admits[partial]
        return moving

    def _widened(self, masks: set[int]) -> set[int]:
        """Return the masks after any number of elements in a gap, without those that accept there."""
        stay, wild, accept = self.stay, self.wild, self.accept
        widened = set(masks)
        for mask in masks:
            while True:
                mask = ((mask & wild) << 1) | (mask & stay)
                if mask & accept or mask in widened:
                    break
                widened.add(mask)
        return widened


def _least(masks: set[int]) -> set[int]:
    """Return the masks that are not supersets of another one."""
    least: list[int] = []
    for mask in sorted(masks, key=int.bit_count):
        if not any(other & mask == other for other in least):
            least.append(mask)
    return set(least)

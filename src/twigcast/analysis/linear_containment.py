"""Paths without predicates as automata, and whether one path holds wherever another does.

The path ``/a//*/b`` is a row of states, one for each number of steps matched, each a bit:

    0 ──a──► 1 ──*──► 2 ──b──► 3         state 1 stays on any name, since the step after it is ``//``

A path p covers a path q if p matches every chain of elements that q describes.  The chains in which each
``*`` of q and everything in the gaps of its ``//`` bear a name of their own are the hardest for p, so only
those are run, for all lengths of gaps at once: after each step of q there are as many masks of states as the
gaps can make a difference, and p must be matched in the end from each of them.
A mask that includes another is dropped, since what is matched from the smaller is from the larger.

Exact for unions of paths of ``/``, ``//``, ``*`` and names.
Cost: a few operations on integers for each step of q; a gap has at most as many lengths that matter as p has
steps.  A homomorphism of steps is simpler and misses that ``/a/*//b`` and ``/a//*/b`` are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from twigcast.pattern import ANY, Axis, NameTest, Path

Chain: TypeAlias = tuple[tuple[bool, NameTest], ...]
"""The steps of a path without predicates: whether each is a descendant, and its name test."""

MOST_MASKS = 256
"""Beyond this many masks a path is taken not to be covered; no real one comes near."""


def chain(path: Path) -> Chain:
    """The steps of ``path`` without their predicates."""
    return tuple([(step.axis is Axis.DESCENDANT, step.test) for step in path.steps])


class ChainAutomaton:
    """The union of some chains as bits of a mask: ``start``, ``accept``, those that stay, those that move."""

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
        """Whether one of the chains matches wherever ``steps`` do."""
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
        """The masks after any number of elements in a gap, but for those that are accepted there."""
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
    """The masks that include no other."""
    least: list[int] = []
    for mask in sorted(masks, key=int.bit_count):
        if not any(other & mask == other for other in least):
            least.append(mask)
    return set(least)

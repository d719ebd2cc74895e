"""Where a query can select, by an outline of the document: its targets, and what can never match.

The outline is walked from the root, with the steps of the query that are found at each label path:

    //c    in  a (b+)  b (l*, m*, k*)  l (c*)  m (c*, a*)         /a/b/l/c, /a/b/m/c, and below /a/b/m/a

A branch is left where the remaining steps cannot be found below it.  The walk stops where a name comes again
on its own path, at a depth of 8, and after 100 targets: if the query can still select there or below, that
label path is an open target.  Targets of a query are disjoint.
Cost: one visit for each label path on which the query can still be found.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from twigcast.chunking.outline import Name, Names, Outline
from twigcast.chunking.reach.needs import Target, local_depth
from twigcast.chunking.reach.spine import advance, meets
from twigcast.pattern import Axis, Onward, Path, Pattern, Step

DEPTH = 8
MOST_TARGETS = 100


@dataclass(frozen=True, slots=True)
class PlacedTarget:
    """A target, and the label path of the records in which it lies; a *wide* target has none."""

    target: Target
    record: Names | None


def find_targets(pattern: Pattern, outline: Outline) -> list[Target]:
    """The targets of a pattern, in breadth-first order; none if the outline has nothing that it selects."""
    routes = [_Route(path, outline) for path in pattern.alternatives]
    start = [(frozenset({0}), frozenset({0}))] * len(routes)
    waiting: deque[tuple[Names, list[_Found]]] = deque([((), start)])
    found: dict[Target, None] = {}
    while waiting:
        path, states = waiting.popleft()
        if path and len(found) + len(waiting) >= MOST_TARGETS:
            found.pop(Target(path), None)
            found[Target(path, is_open=True)] = None
            continue
        for name in outline.children(path[-1] if path else None):
            below = (*path, name)
            onward = [route.read(state, name) for route, state in zip(routes, states, strict=True)]
            pairs = list(zip(routes, onward, strict=True))
            selects = [route for route, state in pairs if route.is_complete(state)]
            leads = any(route.leads(state, name) for route, state in pairs)
            if not selects and not leads:
                continue
            stops = name in path or len(below) >= DEPTH
            if any(route.goes_on for route in selects) or (stops and leads):
                found[Target(below, is_open=True)] = None
                continue
            if selects:
                found[Target(below)] = None
            if leads:
                waiting.append((below, onward))
    return list(found)


def place(pattern: Pattern, target: Target, outline: Outline) -> PlacedTarget:
    """A target with its record path: the shallowest that repeats in its parent and is local."""
    path = target.path
    for depth in range(2, local_depth(pattern, target) + 1):
        if outline.children(path[depth - 2]).get(path[depth - 1]):
            return PlacedTarget(target, path[:depth])
    return PlacedTarget(target, None)


def missing_step(pattern: Pattern, outline: Outline) -> str:
    """Why a pattern has no targets: the element, and the name that it never has in it."""
    path = pattern.alternatives[0]
    states: list[tuple[Name | None, frozenset[int], frozenset[int]]] = [
        (None, frozenset({0}), frozenset({0}))
    ]
    reached, at = 0, "the document"
    seen: set[tuple[Name | None, frozenset[int], frozenset[int]]] = set(states)
    while states:
        name, here, above = states.pop()
        for child in outline.children(name):
            state = (child, *advance(path.steps, here, above, child))
            if max(state[1], default=0) > reached:
                reached, at = max(state[1]), child[1]
            if state not in seen and (state[1] or _waits(path.steps, state[2])):
                seen.add(state)
                states.append(state)
    if reached == len(path.steps):
        return "what it selects cannot occur there"
    step = path.steps[reached]
    kind = "child" if step.axis is Axis.CHILD else "element below it"
    return f"{at} has no {kind} {step.test.local or '*'}"


def _waits(steps: tuple[Step, ...], above: frozenset[int]) -> bool:
    return any(number < len(steps) and steps[number].axis is Axis.DESCENDANT for number in above)


_Found = tuple[frozenset[int], frozenset[int]]


class _Route:
    """One alternative of a pattern on its way through an outline."""

    def __init__(self, path: Path, outline: Outline) -> None:
        self.steps = path.steps
        self.outline = outline
        self.goes_on = isinstance(path.tail, Onward)
        self._possible: dict[tuple[Name, int], bool] = {}

    def read(self, state: _Found, name: Name) -> _Found:
        return advance(self.steps, *state, name)

    def is_complete(self, state: _Found) -> bool:
        return len(self.steps) in state[0]

    def leads(self, state: _Found, name: Name) -> bool:
        """Whether the path can be completed below an element with this name."""
        return any(
            number < len(self.steps)
            and (number in state[0] or self.steps[number].axis is Axis.DESCENDANT)
            and self._can_follow(name, number)
            for number in state[1]
        )

    def _can_follow(self, name: Name, number: int) -> bool:
        """Whether the steps from ``number`` on can each be found below an element, in whatever order."""
        key = name, number
        known = self._possible.get(key)
        if known is None:
            step = self.steps[number]
            near = self.outline.children(name) if step.axis is Axis.CHILD else self.outline.below(name)
            known = any(meets(step.test, each) for each in near) and all(
                any(meets(later.test, each) for each in self.outline.below(name))
                for later in self.steps[number + 1 :]
            )
            self._possible[key] = known
        return known

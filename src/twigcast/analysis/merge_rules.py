"""The three rules of merging: patterns that differ little, as one that covers them all.

    one difference     /a/*/c/d   /a/*/c/e      /a/*/c/*      other names become *
    two differences    /a/c/*/*   /a//c/*/c     /a//c/*/*     and one other axis becomes //
    with descendant    /a/b/x/d   /a/c/y/z/d    /a//d         other steps in the middle become //

Steps are alike if their predicates are, too; the rules only ever drop what differs, so each merger covers its
parts whatever the schema.  A pattern with alternatives is merged with none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from twigcast.pattern import ANY, Axis, Path, Pattern, Position, Step


def merge_one_difference(patterns: Sequence[Pattern]) -> Pattern | None:
    """The merger of patterns that differ in the name of one step only; None where they do not."""
    return _merge_step_by_step(patterns, names=1, axes=0)


def merge_two_differences(patterns: Sequence[Pattern]) -> Pattern | None:
    """The merger of patterns that differ in the name of one step and in one axis at most."""
    return _merge_step_by_step(patterns, names=1, axes=1)


def merge_with_descendant(patterns: Sequence[Pattern]) -> Pattern | None:
    """The merger of patterns that begin alike and end alike: what lies between becomes ``//``.

    They must have the last step in common, but for its axis, and something must differ.
    """
    paths = _trunks(patterns)
    if paths is None:
        return None
    head = 0
    shortest = min(len(path.steps) for path in paths)
    while head < shortest - 1 and len({path.steps[head] for path in paths}) == 1:
        head += 1
    tail = 0
    while tail < shortest - head and len({path.steps[-1 - tail] for path in paths}) == 1:
        tail += 1
    if tail < shortest - head and len({_below(path.steps[-1 - tail]) for path in paths}) == 1:
        tail += 1
    if not tail:
        return None
    first = paths[0]
    steps = (*first.steps[:head], _below(first.steps[-tail]), *first.steps[len(first.steps) - tail + 1 :])
    return Pattern((replace(first, steps=steps),))


def _merge_step_by_step(patterns: Sequence[Pattern], *, names: int, axes: int) -> Pattern | None:
    paths = _trunks(patterns)
    if paths is None or len({len(path.steps) for path in paths}) != 1:
        return None
    steps: list[Step] = []
    for column in zip(*(path.steps for path in paths), strict=True):
        first = column[0]
        if any(step.predicates != first.predicates for step in column):
            return None
        if any(step.test != first.test for step in column):
            if any(isinstance(each, Position) and each.test != ANY for each in first.predicates):
                return None  # the name is what is counted
            names -= 1
            first = replace(first, test=ANY)
        if any(step.axis is not first.axis for step in column):
            axes -= 1
            first = _below(first)
        steps.append(first)
    return Pattern((replace(paths[0], steps=tuple(steps)),)) if names >= 0 and axes >= 0 else None


def _trunks(patterns: Sequence[Pattern]) -> list[Path] | None:
    """The only paths of several different patterns, if all that is beside their steps is the same."""
    if len(set(patterns)) < 2 or any(len(pattern.alternatives) > 1 for pattern in patterns):
        return None
    paths = [pattern.alternatives[0] for pattern in patterns]
    if len({(path.tail, path.filters) for path in paths}) > 1 or not all(path.steps for path in paths):
        return None
    return paths


def _below(step: Step) -> Step:
    return replace(step, axis=Axis.DESCENDANT)

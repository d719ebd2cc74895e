"""A path of steps against a label path: which step can stand at which of its elements.

This is used for targets, needs, local queries and decisions alike, so that they agree.

    /a//b/c    against   /a/b/b/c        a at 1, b at 2 and 3, c at 4
                                         at 4 only through the b at 3
"""

from __future__ import annotations

from collections.abc import Sequence

from twigcast.chunking.outline import Name
from twigcast.pattern import Axis, NameTest, Step


def meets(test: NameTest, name: Name) -> bool:
    """Whether a name test admits a name, whose namespace may be unknown."""
    namespace, local = test
    return (local is None or local == name[1]) and (
        namespace is None or name[0] is None or namespace == name[0]
    )


def advance(
    steps: Sequence[Step], here: frozenset[int], above: frozenset[int], name: Name
) -> tuple[frozenset[int], frozenset[int]]:
    """The numbers of steps that end at a child with this name, and those that end there or above it."""
    found = frozenset(
        number + 1
        for number in above
        if number < len(steps)
        and (number in here or steps[number].axis is Axis.DESCENDANT)
        and meets(steps[number].test, name)
    )
    return found, above | found


def standing(steps: Sequence[Step], path: Sequence[Name], *, is_open: bool = False) -> list[set[int]]:
    """For each depth, from the document at 0, the numbers of steps that can end there on the way to ``path``.

    With ``is_open``, the last step may end there or anywhere below.
    """
    here = above = frozenset({0})
    found = [set(here)]
    for name in path:
        here, above = advance(steps, here, above, name)
        found.append(set(here))
    last = len(path)
    for depth in range(last, -1, -1):
        found[depth] = {
            number
            for number in found[depth]
            if (number == len(steps) and (depth == last or (is_open and depth >= last)))
            or (is_open and depth == last)
            or (number < len(steps) and _continues(steps, number, depth, found, is_open=is_open))
        }
    return found


def _continues(
    steps: Sequence[Step], number: int, depth: int, found: list[set[int]], *, is_open: bool
) -> bool:
    """Whether the next step can end at a deeper element that leads to the end of the path."""
    if steps[number].axis is Axis.CHILD:
        return depth + 1 < len(found) and number + 1 in found[depth + 1]
    return is_open or any(number + 1 in below for below in found[depth + 1 :])

"""How the index changes while it is used: segments in levels, each much smaller than the one before.

    base 100,000 | 9,000 | 400 | 23        a new subscription rebuilds only the last, small one

A level that has grown too large for its place is merged into the one before it; large merges are for a thread
in the background.  A segment is never changed: a match in progress keeps those it began with.

Invariant: every living position is in exactly one level.
Cost: adding rebuilds at most ``TAIL`` programs; each program is rebuilt O(log n) times over its life.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from twigcast.filtering.kernel._kernel import Segment, Vocabulary, build

TAIL = 128  # programs rebuilt by an add: 0.2 ms at 1.5 µs each
RATIO = 8
SMALL = 2048  # merges up to this size are done on the spot


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Some positions, their programs, and the segment made of them; no programs where it lies in a file."""

    segment: Segment
    positions: list[int]
    programs: list[bytes]
    stored: bool = False

    @property
    def size(self) -> int:
        return len(self.positions)


def make_level(vocabulary: Vocabulary, positions: list[int], programs: list[bytes]) -> Level:
    return Level(Segment(build(vocabulary, positions, programs)), positions, programs)


def with_added(
    levels: tuple[Level, ...], vocabulary: Vocabulary, position: int, program: bytes
) -> tuple[Level, ...]:
    """The levels with one more program in the last."""
    tail = levels[-1] if levels else None
    if tail is None or tail.stored or tail.size >= TAIL:
        return (*levels, make_level(vocabulary, [position], [program]))
    grown = make_level(vocabulary, [*tail.positions, position], [*tail.programs, program])
    return (*levels[:-1], grown)


def mergeable(levels: tuple[Level, ...]) -> tuple[Level, Level] | None:
    """Two neighbours to merge next: the later has outgrown its place after the earlier."""
    for before, after in zip(levels[-2::-1], levels[:0:-1], strict=True):
        if after.size < TAIL:
            continue
        if not before.stored and after.size * RATIO >= before.size:
            return before, after
    return None


def merged(before: Level, after: Level, vocabulary: Vocabulary, gone: Callable[[int], bool]) -> Level:
    """One level of two, without the positions that are gone."""
    kept = [
        (position, program)
        for level in (before, after)
        for position, program in zip(level.positions, level.programs, strict=True)
        if not gone(position)
    ]
    return make_level(vocabulary, [position for position, _ in kept], [program for _, program in kept])


def replaced(levels: tuple[Level, ...], pair: tuple[Level, Level], by: Level) -> tuple[Level, ...]:
    """The levels with ``by`` in the place of the pair; the same levels where the pair is no longer there."""
    for i in range(len(levels) - 1):
        if levels[i] is pair[0] and levels[i + 1] is pair[1]:
            return (*levels[:i], by, *levels[i + 2 :])
    return levels


def has_bit(bitmap: bytes, position: int) -> bool:
    """Whether ``position`` is in the set."""
    byte = position >> 3
    return byte < len(bitmap) and bool(bitmap[byte] >> (position & 7) & 1)


def with_bit(bitmap: bytes, position: int) -> bytes:
    """The set with ``position`` in it."""
    changed = bytearray(bitmap)
    set_bit(changed, position)
    return bytes(changed)


def set_bit(bitmap: bytearray, position: int) -> None:
    """Put ``position`` into a set that is being made."""
    bitmap.extend(bytes(max(0, (position >> 3) + 1 - len(bitmap))))
    bitmap[position >> 3] |= 1 << (position & 7)

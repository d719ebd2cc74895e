"""The levels of an index: segments in order, each much smaller than the one before, as in an LSM tree.

    base 100,000 | 9,000 | 400 | 23        adding a subscription rebuilds only the last, small segment

A level that is no longer much smaller than the one before it is merged into that one; a background thread
makes large merges.  A segment is immutable, so a match in progress keeps the segments that it began with.  A
level may have a file; an index version is the list of these files, so writing a version writes only the new
levels.

Invariant: the levels divide all positions into consecutive ranges; a living position is in the segment of its
range.  A removed position is a tombstone: it stays in its segment until a merge leaves it out.
Cost: adding rebuilds at most ``TAIL`` programs; each program is rebuilt O(log n) times over its life.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from twigcast.filtering.kernel._kernel import Segment, Vocabulary, build

TAIL = 128  # programs rebuilt by an add: 0.2 ms at 1.5 µs each
RATIO = 8
SMALL = 2048  # merges up to this size are made at once, not in the background


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A range of positions, and the segment of those that were living when the level was made.

    ``programs`` are by position; a level that was read from a file has none.  ``removed`` are the tombstones
    that its file records; ``file`` is the name of that file, once it is written.
    """

    segment: Segment
    first: int
    stop: int
    programs: Mapping[int, bytes] | None
    count: int
    removed: tuple[int, ...] = ()
    file: str | None = None

    @property
    def size(self) -> int:
        """The size that decides about merging: the number of programs and tombstones."""
        return self.count + len(self.removed)

    @property
    def is_empty(self) -> bool:
        """Whether the segment has no program, so that no document can match it."""
        return bool(self.segment.end == 0)


def make_level(
    vocabulary: Vocabulary,
    first: int,
    stop: int,
    programs: Mapping[int, bytes],
    removed: tuple[int, ...] = (),
) -> Level:
    """Compile the programs of a range of positions into a level."""
    segment = Segment(build(vocabulary, list(programs), list(programs.values())))
    return Level(segment, first, stop, programs, len(programs), removed)


def with_added(
    levels: tuple[Level, ...], vocabulary: Vocabulary, programs: Mapping[int, bytes]
) -> tuple[Level, ...]:
    """The levels with new programs at the next positions.

    If the programs and the last level are both small, the last level is rebuilt; otherwise a level is added.
    """
    first, stop = min(programs), max(programs) + 1
    tail = levels[-1] if levels else None
    if tail is None or tail.programs is None or tail.size >= TAIL or len(programs) >= TAIL:
        return (*levels, make_level(vocabulary, first, stop, programs))
    together = {**tail.programs, **programs}
    return (*levels[:-1], make_level(vocabulary, tail.first, stop, together, tail.removed))


def with_tombstones(
    levels: tuple[Level, ...], vocabulary: Vocabulary, removed: tuple[int, ...], size: int
) -> tuple[Level, ...]:
    """The levels with tombstones that the next file records; ``size`` positions have been assigned so far."""
    tail = levels[-1] if levels else None
    if tail is not None and tail.programs is not None and tail.size < TAIL:
        together = tuple(dict.fromkeys((*tail.removed, *removed)))
        changed = Level(tail.segment, tail.first, tail.stop, tail.programs, tail.count, together)
        return (*levels[:-1], changed)
    return (*levels, make_level(vocabulary, size, size, {}, removed))


def mergeable(levels: tuple[Level, ...]) -> tuple[Level, Level] | None:
    """The two adjacent levels to merge next: the later one is too large in proportion to the earlier one."""
    for before, after in zip(levels[-2::-1], levels[:0:-1], strict=True):
        if after.size >= TAIL and after.size * RATIO >= before.size:
            return before, after
    return None


def merged(
    before: Level,
    after: Level,
    programs: Mapping[int, bytes],
    vocabulary: Vocabulary,
    gone: Callable[[int], bool],
) -> Level:
    """Merge two levels into one, of their ``programs``, without the positions that are ``gone``.

    Tombstones of the merged range are applied by this; only those for earlier levels are kept.
    """
    kept = {position: program for position, program in programs.items() if not gone(position)}
    removed = tuple(position for position in (*before.removed, *after.removed) if position < before.first)
    return make_level(vocabulary, before.first, after.stop, kept, removed)


def replaced(levels: tuple[Level, ...], pair: tuple[Level, Level], by: Level) -> tuple[Level, ...]:
    """The levels with ``by`` instead of the pair; unchanged levels if the pair is no longer among them.

    Levels are compared by their segments, because writing a level to a file makes a new ``Level`` value.
    """
    for i in range(len(levels) - 1):
        if levels[i].segment is pair[0].segment and levels[i + 1].segment is pair[1].segment:
            return (*levels[:i], by, *levels[i + 2 :])
    return levels


def has_bit(bitmap: bytes | bytearray, position: int) -> bool:
    """Whether the bit of ``position`` is set."""
    byte = position >> 3
    return byte < len(bitmap) and bool(bitmap[byte] >> (position & 7) & 1)


def with_bit(bitmap: bytes, position: int) -> bytes:
    """A copy of the bitmap with the bit of ``position`` set."""
    changed = bytearray(bitmap)
    set_bit(changed, position)
    return bytes(changed)


def set_bit(bitmap: bytearray, position: int) -> None:
    """Set the bit of ``position`` in place; the bitmap grows as needed."""
    bitmap.extend(bytes(max(0, (position >> 3) + 1 - len(bitmap))))
    bitmap[position >> 3] |= 1 << (position & 7)

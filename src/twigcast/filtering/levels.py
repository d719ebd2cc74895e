"""How the index changes while it is used: segments in levels, each much smaller than the one before.

    base 100,000 | 9,000 | 400 | 23        a new subscription rebuilds only the last, small one

A level that has grown too large for its place is merged into the one before it; large merges are for a thread
in the background.  A segment is never changed: a match in progress keeps those it began with.  A level may
lie in a file; an index version is the list of these files, so that writing a version writes only the levels
that are new.

Invariant: the levels divide all positions into ranges, in order; a living position is in the segment of its
range.  A removed position stays in its segment until a merge leaves it out; until then it is a tombstone.
Cost: adding rebuilds at most ``TAIL`` programs; each program is rebuilt O(log n) times over its life.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from twigcast.filtering.kernel._kernel import Segment, Vocabulary, build

TAIL = 128  # programs rebuilt by an add: 0.2 ms at 1.5 µs each
RATIO = 8
SMALL = 2048  # merges up to this size are done on the spot


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A range of positions and the segment made of those that were living then.

    ``programs`` are by position, and none where the level was read from a file.  ``removed`` are tombstones
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
        """How much the level is to merge: its programs and its tombstones."""
        return self.count + len(self.removed)

    @property
    def is_empty(self) -> bool:
        """Whether no document can match anything in it."""
        return bool(self.segment.end == 0)


def make_level(
    vocabulary: Vocabulary,
    first: int,
    stop: int,
    programs: Mapping[int, bytes],
    removed: tuple[int, ...] = (),
) -> Level:
    """The level of a range of positions."""
    segment = Segment(build(vocabulary, list(programs), list(programs.values())))
    return Level(segment, first, stop, programs, len(programs), removed)


def with_added(
    levels: tuple[Level, ...], vocabulary: Vocabulary, programs: Mapping[int, bytes]
) -> tuple[Level, ...]:
    """The levels with programs at the next positions: in the last level where both are small."""
    first, stop = min(programs), max(programs) + 1
    tail = levels[-1] if levels else None
    if tail is None or tail.programs is None or tail.size >= TAIL or len(programs) >= TAIL:
        return (*levels, make_level(vocabulary, first, stop, programs))
    together = {**tail.programs, **programs}
    return (*levels[:-1], make_level(vocabulary, tail.first, stop, together, tail.removed))


def with_tombstones(
    levels: tuple[Level, ...], vocabulary: Vocabulary, removed: tuple[int, ...], size: int
) -> tuple[Level, ...]:
    """The levels with tombstones for a file to record; ``size`` positions were given out."""
    tail = levels[-1] if levels else None
    if tail is not None and tail.programs is not None and tail.size < TAIL:
        together = tuple(dict.fromkeys((*tail.removed, *removed)))
        changed = Level(tail.segment, tail.first, tail.stop, tail.programs, tail.count, together)
        return (*levels[:-1], changed)
    return (*levels, make_level(vocabulary, size, size, {}, removed))


def mergeable(levels: tuple[Level, ...]) -> tuple[Level, Level] | None:
    """Two neighbours to merge next: the later has outgrown its place after the earlier."""
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
    """One level of two, of their ``programs``, without the positions that are gone."""
    kept = {position: program for position, program in programs.items() if not gone(position)}
    removed = tuple(position for position in (*before.removed, *after.removed) if position < before.first)
    return make_level(vocabulary, before.first, after.stop, kept, removed)


def replaced(levels: tuple[Level, ...], pair: tuple[Level, Level], by: Level) -> tuple[Level, ...]:
    """The levels with ``by`` in the place of the pair; the same levels where the pair is no longer there.

    A level that was written to a file meanwhile is another value with the same segment.
    """
    for i in range(len(levels) - 1):
        if levels[i].segment is pair[0].segment and levels[i + 1].segment is pair[1].segment:
            return (*levels[:i], by, *levels[i + 2 :])
    return levels


def has_bit(bitmap: bytes | bytearray, position: int) -> bool:
    """Whether ``position`` is in the set that a bitmap is."""
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

"""Levels stay few, adding stays cheap, and no program is lost or duplicated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from twigcast.filtering.compiling import Compiler
from twigcast.filtering.levels import (
    RATIO,
    TAIL,
    Level,
    has_bit,
    make_level,
    mergeable,
    merged,
    replaced,
    with_added,
    with_bit,
    with_tombstones,
)
from twigcast.pattern import parse

COMPILER = Compiler()
PROGRAM = COMPILER.compile(parse("//a[b]/c")).words


def level(positions: range) -> Level:
    return make_level(COMPILER.vocabulary, positions.start, positions.stop, dict.fromkeys(positions, PROGRAM))


def merge(pair: tuple[Level, Level], gone: Callable[[int], bool] = lambda _: False) -> Level:
    programs = {**(pair[0].programs or {}), **(pair[1].programs or {})}
    return merged(*pair, programs, COMPILER.vocabulary, gone)


def positions(levels: tuple[Level, ...]) -> list[int]:
    return [position for each in levels for position in each.programs or ()]


def test_adding_rebuilds_only_the_last() -> None:
    """Adding rebuilds only the last level; the larger levels before it are the same objects."""
    before = (level(range(1000)), level(range(1000, 1010)))
    after = with_added(before, COMPILER.vocabulary, {1010: PROGRAM})
    assert after[0] is before[0]
    assert positions(after) == list(range(1011))
    assert len(after) == 2


def test_a_full_last_level_is_left_alone() -> None:
    """When the last level is full, the next program begins a new level."""
    before = (level(range(TAIL)),)
    after = with_added(before, COMPILER.vocabulary, {TAIL: PROGRAM})
    assert [each.size for each in after] == [TAIL, 1]


def test_few_programs_at_once_go_to_the_last_level() -> None:
    """Adding a few at a time makes no more levels than adding one by one; many at once make one level."""
    before = (level(range(1000)), level(range(1000, 1010)))
    few = dict.fromkeys(range(1010, 1015), PROGRAM)
    many = dict.fromkeys(range(1010, 1010 + TAIL), PROGRAM)
    assert [each.size for each in with_added(before, COMPILER.vocabulary, few)] == [1000, 15]
    assert [each.size for each in with_added(before, COMPILER.vocabulary, many)] == [1000, 10, TAIL]


def test_levels_are_few() -> None:
    """Merging keeps each level much larger than the next, so their number is logarithmic."""
    levels: tuple[Level, ...] = ()
    for position in range(20 * TAIL):
        levels = with_added(levels, COMPILER.vocabulary, {position: PROGRAM})
        while (pair := mergeable(levels)) is not None:
            levels = replaced(levels, pair, merge(pair))
    assert positions(levels) == list(range(20 * TAIL))
    assert len(levels) <= 4
    full = [each.size for each in levels if each.size >= TAIL]
    assert all(large > RATIO * small for large, small in pairwise(full))


def test_what_is_gone_is_merged_away() -> None:
    """A merge keeps the living programs and drops the removed ones."""
    pair = (level(range(10)), level(range(10, 20)))
    together = merge(pair, lambda position: position % 2 == 0)
    assert list(together.programs or ()) == list(range(1, 20, 2))
    assert (together.first, together.stop, together.count) == (0, 20, 10)


def test_tombstones_go_to_the_last_level() -> None:
    """A small last level records tombstones; after a large level, or one from a file, a new level does."""
    small, large = level(range(10)), level(range(TAIL))
    assert with_tombstones((small,), COMPILER.vocabulary, (3, 5), 10)[0].removed == (3, 5)
    again = with_tombstones(
        with_tombstones((small,), COMPILER.vocabulary, (3,), 10), COMPILER.vocabulary, (3, 4), 10
    )
    assert [each.removed for each in again] == [(3, 4)]
    for full in (large, Level(small.segment, 0, 10, None, 10, (), "file")):
        first, second = with_tombstones((full,), COMPILER.vocabulary, (3,), full.stop)
        assert first is full
        assert (second.first, second.stop, second.removed, second.is_empty) == (
            full.stop,
            full.stop,
            (3,),
            True,
        )


def test_a_merge_keeps_the_tombstones_of_earlier_levels() -> None:
    """A merged level drops the tombstones of its own range, which the merge has applied."""
    before = replace(level(range(10, 20)), removed=(1,))
    after = replace(level(range(20, 30)), removed=(2, 12))
    assert merge((before, after), lambda position: position == 12).removed == (1, 2)


def test_a_merge_that_comes_too_late_changes_nothing() -> None:
    """If the pair is no longer among the levels, they stay unchanged."""
    first, second, third = level(range(5)), level(range(5, 9)), level(range(9, 12))
    assert replaced((first, third), (first, second), third) == (first, third)


def test_a_set_grows_as_needed() -> None:
    """A position beyond the last byte is not in the set until it is added."""
    bitmap = b""
    for position in (0, 9, 70):
        assert not has_bit(bitmap, position)
        bitmap = with_bit(bitmap, position)
    assert [position for position in range(100) if has_bit(bitmap, position)] == [0, 9, 70]

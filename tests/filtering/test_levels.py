"""Levels stay few and small ones stay cheap, and no program is lost or doubled."""

from __future__ import annotations

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
)
from twigcast.pattern import parse

COMPILER = Compiler()
PROGRAM = COMPILER.compile(parse("//a[b]/c")).words


def level(positions: range) -> Level:
    return make_level(COMPILER.vocabulary, list(positions), [PROGRAM] * len(positions))


def positions(levels: tuple[Level, ...]) -> list[int]:
    return [position for each in levels for position in each.positions]


def test_adding_rebuilds_only_the_last() -> None:
    """The large levels before it are the same objects."""
    before = (level(range(1000)), level(range(1000, 1010)))
    after = with_added(before, COMPILER.vocabulary, 1010, PROGRAM)
    assert after[0] is before[0]
    assert positions(after) == list(range(1011))
    assert len(after) == 2


def test_a_full_last_level_is_left_alone() -> None:
    """Then a new one is begun."""
    before = (level(range(TAIL)),)
    after = with_added(before, COMPILER.vocabulary, TAIL, PROGRAM)
    assert [each.size for each in after] == [TAIL, 1]


def test_levels_are_few() -> None:
    """Merging keeps each level much larger than the next, so there are logarithmically many."""
    levels: tuple[Level, ...] = ()
    for position in range(20 * TAIL):
        levels = with_added(levels, COMPILER.vocabulary, position, PROGRAM)
        while (pair := mergeable(levels)) is not None:
            levels = replaced(levels, pair, merged(*pair, COMPILER.vocabulary, lambda _: False))
    assert positions(levels) == list(range(20 * TAIL))
    assert len(levels) <= 4
    full = [each.size for each in levels if each.size >= TAIL]
    assert all(large > RATIO * small for large, small in pairwise(full))


def test_what_is_gone_is_merged_away() -> None:
    """A merge keeps those that are there."""
    pair = (level(range(10)), level(range(10, 20)))
    assert merged(*pair, COMPILER.vocabulary, lambda position: position % 2 == 0).positions == list(
        range(1, 20, 2)
    )


def test_a_stored_level_is_never_merged() -> None:
    """Its programs are not in memory."""
    stored = Level(level(range(10)).segment, [], [], stored=True)
    assert mergeable((stored, level(range(10, 10 + TAIL)))) is None


def test_a_merge_that_comes_too_late_changes_nothing() -> None:
    """If the levels were replaced meanwhile, they stay."""
    first, second, third = level(range(5)), level(range(5, 9)), level(range(9, 12))
    assert replaced((first, third), (first, second), third) == (first, third)


def test_a_set_grows_as_needed() -> None:
    """Positions beyond the last byte are not in the set until they are put there."""
    bitmap = b""
    for position in (0, 9, 70):
        assert not has_bit(bitmap, position)
        bitmap = with_bit(bitmap, position)
    assert [position for position in range(100) if has_bit(bitmap, position)] == [0, 9, 70]

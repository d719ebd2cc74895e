"""Bits in bytes."""

from __future__ import annotations

from twigcast.filtering.bitmaps import has_bit, with_bit


def test_a_set_grows_as_needed() -> None:
    """Positions beyond the last byte are not in the set until they are put there."""
    bitmap = b""
    for position in (0, 9, 70):
        assert not has_bit(bitmap, position)
        bitmap = with_bit(bitmap, position)
    assert [position for position in range(100) if has_bit(bitmap, position)] == [0, 9, 70]

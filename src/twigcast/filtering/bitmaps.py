"""Sets of positions as bits in bytes: the form in which the kernel takes them."""

from __future__ import annotations


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

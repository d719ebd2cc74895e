"""Whole numbers of any size in as few bytes as they need: seven bits in each byte, the lowest first."""

from __future__ import annotations

LONGEST = 10
"""Bytes of the longest number that is read: 70 bits."""


def append_varint(out: bytearray, number: int) -> None:
    """Append a number that is at least 0."""
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def varint(number: int) -> bytes:
    """A number that is at least 0."""
    out = bytearray()
    append_varint(out, number)
    return bytes(out)


def read_varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """Return the number at a position and the position behind it; raises ``ValueError`` if there is none."""
    try:
        byte = data[at]
        if byte < 128:
            return byte, at + 1
        number = byte & 127
        for shift in range(7, 7 * LONGEST, 7):
            at += 1
            byte = data[at]
            number |= (byte & 127) << shift
            if byte < 128:
                return number, at + 1
    except IndexError:
        raise ValueError("a number is truncated") from None
    raise ValueError("a number is too long")

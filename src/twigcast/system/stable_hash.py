"""A hash that is the same in every process, where Python's own hash of text differs from run to run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from zlib import crc32


@lru_cache(maxsize=1 << 16)
def stable_hash(value: Any) -> int:
    """A hash of text, numbers, None, and tuples of these."""
    if value is None:
        return 1
    if isinstance(value, str):
        return crc32(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, tuple):
        found = 7
        for part in value:
            found = (found * 31 + stable_hash(part)) & 0xFFFFFFFF
        return found
    return hash(value) if value == value else 3  # what is no number has another hash each time


def bloom_bits(values: Iterable[Any]) -> int:
    """A Bloom filter: one of 256 bits for each value, so that sets are compared as integers."""
    bits = 0
    for value in values:
        bits |= 1 << (stable_hash(value) & 255)
    return bits

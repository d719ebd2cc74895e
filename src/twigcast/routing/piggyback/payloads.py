"""The payloads of annotations: flags, bindings of wildcards, and positions of end tags, as bytes.

Each ``decode`` function raises ``ValueError`` for bytes that its counterpart does not write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from twigcast.document import Name
from twigcast.routing.piggyback.plan import AnnotationPlan
from twigcast.routing.piggyback.questions.bindings import Binding, wildcards
from twigcast.system import append_varint, read_varint

Bits: TypeAlias = npt.NDArray[np.bool_]

MOST_BINDINGS = 4
"""How many different bindings of one pattern are sent: the first may not be the one that proves a row."""

OTHER: Name = ("\0", "\0")
"""In a binding: a name that the receiver's patterns do not mention.  No element and no pattern has it."""


def encode_bits(bits: Bits) -> bytes:
    """Return flags as a bit string, or as gaps between the set (or the unset) ones if that is shorter."""
    count = int(np.count_nonzero(bits))
    rare, mode = (bits, 1) if 2 * count < len(bits) else (~bits, 2)
    if min(count, len(bits) - count) < len(bits) // 8:
        places = np.flatnonzero(rare)
        gaps = places.copy()
        gaps[1:] -= places[:-1] + 1
        found = bytes((mode,)) + _varints(gaps)
        if len(found) <= len(bits) // 8:
            return found
    return b"\0" + np.packbits(bits).tobytes()


def decode_bits(data: bytes, count: int) -> Bits:
    """Read ``count`` flags."""
    if not data or data[0] > 2:
        raise ValueError("flags are truncated")
    if data[0] == 0:
        if len(data) - 1 != -(-count // 8):
            raise ValueError(f"a bit string has {len(data) - 1} bytes for {count} flags")
        return np.unpackbits(np.frombuffer(data, np.uint8, offset=1), count=count).view(np.bool_)
    gaps = np.minimum(_read_varints(np.frombuffer(data, np.uint8, offset=1)), count)
    places = np.cumsum(gaps + 1) - 1
    if len(places) and places[-1] >= count:
        raise ValueError("a gap leads beyond the flags")
    bits = np.zeros(count, dtype=np.bool_)
    bits[places] = True
    return bits if data[0] == 1 else ~bits


def _varints(numbers: npt.NDArray[np.int64]) -> bytes:
    """Return many numbers below 2^28 as ``append_varint`` writes them."""
    if not len(numbers) or numbers.max() < 128:
        return numbers.astype(np.uint8).tobytes()
    columns = [numbers >> shift & 127 for shift in (0, 7, 14, 21)]
    more = [numbers >= 1 << shift for shift in (7, 14, 21)]
    written = np.stack(columns, axis=1).astype(np.uint8)
    for column, longer in enumerate(more):
        written[longer, column] |= 128
    wanted = np.stack([np.ones(len(numbers), dtype=np.bool_), *more], axis=1)
    return written[wanted].tobytes()


def _read_varints(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Read many numbers below 2^28."""
    last = data < 128
    if last.all():
        return data.astype(np.int64)
    ends = np.flatnonzero(last)
    if not len(ends) or ends[-1] != len(data) - 1:
        raise ValueError("a number is truncated")
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts + 1
    if lengths.max() > 4:
        raise ValueError("a number is too long")
    places = np.arange(len(data)) - np.repeat(starts, lengths)
    return np.add.reduceat((data & 127).astype(np.int64) << 7 * places, starts)


def encode_bindings(granted: Iterable[tuple[int, Iterable[Binding]]], plan: AnnotationPlan) -> bytes:
    """Return bindings by the number of their wish; names are numbers in the plan, 0 is any other name.

    Wishes come in ascending order.  A binding of ``*:a`` or ``p:*`` to a name that the plan lacks is left
    out: the receiver would not know that the name fits the wildcard.
    """
    names = {name: number for number, name in enumerate(plan.names, 1)}
    out = bytearray()
    for wish, bindings in granted:
        texts = wildcards(plan.wishes[wish].pattern)
        several = [
            binding
            for binding in bindings
            if all(texts[number - 1] in ("*", "//") or chain[0] in names for number, chain in binding)
        ]
        if not several:
            continue
        append_varint(out, wish)
        append_varint(out, len(several))
        for binding in several:
            for _, chain in binding:
                append_varint(out, len(chain))
                for name in chain:
                    append_varint(out, names.get(name, 0))
    return bytes(out)


def decode_bindings(data: bytes, plan: AnnotationPlan, depth: int) -> Iterator[tuple[int, Binding]]:
    """Yield each binding with the number of its wish; no wildcard stands for more names than ``depth``."""
    at, before = 0, -1
    while at < len(data):
        wish, at = read_varint(data, at)
        count, at = read_varint(data, at)
        if not before < wish < len(plan.wishes):
            raise ValueError(f"there is no wish {wish}, or it comes after a later one")
        if count > MOST_BINDINGS:
            raise ValueError(f"there are {count} bindings of one pattern")
        before = wish
        for _ in range(count):
            binding: list[tuple[int, tuple[Name, ...]]] = []
            for number in plan.wishes[wish].numbers:
                length, at = read_varint(data, at)
                if length > min(depth, len(data) - at):
                    raise ValueError("a binding has more names than bytes, or than the document has levels")
                chain: list[Name] = []
                for _ in range(length):
                    name, at = read_varint(data, at)
                    if name > len(plan.names):
                        raise ValueError(f"there is no name {name}")
                    chain.append(plan.names[name - 1] if name else OTHER)
                binding.append((number, tuple(chain)))
            yield wish, tuple(binding)


def encode_positions(ends: Mapping[int, int]) -> bytes:
    """Return the numbers of end tags, by the number of their chain."""
    out = bytearray()
    for chain, end in ends.items():
        append_varint(out, chain)
        append_varint(out, end)
    return bytes(out)


def decode_positions(data: bytes, plan: AnnotationPlan) -> dict[int, int]:
    """Read the numbers of end tags, by the number of their chain in the plan."""
    ends: dict[int, int] = {}
    at = 0
    while at < len(data):
        chain, at = read_varint(data, at)
        end, at = read_varint(data, at)
        if chain >= len(plan.positions):
            raise ValueError(f"there is no chain {chain}")
        ends[chain] = end
    return ends

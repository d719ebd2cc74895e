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
Places: TypeAlias = npt.NDArray[np.int64]

STRING, SET, UNSET = 0, 1, 2
"""The first byte of flags: a bit string, or the gaps between those that are set, or that are not."""
FEW = 256
"""So many gaps are written, and bytes of gaps read, one by one: array operations on fewer take longer."""

MOST_BINDINGS = 4
"""How many different bindings of one pattern are sent: the first may not be the one that proves a row."""

OTHER: Name = ("\0", "\0")
"""In a binding: a name that the receiver's patterns do not mention.  No element and no pattern has it."""


def encode_bits(bits: Bits) -> bytes:
    """Return flags as a bit string, or as gaps between the set (or the unset) ones if that is shorter."""
    count = int(np.count_nonzero(bits))
    found = None
    if count < len(bits) // 8:
        found = _gaps(np.flatnonzero(bits), len(bits), SET)
    elif len(bits) - count < len(bits) // 8:
        found = _gaps(np.flatnonzero(~bits), len(bits), UNSET)
    return found or bytes((STRING,)) + np.packbits(bits).tobytes()


def encode_set(places: Places, count: int) -> bytes:
    """Return what ``encode_bits`` does for ``count`` flags, given the places of those that are set."""
    return _gaps(places, count, SET) or encode_bits(_flags(places, count))


def encode_unset(places: Places, count: int) -> bytes:
    """Return what ``encode_bits`` does for ``count`` flags, given the places of those that are not set."""
    return _gaps(places, count, UNSET) or encode_bits(~_flags(places, count))


def decode_bits(data: bytes, count: int) -> Bits:
    """Read ``count`` flags."""
    if not data or data[0] > UNSET:
        raise ValueError("flags are truncated")
    if data[0] == STRING:
        if len(data) - 1 != -(-count // 8):
            raise ValueError(f"a bit string has {len(data) - 1} bytes for {count} flags")
        return np.unpackbits(np.frombuffer(data, np.uint8, offset=1), count=count).view(np.bool_)
    bits = _flags(_read_gaps(data, count), count)
    return bits if data[0] == SET else ~bits


def decode_set(data: bytes, count: int) -> Places:
    """Read ``count`` flags, and return the places of those that are set."""
    return _read_gaps(data, count) if data[:1] == b"\1" else np.flatnonzero(decode_bits(data, count))


def _flags(places: Places, count: int) -> Bits:
    bits = np.zeros(count, dtype=np.bool_)
    bits[places] = True
    return bits


def _gaps(places: Places, count: int, mode: int) -> bytes | None:
    """Return the gaps between ascending places; None if that takes more bytes than a bit string."""
    if len(places) >= count // 8:
        return None
    out = bytearray((mode,))
    if len(places) <= FEW:
        next_place = 0
        for place in places.tolist():
            gap = place - next_place
            if gap < 128:
                out.append(gap)
            else:
                append_varint(out, gap)
            next_place = place + 1
    else:
        gaps = places.copy()
        gaps[1:] -= places[:-1] + 1
        out += _varints(gaps)
    return bytes(out) if len(out) <= count // 8 else None


def _varints(numbers: Places) -> bytes:
    """Return many numbers below 2^28 as ``append_varint`` writes them."""
    if numbers.max() < 128:
        return numbers.astype(np.uint8).tobytes()
    columns = [numbers >> shift & 127 for shift in (0, 7, 14, 21)]
    more = [numbers >= 1 << shift for shift in (7, 14, 21)]
    written = np.stack(columns, axis=1).astype(np.uint8)
    for column, longer in enumerate(more):
        written[longer, column] |= 128
    wanted = np.stack([np.ones(len(numbers), dtype=np.bool_), *more], axis=1)
    return written[wanted].tobytes()


def _read_gaps(data: bytes, count: int) -> Places:
    """Read the places below ``count`` that have these gaps between them."""
    if len(data) <= FEW:
        found: list[int] = []
        place, at = -1, 1
        while at < len(data):
            gap = data[at]
            if gap < 128:
                at += 1
            else:
                gap, at = read_varint(data, at)
            place += gap + 1
            found.append(place)
        if place >= count:
            raise ValueError("a gap leads beyond the flags")
        return np.array(found, dtype=np.int64)
    places = np.cumsum(_read_varints(np.frombuffer(data, np.uint8, offset=1)) + 1) - 1
    if len(places) and places[-1] >= count:
        raise ValueError("a gap leads beyond the flags")
    return places


def _read_varints(data: npt.NDArray[np.uint8]) -> Places:
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

"""The payloads of annotations: what is written is read again, and nonsense is a ``ValueError``."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.routing.piggyback.running_example import chain
from twigcast.document import Name
from twigcast.pattern import parse
from twigcast.routing.piggyback import AnnotationPlan, Wish
from twigcast.routing.piggyback.payloads import (
    MOST_BINDINGS,
    OTHER,
    decode_bindings,
    decode_bits,
    decode_positions,
    decode_set,
    encode_bindings,
    encode_bits,
    encode_positions,
    encode_set,
    encode_unset,
)

NAMES = chain("a/b/c")
PLAN = AnnotationPlan(
    wishes=(
        Wish(parse("//a"), (), 1),
        Wish(parse("//a/*/c"), (1, 2), 2),
        Wish(parse("//*:a"), (1, 2), 1),
    ),
    positions=(chain("a"), chain("a/b")),
    names=NAMES,
)
DEPTH = 8

chains = st.lists(st.sampled_from([*NAMES, ("", "x")]), max_size=DEPTH).map(tuple)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 3000), st.floats(0, 1), st.randoms(use_true_random=False))
def test_bits_are_read_as_written(count: int, share: float, random: Any) -> None:
    """This holds for bit strings and for both kinds of gaps, of any length."""
    bits = np.array([random.random() < share for _ in range(count)], dtype=np.bool_)
    written = encode_bits(bits)
    assert (decode_bits(written, count) == bits).all()
    assert len(written) <= 1 + -(-count // 8)
    places = np.flatnonzero(bits)
    assert (decode_set(written, count) == places).all()
    assert encode_set(places, count) == written
    assert encode_unset(places, count) == encode_bits(~bits)


@pytest.mark.parametrize("count", [0, 1, 8, 200, 40_000, 3_000_000])
def test_rare_bits_take_few_bytes(count: int) -> None:
    """One flag among many is one gap, also where the gap is a number of several bytes."""
    for value in (False, True):
        bits = np.full(count, value)
        bits[-1:] = not value
        written = encode_bits(bits)
        assert len(written) <= 6
        assert (decode_bits(written, count) == bits).all()


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=40), st.integers(0, 200))
def test_any_bytes_are_bits_or_a_value_error(data: bytes, count: int) -> None:
    """No array becomes longer than was asked for."""
    with suppress(ValueError):
        assert len(decode_bits(data, count)) == count


@pytest.mark.parametrize(
    "data", [b"", b"\3", b"\0", b"\0abc", b"\1\x80", b"\1\xff\xff\xff\xff\1", b"\1\x09\x01", b"\2\x0a"]
)
def test_bits_of_another_length_are_refused(data: bytes) -> None:
    """A payload for another number of questions is never stretched to fit."""
    with pytest.raises(ValueError, match=r"flag|number|gap"):
        decode_bits(data, 10)


@settings(max_examples=60, deadline=None)
@given(st.lists(chains, min_size=1, max_size=MOST_BINDINGS), st.sampled_from(NAMES))
def test_bindings_are_read_as_written(gaps: list[tuple[Name, ...]], name: Name) -> None:
    """Names that the plan lacks come back as one other name."""
    bindings = [((1, gap), (2, (name,))) for gap in gaps]
    written = encode_bindings([(0, [()]), (1, bindings)], PLAN)
    read = list(decode_bindings(written, PLAN, DEPTH))
    known = [tuple(each if each in NAMES else OTHER for each in gap) for gap in gaps]
    assert read == [(0, ()), *[(1, ((1, gap), (2, (name,)))) for gap in known]]


def test_an_unknown_name_is_not_sent_for_a_wildcard_that_restricts_names() -> None:
    """``*:a`` cannot stand for a name of which only is known that no row mentions it.

    Such a binding would make the receiver refuse all annotations of the document.
    """
    other = ((1, ()), (2, (("urn:x", "a"),)))
    assert encode_bindings([(2, [other])], PLAN) == b""
    known = ((1, ()), (2, (("", "a"),)))
    written = encode_bindings([(2, [other, known])], PLAN)
    assert list(decode_bindings(written, PLAN, DEPTH)) == [(2, known)]


@pytest.mark.parametrize(
    "data",
    [
        b"\3\1",  # no such wish
        b"\1\1\0\0\1\1\0\0",  # the same wish twice
        b"\1\1\5\1",  # more names than bytes
        b"\1\1\1\4\0",  # no such name
        b"\1",
        b"\1\1",
        b"\x80",
        b"\1\1\x09" + b"\1" * 12,  # more names than the document has levels
    ],
)
def test_malformed_bindings_are_refused(data: bytes) -> None:
    """Each is a ``ValueError``."""
    with pytest.raises(ValueError, match=r"wish|name|binding|number"):
        list(decode_bindings(data, PLAN, DEPTH))


def test_a_number_of_bindings_costs_nothing_by_itself() -> None:
    """A wish without wildcards has bindings of no bytes, so a hostile count of them is refused at once."""
    with pytest.raises(ValueError, match="bindings of one pattern"):
        list(decode_bindings(b"\0\xff\xff\xff\xff\xff\1", PLAN, DEPTH))


@given(st.dictionaries(st.integers(0, 1), st.integers(0, (1 << 62) - 1)))
def test_positions_are_read_as_written(ends: dict[int, int]) -> None:
    """Large numbers of end tags, too."""
    assert decode_positions(encode_positions(ends), PLAN) == ends


@pytest.mark.parametrize("data", [b"\2\1", b"\0", b"\x80", b"\0\xff"])
def test_malformed_positions_are_refused(data: bytes) -> None:
    """Each is a ``ValueError``."""
    with pytest.raises(ValueError, match=r"chain|number"):
        decode_positions(data, PLAN)

"""Whole numbers in few bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.system import append_varint, read_varint


@given(st.lists(st.integers(0, 2**63)))
def test_numbers_come_back(numbers: list[int]) -> None:
    """Numbers are read as they were written, one behind the other."""
    out = bytearray()
    for number in numbers:
        append_varint(out, number)
    at = 0
    for number in numbers:
        found, at = read_varint(bytes(out), at)
        assert found == number
    assert at == len(out)


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff" * 11])
def test_what_is_no_number_is_refused(data: bytes) -> None:
    """A number that is truncated or too long is an error."""
    with pytest.raises(ValueError, match="number"):
        read_varint(data, 0)

"""Arrow arrays as input and output of batches: sliced, chunked, and with nulls."""

from __future__ import annotations

from array import array

import pyarrow as pa
import pytest

from twigcast.filtering.matching.batches import Bodies, PositionLists


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()], ids=str)
def test_bodies_of_all_kinds(kind: pa.DataType) -> None:
    """A document is the bytes between two offsets, also in a sliced array."""
    bodies = Bodies(pa.array(["<a/>", None, "", "<é/>"], kind))
    assert [bodies[0], bodies[2], bodies[3]] == [b"<a/>", b"", "<é/>".encode()]
    assert list(bodies.valid) == [1, 0, 1, 1]


def test_rows_are_an_arrow_list() -> None:
    """The Arrow array has the given offsets and positions; a row that is not present is null."""
    rows = PositionLists(array("I", [0, 2, 2, 3]).tobytes(), array("I", [4, 5, 6]).tobytes())
    assert rows.to_arrow(3, [True, False, True]).to_pylist() == [[4, 5], None, [6]]
    assert list(rows[0]) == [4, 5]

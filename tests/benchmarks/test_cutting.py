"""The measurements of chunks, on small documents: the ratios are of work that was done."""

from __future__ import annotations

import pytest

from benchmarks.cutting import (
    dense_document,
    measure_huge,
    measure_plan,
    measure_projector,
    measure_scan,
)
from twigcast.document import elements, read


@pytest.mark.parametrize("kind", ["xmark", "dense"])
def test_a_projector_writes_the_document(kind: str) -> None:
    """All bytes are in an output, so that the ratio is that of the most work."""
    outcome = measure_projector(kind, size=1_200_000, rounds=1)
    assert outcome.wrong == ()
    assert outcome.figures["ratio"] > 0
    assert 20 < outcome.figures["bytes_per_element"] < 80


def test_a_scan_finds_pieces_of_the_whole_document() -> None:
    """Sixteen or so."""
    assert measure_scan(size=3_000_000).wrong == ()


@pytest.mark.parametrize("kind", ["xmark", "nitf"])
def test_a_plan_has_a_place_for_each_query(kind: str) -> None:
    """A query is in a chunk, or never matches."""
    outcome = measure_plan(kind, count=30)
    assert outcome.wrong == ()
    assert outcome.figures["targets"] > 0


def test_four_processes_have_the_answers_of_all_copies() -> None:
    """Counted against one copy."""
    outcome = measure_huge(size=3_500_000, piece_bytes=500_000)
    assert outcome.wrong == ()
    assert outcome.figures["answers"] > 0
    assert outcome.figures["worker_megabytes"] > 0


def test_a_dense_document_is_well_formed() -> None:
    """With records of five names."""
    assert {each.local for each in elements(read(dense_document(1)).root)} == {
        "trade", "quote", "order", "fill", "cancel",
    }  # fmt: skip

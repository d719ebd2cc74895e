"""The measurement of chunks on Spark: a tiny run has the answers of a pool, and a wrong answer is noticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import chunks
from benchmarks.auctions import auction_document
from benchmarks.chunks import Size, auction_scheme, measure, summed
from twigcast.chunking import run_queries

TINY = Size(piece_bytes=200_000, part_bytes=100_000, rounds=1)


@pytest.mark.usefixtures("data")
def test_a_tiny_run_has_figures_and_no_wrong_answer(spark: Any, tmp_path: Path) -> None:
    """Spark and the pool agree, and both were timed."""
    file = tmp_path / "auctions.xml"
    file.write_bytes(auction_document(1))
    outcome = measure(spark, lambda step: None, file, 1, TINY)
    assert outcome.wrong == ()
    assert min(outcome.figures.values()) > 0


@pytest.mark.usefixtures("data")
def test_other_answers_are_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One answer less on Spark, or another number of copies, is noticed."""
    file = tmp_path / "auctions.xml"
    file.write_bytes(auction_document(1))
    found = summed(run_queries(file, auction_scheme()))
    less = {query: (count - (query == "3"), *rest) for query, (count, *rest) in found.items()}
    monkeypatch.setattr(chunks, "on_workers", lambda *_: less)
    monkeypatch.setattr(chunks, "in_pool", lambda *_: found)
    outcome = measure(None, lambda step: None, file, 2, TINY)  # type: ignore[arg-type]
    assert len(outcome.wrong) == 4

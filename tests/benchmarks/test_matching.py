"""The measurement: what a round reports, and that it catches wrong answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.files import build
from benchmarks.matching import Chunk, _figures, in_parts, measure_round
from twigcast import Index

WARM = [b"<a><b/></a>"] * 4
UNSEEN = [b"<a/>", b"<a><c/></a>", b"<a><b/><c/></a>"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return build(["/a", "//b", "//c"], tmp_path / "small.tci").path


def test_a_round_gives_times_matches_and_claims(file: Path) -> None:
    """Every chunk has three times, and the documents to be judged come with their positions."""
    done = measure_round(file, WARM, UNSEEN, [0, 2])
    assert all(chunk.bare > 0 and chunk.unseen > 0 and chunk.repeated > 0 for chunk in done.chunks)
    assert done.claimed == {0: [0], 2: [0, 1, 2]}
    assert (done.matches, done.wrong) == (6, ())


def test_rounds_with_the_same_answers_have_the_same_digest(file: Path) -> None:
    """The digest is of the answers, not of the times."""
    assert measure_round(file, WARM, UNSEEN, []).digest == measure_round(file, [], UNSEEN, []).digest


def test_other_answers_have_another_digest(file: Path) -> None:
    """A difference in any document shows."""
    other = [*UNSEEN[:-1], b"<a><b/></a>"]
    assert measure_round(file, WARM, UNSEEN, []).digest != measure_round(file, WARM, other, []).digest


def test_a_miscount_is_a_wrong_answer(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document for which ``count`` says something else is reported."""
    monkeypatch.setattr(Index, "count", lambda self, body: 7)
    assert len(measure_round(file, WARM, UNSEEN, []).wrong) == len(UNSEEN)


def test_a_ratio_is_the_median_over_rounds_and_the_mean_over_chunks(file: Path) -> None:
    """One slow round does not count; one dear chunk does."""
    from dataclasses import replace

    quick = replace(measure_round(file, WARM, UNSEEN, []), chunks=(Chunk(1, 2, 1), Chunk(1, 4, 1)))
    slow = replace(quick, chunks=(Chunk(1, 90, 1), Chunk(1, 90, 1)))
    assert _figures([quick, slow, quick], UNSEEN)["ratio"] == 3


def test_parts_hold_all_documents_in_order() -> None:
    """The parts are what the bare parser and the index are both given."""
    parts = in_parts(UNSEEN, 2)
    assert [body for part in parts for body in part.array.to_pylist()] == UNSEEN
    starts, ends, data = parts[0].extents
    assert [data[start:end] for start, end in zip(starts, ends, strict=True)] == UNSEEN[:2]

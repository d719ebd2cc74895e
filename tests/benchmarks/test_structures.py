"""The measurement of structures: what a round reports, and that it catches wrong answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.files import build
from benchmarks.structures import StructureRound, Times, figures, name_table, structure_round
from twigcast import Index
from twigcast.document import NameTable
from twigcast.workload import news

WARM = [b"<a><b/></a>"] * 4
UNSEEN = [b"<a/>", b"<a><c/></a>", b"<a><b/><c/></a>"]
NAMES = NameTable((("", "a"), ("", "b"), ("", "c")))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return build(["/a", "//b", "//c"], tmp_path / "small.tci").path


def test_a_round_gives_times_and_sizes(file: Path) -> None:
    """Each chunk has three times, and structures with a table are smaller."""
    done = structure_round(file, NAMES, WARM, UNSEEN)
    assert all(min(each.match, each.with_structure, each.from_structure) > 0 for each in done.unseen)
    assert len(done.unseen) == len(done.repeated) == len(UNSEEN)
    assert done.bytes_numbered == sum(len(Index([]).structure(body, NAMES)) for body in UNSEEN)
    assert done.bytes_named == sum(len(Index([]).structure(body)) for body in UNSEEN)
    assert done.wrong == ()


def test_a_wrong_answer_is_reported(tmp_path: Path) -> None:
    """A value test leaves a subscription open, which counts as wrong in these workloads."""
    file = build(["/a", "//b[@x='1']"], tmp_path / "valued.tci").path
    done = structure_round(file, NAMES, WARM, UNSEEN)
    assert done.wrong == ("unseen document 2: its structure has another answer",)


def test_a_ratio_is_the_median_over_rounds_and_the_sum_over_chunks() -> None:
    """One slow round does not count; one dear chunk does."""
    quick = StructureRound((Times(1, 1.1, 0.2), Times(1, 1.3, 0.6)), (Times(1, 1, 0.1),) * 2, 20, 10, ())
    slow = replace(quick, unseen=(Times(1, 9, 9), Times(1, 9, 9)))
    found = figures([quick, slow, quick], 2, 1000)
    assert found["of_match"] == pytest.approx(0.4)
    assert found["writing_ratio"] == pytest.approx(1.2)
    assert found["of_repeated_match"] == pytest.approx(0.1)
    assert (found["percent_of_body"], found["percent_with_names"]) == (1.0, 2.0)


def test_a_table_has_the_names_of_a_schema() -> None:
    """Each element of the schema once."""
    assert ("", "headline") in name_table(news()).names
    assert len(name_table(news()).names) == len(news().elements)

"""The experiments on chunking, at a small part of their size: answers are those of whole documents."""

from __future__ import annotations

import pytest

from experiments import EXPERIMENTS
from experiments.chunking import trials
from experiments.chunking.scenarios import deployment_scenario, university_scenario
from twigcast.document import element_ranges

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("data")]

SMALL = 0.02
LARGE = 0.0002
QUICK = ("chunking/table-a3", "chunking/large")
NAMES = [
    pytest.param(name, marks=pytest.mark.slow if name in QUICK else pytest.mark.soak)
    for name in EXPERIMENTS
    if name.startswith("chunking/")
]


@pytest.fixture(autouse=True)
def _one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times do not matter here."""
    monkeypatch.setattr(trials, "ROUNDS", 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_small_run_has_the_answers_of_whole_documents(name: str) -> None:
    """No answer is wrong, and every row is as wide as its columns."""
    made = EXPERIMENTS[name].run(LARGE if name == "chunking/large" else SMALL)
    assert made.wrong == ()
    assert made.charts
    assert made.bars
    for table in made.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)} == {len(set(table.columns))}


def test_the_university_has_the_sizes_of_the_paper() -> None:
    """A tenth of the document has a tenth of 4,969 KB."""
    assert len(university_scenario(0.1, "mixed").body) == pytest.approx(496_900, rel=0.1)


def test_the_descriptor_has_the_elements_of_the_paper() -> None:
    """The root, the two sections with their 3,972 and 681 elements, by ancestors that chunks have too."""
    count = len(element_ranges(deployment_scenario(1.0).body)) // 16
    assert count == pytest.approx(3972 + 681, rel=0.02)

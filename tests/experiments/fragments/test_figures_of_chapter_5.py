"""The experiments on fragments, at a small part of their size: answers are those of whole documents."""

from __future__ import annotations

import pytest

from experiments import EXPERIMENTS
from experiments.fragments import trials
from experiments.fragments.documents import DBLP, XMARK, dblp, xmark
from experiments.fragments.query_sets import query_set
from twigcast.document import read
from twigcast.filtering import Index
from twigcast.pattern import matches, parse

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("data")]

SMALL = 0.03
QUICK = ("fragments/fig-5-10", "fragments/fig-5-14")
NAMES = [
    pytest.param(name, marks=pytest.mark.slow if name in QUICK else pytest.mark.soak)
    for name in EXPERIMENTS
    if name.startswith("fragments/")
]


@pytest.fixture(autouse=True)
def _one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times do not matter here."""
    monkeypatch.setattr(trials, "ROUNDS", 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_small_run_has_the_answers_of_whole_documents(name: str) -> None:
    """No answer is wrong, and every row is as wide as its columns."""
    made = EXPERIMENTS[name].run(SMALL)
    assert made.wrong == ()
    assert made.charts
    assert made.bars
    for table in made.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)} == {len(set(table.columns))}


def test_table_5_1_on_xmark(data: object) -> None:
    """Q1 to Q4 match the published document, Q5− to Q8− do not."""
    index = Index()
    index.add_all((name, parse(text)) for name, text in XMARK.items())
    assert set(index.match(xmark(0.1).body).ids) == {name for name in XMARK if not name.endswith("−")}


def test_table_5_1_on_dblp() -> None:
    """The generated document has the answers that the thesis prints."""
    document = read(dblp(SMALL).body)
    found = {name for name, text in DBLP.items() if matches(parse(text), document)}
    assert found == {name for name in DBLP if not name.endswith("−")}


def test_xmark_is_multiplied_without_other_changes() -> None:
    """At a tenth it is the published document; its fragments are 34 ± 2 at any size."""
    small, large = xmark(0.1), xmark(0.2)
    assert (small.elements, large.elements) == (17_131, 2 * (17_131 - 13) + 13)
    assert [abs(len(feed.parts()) - 34) <= 2 for feed in (small, large)] == [True, True]


def test_query_sets_have_the_share_that_is_asked_for() -> None:
    """Half of ten queries have no match."""
    feed = xmark(0.1)
    queries = query_set(feed, 10, 0.5)
    index = Index()
    index.add_all((name, parse(text)) for name, text in queries.items())
    assert (len(queries), len(index.match(feed.body).ids)) == (10, 5)

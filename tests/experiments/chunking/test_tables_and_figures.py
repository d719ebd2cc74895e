"""The experiments on chunking, at a small part of their size: answers are those of the whole document."""

from __future__ import annotations

import pytest

from experiments import EXPERIMENTS
from experiments.chunking import trials
from experiments.chunking.scenarios import (
    COUNTS,
    DEPLOYMENT_SHARES,
    LIGHTEST_LAST,
    MEMBER_KILOBYTES,
    deployment_queries,
    deployment_scenario,
    member_queries,
    university_scenario,
)
from twigcast.chunking import ChunkQuery, plan
from twigcast.document import elements, read

SMALL = 0.01
NEEDS_DATA = ("chunking/recursion", "chunking/large")
NAMES = [
    pytest.param(name, marks=[pytest.mark.slow, *([pytest.mark.data] if name in NEEDS_DATA else [])])
    for name in EXPERIMENTS
    if name.startswith("chunking/")
]


@pytest.fixture(autouse=True)
def _one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times do not matter here."""
    monkeypatch.setattr(trials, "ROUNDS", 1)
    monkeypatch.setattr(trials, "MOST_COMPARED", 20)


@pytest.mark.parametrize("name", NAMES)
def test_a_small_run_has_the_answers_of_the_whole_document(name: str, request: pytest.FixtureRequest) -> None:
    """No answer is wrong, every row is as wide as its columns, and one table has the line of ``Index``."""
    if name in NEEDS_DATA:
        request.getfixturevalue("data")
    made = EXPERIMENTS[name].run(SMALL)
    assert made.wrong == ()
    assert made.charts
    assert not [name for chart in made.charts for name in chart.series if "paper" in name]  # they are hollow
    assert made.bars
    for table in made.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)} == {len(set(table.columns))}
    words = [str(word) for table in made.tables for word in (*table.columns, *(row[0] for row in table.rows))]
    assert any(word.startswith("Index") for word in words)


def test_the_university_has_the_sizes_of_the_paper() -> None:
    """Each kind of record has its share of the bytes, within a record or a twentieth."""
    body = university_scenario(0.05, "in sequence").body
    sizes = dict.fromkeys(MEMBER_KILOBYTES, 0)
    for record in elements(read(body).root):
        sizes[record.local] += record.end - record.start
    for kind, kilobytes in MEMBER_KILOBYTES.items():
        assert sizes[kind] == pytest.approx(1024 * 0.05 * kilobytes, rel=0.05)


@pytest.mark.parametrize("amount", COUNTS)
def test_queries_have_the_shares_of_the_paper(amount: int) -> None:
    """Three in ten have a ``//``, three in ten a filter, and the last kind of figure 10 has the fewest."""
    texts = member_queries(university_scenario(0.01, "mixed"), amount, 1.0)
    assert len(texts) == amount
    assert sum("//" in text for text in texts) == pytest.approx(0.3 * amount, abs=5)
    assert sum("[" in text for text in texts) == pytest.approx(0.3 * amount, abs=5)
    counts = {kind: sum(f"/{kind}" in text for text in texts) for kind in MEMBER_KILOBYTES}
    assert min(counts, key=counts.__getitem__) == LIGHTEST_LAST[amount][-1]


@pytest.mark.parametrize(("chunks", "left"), [(5, 0), (4, 1), (3, 2)])
def test_kinds_of_the_university_without_a_prefix_are_the_rest(chunks: int, left: int) -> None:
    """With five prefixes nothing is left, with four one kind of record, with three two."""
    scenario = university_scenario(SMALL, "mixed")
    queries = [ChunkQuery(n, text) for n, text in enumerate(member_queries(scenario, 100, 1.0))]
    scheme = plan(queries, scenario.graph, chunks=chunks)
    kinds = {
        target.path[1][1]
        for chunk in scheme.chunks
        if chunk.prefix is None
        for targets in chunk.targets.values()
        for target in targets
    }
    assert len(kinds) == left


def test_queries_on_the_descriptor_name_one_kind_each() -> None:
    """Their shares are those of appendix A3."""
    texts = deployment_queries(deployment_scenario(0.05), 100, 1.0)
    counts = {kind: sum(f"/{kind}" in text for text in texts) for kind in DEPLOYMENT_SHARES}
    for kind, share in DEPLOYMENT_SHARES.items():
        assert counts[kind] == pytest.approx(share, abs=2)

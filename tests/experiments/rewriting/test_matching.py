"""The experiment on matching."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from experiments import EXPERIMENTS
from experiments.findings import unwatched
from experiments.rewriting import matching
from experiments.rewriting.publishers import catalogues

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("data")]


@pytest.fixture
def _catalogues_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The schemas of invoices are large: the catalogues stand for them."""
    monkeypatch.setattr(matching, "invoices", catalogues)
    return


@pytest.mark.slow
@pytest.mark.usefixtures("_catalogues_only")
def test_a_small_run_meets_the_bars_of_the_catalogues() -> None:
    """Pairs do not depend on the scale, so the bars are met in a small run, too."""
    found = EXPERIMENTS["rewriting/matching"].run(0.05, unwatched)
    assert all(bar.met for bar in found.bars)
    for table in found.tables:
        assert table.why
        assert {len(row) for row in table.rows} == {len(table.columns)}


@pytest.mark.slow
def test_the_right_pairs_give_the_right_deliveries() -> None:
    """Where all pairs of a publisher are right, all deliveries are."""
    domain = catalogues()
    outcome = matching._domain(domain, 30, unwatched, "catalogues")["names, thesaurus, values"]
    right = all(outcome.proposals[each.name] == each.pairs for each in domain.publishers)
    assert (outcome.pairs.f1 == 1.0) == right
    assert not right or outcome.deliveries.f1 == 1.0

"""Every figure and table of the routing paper, at a small part of its size."""

from __future__ import annotations

import pytest

from experiments import EXPERIMENTS, Findings
from experiments.routing import table_3
from experiments.routing.networks import SEVEN

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("data")]

ROUTING = sorted(name for name in EXPERIMENTS if name.startswith("routing/"))
SCALES = {"routing/fig-9": 0.02, "routing/table-2": 0.02}
SMALL = 0.002


@pytest.fixture(scope="module")
def findings() -> dict[str, Findings]:
    """Each experiment is run once, when it is first asked for."""
    return {}


@pytest.fixture(autouse=True)
def _small_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """127 routers take seconds before the first message."""
    monkeypatch.setattr(table_3, "LARGE", SEVEN)


def found(name: str, findings: dict[str, Findings]) -> Findings:
    if name.startswith(("routing/table-2", "routing/table-3", "routing/fig-9")):
        pytest.importorskip("simpy")
    if name not in findings:
        findings[name] = EXPERIMENTS[name].run(SCALES.get(name, SMALL))
    return findings[name]


@pytest.mark.parametrize("name", ROUTING)
def test_a_small_run_has_tables_reasons_and_charts(name: str, findings: dict[str, Findings]) -> None:
    """Rows are as wide as the columns, every table says why it differs, and no answer is wrong."""
    made = found(name, findings)
    assert made.wrong == ()
    assert made.charts
    for table in made.tables:
        assert table.rows
        assert table.why
        assert {len(row) for row in table.rows} == {len(table.columns)}


@pytest.mark.parametrize("name", ["routing/fig-8", "routing/table-2", "routing/table-3"])
def test_what_rests_on_psd_says_that_it_is_reconstructed(name: str, findings: dict[str, Findings]) -> None:
    """The sentence stands with the table."""
    sentences = [sentence for table in found(name, findings).tables for sentence in table.why]
    assert any("reconstruction" in sentence for sentence in sentences)


def test_table_3_has_both_loads(findings: dict[str, Findings]) -> None:
    """XPEs for each subscriber, as the paper says, and in all, as its figures say."""
    first, second = found("routing/table-3", findings).tables
    assert "for each of 64 subscribers" in first.title
    assert "64 XPEs of 64 subscribers together" in second.title
    assert [row[0] for row in first.rows] == [row[0] for row in second.rows]


def test_table_3_floods_every_subscription_without_any_technique(findings: dict[str, Findings]) -> None:
    """At each of the routers, seven here, each of the XPEs is received once."""
    first, _ = found("routing/table-3", findings).tables
    assert first.rows[0][first.columns.index("controls")] == 4 * 2 * 7


def test_fig_9_delivers_no_false_positive(findings: dict[str, Findings]) -> None:
    """Whatever the degree, subscribers get what flooding gives them."""
    network = found("routing/fig-9", findings).tables[1]
    assert {row[network.columns.index("wrong deliveries")] for row in network.rows} == {0}


def test_figures_without_a_clock_are_the_same_again(findings: dict[str, Findings]) -> None:
    """Sets, documents and networks are drawn with seeds."""
    again = EXPERIMENTS["routing/fig-7"].run(SMALL)
    before = found("routing/fig-7", findings)
    assert [table.rows for table in again.tables] == [table.rows for table in before.tables]

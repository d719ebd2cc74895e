"""Pages of findings: numbers, tables, and what is said of a smaller run."""

from __future__ import annotations

import pytest

from experiments.citing import citation
from experiments.findings import Bar, Cell, Experiment, Findings, Table
from experiments.writing import markdown, text

FINDINGS = Findings(
    (Table("Rows", ("set", "rows"), (("A", 12345), ("B", None)), ("They differ.",)),),
    bars=(Bar("rows", 3.0, "≤", 2.0),),
)
EXPERIMENT = Experiment("routing/table-9", "It", lambda scale, watch: FINDINGS, minutes=1)


@pytest.mark.parametrize(
    ("cell", "shown"), [(None, ""), ("a", "a"), (12345, "12,345"), (0.01234, "0.0123"), (4567.8, "4,568")]
)
def test_a_cell_is_short(cell: Cell, shown: str) -> None:
    """Whole numbers in full, others with three figures."""
    assert text(cell) == shown


def test_a_page_has_tables_reasons_and_bars() -> None:
    """Numbers stand to the right; a missed bar is shown as missed."""
    assert markdown(EXPERIMENT, FINDINGS, 1.0).splitlines() == [
        "# It",
        "",
        f"{citation('routing/table-9')}.",
        "",
        "## Rows",
        "",
        "| set | rows |",
        "|---|---:|",
        "| A | 12,345 |",
        "| B |  |",
        "",
        "They differ.",
        "",
        "## Asked for",
        "",
        "| what | figure | bar |  |",
        "|---|---:|---|---|",
        "| rows | 3 | ≤ 2 | MISSED |",
    ]


def test_a_smaller_run_says_so_and_judges_nothing() -> None:
    """A bar is for the full size."""
    page = markdown(EXPERIMENT, FINDINGS, 0.1)
    assert "A run at 0.1 of the paper's size" in page
    assert "MISSED" not in page

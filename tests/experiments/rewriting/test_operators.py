"""The experiment on operators."""

from __future__ import annotations

import pytest

from experiments import EXPERIMENTS

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("data")]


def test_the_dialects_have_the_papers_operators() -> None:
    """148 in all, and the derived ones lead every pair to its place."""
    found = EXPERIMENTS["rewriting/operators"].run()
    assert found.wrong == ()
    assert all(bar.met for bar in found.bars)
    rows = {row[0]: row[1:3] for row in found.tables[0].rows}
    assert rows["Rename"] == (89, 89)
    assert rows["Exchange"] == (2, 2)

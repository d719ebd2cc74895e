"""The experiments on piggybacking, at a small part of their size: they deliver what flooding delivers."""

from __future__ import annotations

import pytest

from experiments import EXPERIMENTS

pytest.importorskip("simpy", reason="the extra simulator is not installed")

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("data"), pytest.mark.slow]

SMALL = 0.002
QUICK = ("piggyback/throughput",)
NAMES = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.soak)
    for name in EXPERIMENTS
    if name.startswith("piggyback/")
]


@pytest.mark.parametrize("name", NAMES)
def test_a_small_network_delivers_as_flooding_does(name: str) -> None:
    """No delivery is wrong, and every row is as wide as its columns."""
    made = EXPERIMENTS[name].run(SMALL)
    assert made.wrong == ()
    assert made.bars
    for table in made.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}

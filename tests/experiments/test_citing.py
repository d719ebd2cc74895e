"""Citations: the figure or table of a paper that an experiment repeats."""

from __future__ import annotations

import pytest

from experiments.catalogue import EXPERIMENTS
from experiments.citing import PAPERS, THESIS, citation


@pytest.mark.parametrize(
    ("name", "cited"),
    [
        ("routing/fig-6", f"Figure 6 of {PAPERS['routing']}"),
        ("routing/table-3", f"Table 3 of {PAPERS['routing']}"),
        ("piggyback/fig-4-5", f"Figure 4.5 of {THESIS}"),
        ("rewriting/fig-6-10b", f"Figure 6.10(b) of {THESIS}"),
        ("rewriting/table-6-2", f"Table 6.2 of {THESIS}"),
        ("chunking/table-a1", f"Table A1 of {PAPERS['chunking']}"),
        ("piggyback/today", f"No figure of a paper; on the subject of {THESIS}"),
    ],
)
def test_a_name_gives_the_number_of_the_figure(name: str, cited: str) -> None:
    """Names of experiments have the numbers of the papers."""
    assert citation(name) == cited


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_cites_a_paper(name: str) -> None:
    """No topic is without its paper."""
    assert any(paper in citation(name) for paper in PAPERS.values())

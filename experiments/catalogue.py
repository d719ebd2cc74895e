"""All experiments by name, such as ``routing/table-3``: the topic of the paper, and the table or figure."""

from __future__ import annotations

from experiments.findings import Experiment
from experiments.rewriting import matching, operators
from experiments.routing import fig_6, fig_7, fig_8, fig_9, table_1, table_2, table_3

EXPERIMENTS: dict[str, Experiment] = {
    each.EXPERIMENT.name: each.EXPERIMENT
    for each in (fig_6, fig_7, fig_8, fig_9, table_1, table_2, table_3, operators, matching)
}

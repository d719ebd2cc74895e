"""All experiments by name: the paper's room, a slash, and the figure or table."""

from __future__ import annotations

from experiments.findings import Experiment
from experiments.routing import fig_6, fig_7, fig_8, fig_9, table_1, table_2, table_3

EXPERIMENTS: dict[str, Experiment] = {
    each.EXPERIMENT.name: each.EXPERIMENT for each in (fig_6, fig_7, fig_8, fig_9, table_1, table_2, table_3)
}

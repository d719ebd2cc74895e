"""All experiments by name, such as ``routing/table-3``: the topic of the paper, and the table or figure."""

from __future__ import annotations

from experiments.findings import Experiment
from experiments.rewriting import (
    fig_6_7,
    fig_6_8_and_9,
    fig_6_10,
    matching,
    operators,
    query,
    seeing,
    table_6_2,
)
from experiments.routing import fig_6, fig_7, fig_8, fig_9, table_1, table_2, table_3

_ONE_EACH = (
    fig_6,
    fig_7,
    fig_8,
    fig_9,
    table_1,
    table_2,
    table_3,
    operators,
    table_6_2,
    matching,
    query,
    seeing,
)
_SEVERAL = (*fig_6_7.EXPERIMENTS, *fig_6_8_and_9.EXPERIMENTS, *fig_6_10.EXPERIMENTS)

EXPERIMENTS: dict[str, Experiment] = {
    each.name: each for each in (*(module.EXPERIMENT for module in _ONE_EACH), *_SEVERAL)
}

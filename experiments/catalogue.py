"""All experiments by name, such as ``routing/table-3``: the topic of the paper, and the table or figure."""

from __future__ import annotations

from experiments.chunking import fig_10, fig_11, fig_12, large, recursion, table_a1, table_a3
from experiments.findings import Experiment
from experiments.fragments import earliness, fig_5_9, fig_5_10, fig_5_11, fig_5_12, fig_5_13, fig_5_14
from experiments.piggyback import fig_4_4, fig_4_5, fig_4_6, fig_4_7, fig_4_8, size, throughput, today
from experiments.rewriting import (
    fig_6_7a,
    fig_6_7b,
    fig_6_8a,
    fig_6_8b,
    fig_6_9a,
    fig_6_9b,
    fig_6_10a,
    fig_6_10b,
    matching,
    operators,
    query,
    seeing,
    table_6_2,
)
from experiments.routing import cut_through, fig_6, fig_7, fig_8, fig_9, table_1, table_2, table_3

_CHUNKING = (table_a1, fig_10, fig_11, table_a3, fig_12, large, recursion)
_FRAGMENTS = (fig_5_9, fig_5_10, fig_5_11, fig_5_12, fig_5_13, fig_5_14, earliness)
_PIGGYBACK = (fig_4_4, fig_4_5, fig_4_6, fig_4_7, fig_4_8, size, throughput, today)
_ROUTING = (fig_6, fig_7, fig_8, fig_9, table_1, table_2, table_3, cut_through)
_REWRITING = (
    operators,
    *(fig_6_7a, fig_6_7b, fig_6_8a, fig_6_8b, fig_6_9a, fig_6_9b, fig_6_10a, fig_6_10b),
    *(table_6_2, matching, query, seeing),
)

_ALL = (*_ROUTING, *_PIGGYBACK, *_FRAGMENTS, *_REWRITING, *_CHUNKING)

EXPERIMENTS: dict[str, Experiment] = {each.EXPERIMENT.name: each.EXPERIMENT for each in _ALL}

"""The tables and figures of the papers, made again: one file for each, its result beside the paper's.

    experiment = EXPERIMENTS["routing/table-3"]
    findings = experiment.run(scale=0.1)
    findings.tables, findings.charts, findings.bars

``python -m experiments`` shows them.
"""

from experiments.catalogue import EXPERIMENTS
from experiments.findings import Bar, Chart, Experiment, Findings, Table, Watch, unwatched

__all__ = [
    "EXPERIMENTS",
    "Bar",
    "Chart",
    "Experiment",
    "Findings",
    "Table",
    "Watch",
    "unwatched",
]

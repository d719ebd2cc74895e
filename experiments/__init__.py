"""Experiments that repeat the tables and figures of the papers, one file for each.

    experiment = EXPERIMENTS["routing/table-3"]
    findings = experiment.run(scale=0.1)
    findings.tables, findings.charts, findings.bars

``python -m experiments`` runs them and prints the paper's figures beside ours.
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

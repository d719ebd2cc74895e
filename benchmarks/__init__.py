"""Benchmarks on named, seeded workloads: ratios to a bare parse of the same bytes, with checked answers.

    for result in run(default_names(), print):
        print(result.name, result.value, result.bar, result.met)

``python -m benchmarks`` runs them; ``python -m benchmarks.agreement`` compares the answers for published
subscriptions with those of lxml.
"""

from benchmarks.catalogue import BENCHMARKS, GROUPS, default_names, named, run
from benchmarks.results import LABELS, Bar, Benchmark, Outcome, Result

__all__ = [
    "BENCHMARKS",
    "GROUPS",
    "LABELS",
    "Bar",
    "Benchmark",
    "Outcome",
    "Result",
    "default_names",
    "named",
    "run",
]

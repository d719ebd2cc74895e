"""Named, seeded workloads, measured against a bare parse of the same bytes, with their answers checked.

    for result in run(default_names(), print):
        print(result.name, result.value, result.bar, result.met)

``python -m benchmarks`` shows them; ``python -m benchmarks.agreement`` puts published subscriptions to lxml.
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

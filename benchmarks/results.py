"""What a benchmark is and what comes of it.

A benchmark has one figure that it is about, the headline, and others beside it.  A bar is what the headline
was asked to reach; a bar that is missed is shown as missed.  Only a wrong answer is a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Figures: TypeAlias = Mapping[str, float]
Progress: TypeAlias = Callable[[str], None]

LABELS = {
    "ratio": "unseen",
    "repeated_ratio": "repeated",
    "microseconds_per_document": "µs/doc",
    "bare_microseconds_per_document": "µs bare parse",
    "megabytes_per_second": "MB/s",
    "matches_per_document": "matches",
    "new_label_paths_per_document": "new paths",
    "cache_megabytes": "MB cache",
    "memory_megabytes": "MB memory",
    "cpu_seconds": "s of CPU",
    "most_milliseconds": "ms at most",
    "median_milliseconds": "ms median",
    "first_match_milliseconds": "ms for the first match",
    "next_match_milliseconds": "ms for the next match",
    "resident_megabytes_each": "MB resident each",
    "proportional_megabytes_each": "MB proportional each",
    "cpu_ratio": "times the CPU time of one",
    "documents_per_second_on_one": "documents/s on one",
    "documents_per_second_on_two": "on two",
    "documents_per_second": "documents/s",
    "cached_of_threads": "× from memory",
    "xpath_boolean_documents_per_second": "xpath_boolean (scaled)",
    "lxml_documents_per_second": "lxml in a pandas UDF (scaled)",
    "first_microseconds_per_document": "µs in the first pass",
    "worker_peak_megabytes": "MB a worker at most",
    "worker_proportional_megabytes": "MB proportional",
    "file_megabytes": "MB file",
    "mapped_megabytes_each": "MB mapped each",
    "mapped_proportional_megabytes": "MB mapped in all",
    "workers": "workers",
    "driver_megabytes": "MB driver",
    "jvm_megabytes": "MB JVM",
    "workers_megabytes": "MB all workers",
    "seconds": "s",
    "records": "records",
    "deliveries": "deliveries",
    "receive_ratio_to_positions": "× of matching without ids",
    "receive_microseconds": "µs to receive",
    "match_ids_microseconds": "µs to match with ids",
    "match_microseconds": "µs to match",
    "second_parse_microseconds": "µs for a parse of its own",
    "subscribing_seconds": "s to subscribe",
}
"""What figures beside the headline are called when people read them; matches and paths are per document."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What a figure must not exceed, or must reach."""

    relation: Literal["≤", "≥"]
    limit: float

    def met(self, value: float) -> bool:
        return value <= self.limit if self.relation == "≤" else value >= self.limit

    def __str__(self) -> str:
        return f"{self.relation} {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The figures of one run and the answers in it that were wrong, as sentences."""

    figures: Figures
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A named measurement that never changes its meaning."""

    name: str
    group: str
    description: str
    function: Callable[[Progress], Outcome]
    headline: str
    """The figure that it is about."""
    unit: str
    bar: Bar | None = None
    beside: tuple[str, ...] = ()
    """Further figures that people are shown."""
    optional: bool = False
    """Whether it runs only when it is named, or with all."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a benchmark; ``missing`` says what it lacked if it could not run."""

    benchmark: Benchmark
    figures: Figures
    wrong: tuple[str, ...] = ()
    missing: str | None = None

    @property
    def name(self) -> str:
        return self.benchmark.name

    @property
    def bar(self) -> Bar | None:
        return self.benchmark.bar

    @property
    def value(self) -> float | None:
        """The figure that the benchmark is about; ``None`` where it could not run."""
        return self.figures.get(self.benchmark.headline)

    @property
    def met(self) -> bool | None:
        """Whether the bar was reached; ``None`` where there is none, or nothing to compare with it."""
        return None if self.bar is None or self.value is None else self.bar.met(self.value)

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "name": self.name,
            "group": self.benchmark.group,
            "headline": self.benchmark.headline,
            "value": self.value,
            "unit": self.benchmark.unit,
            "bar": None if self.bar is None else {"relation": self.bar.relation, "limit": self.bar.limit},
            "met": self.met,
            "figures": dict(self.figures),
            "wrong": list(self.wrong),
            "missing": self.missing,
        }

"""What a benchmark is and what comes of it.

A benchmark has one figure that it is about, the headline, and others beside it.  A bar is what the headline was
asked to reach; a bar that is missed is shown as missed.  Only a wrong answer is a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Figures: TypeAlias = Mapping[str, float]
Progress: TypeAlias = Callable[[str], None]

LABELS = {
    "ratio": "× parse unseen",
    "repeated_ratio": "× parse repeated",
    "microseconds_per_document": "µs/document",
    "bare_microseconds_per_document": "µs/document bare parse",
    "megabytes_per_second": "MB/s",
    "matches_per_document": "matches/document",
    "new_label_paths_per_document": "new label paths/document",
    "cache_megabytes": "MB cache",
    "memory_megabytes": "MB process memory",
    "index_bytes_per_subscription": "bytes of index/subscription",
    "pairs_checked": "pairs checked",
    "seconds": "s",
    "cpu_seconds": "s CPU",
    "subscriptions_per_second": "subscriptions/s",
    "bytes_per_subscription": "bytes/subscription",
    "milliseconds": "ms",
    "milliseconds_99th": "ms 99th percentile",
    "median_milliseconds": "ms median",
    "most_milliseconds": "ms at most",
    "first_match_milliseconds": "ms first match",
    "next_match_milliseconds": "ms next match",
    "shared_percent": "% shared",
    "resident_megabytes_each": "MB resident each",
    "proportional_megabytes_each": "MB proportional each",
    "file_megabytes": "MB file",
    "speedup": "× one thread",
    "documents_per_second_on_one": "documents/s on one",
    "documents_per_second_on_two": "documents/s on two",
}
"""What stands behind a figure when people read it."""


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
    headline: str
    """Which of the figures it is about."""
    unit: str
    bar: Bar | None
    function: Callable[[Progress], Outcome]
    optional: bool = False
    """Whether it runs only when it is named, or with all."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a benchmark; ``missing`` says what it lacked if it could not run."""

    name: str
    group: str
    headline: str
    unit: str
    figures: Figures
    bar: Bar | None
    wrong: tuple[str, ...] = ()
    missing: str | None = None

    @property
    def value(self) -> float | None:
        """The figure that the benchmark is about."""
        return self.figures.get(self.headline)

    @property
    def met(self) -> bool | None:
        """Whether the bar was reached; ``None`` where there is none, or nothing to compare with it."""
        return None if self.bar is None or self.value is None else self.bar.met(self.value)

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "name": self.name,
            "group": self.group,
            "headline": self.headline,
            "value": self.value,
            "unit": self.unit,
            "bar": None if self.bar is None else {"relation": self.bar.relation, "limit": self.bar.limit},
            "met": self.met,
            "figures": dict(self.figures),
            "wrong": list(self.wrong),
            "missing": self.missing,
        }

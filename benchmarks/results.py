"""Benchmarks and their results.

A benchmark has one main figure, the headline, and further figures beside it.  A bar is the value that the
headline should reach; a missed bar is shown as missed.  Only a wrong answer is a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Figures: TypeAlias = Mapping[str, float]
Progress: TypeAlias = Callable[[str], None]

LABELS = {
    "second_microseconds": "µs",
    "second_plain_microseconds": "µs without",
    "first_ratio": "first router",
    "first_microseconds": "µs",
    "annotation_bytes": "bytes of annotations",
    "annotation_percent": "% of the document",
    "unread_percent": "% unread",
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
    "documents_per_second_of_lxml": "documents/s of lxml",
    "bytes_per_document": "bytes/doc",
    "nanoseconds_per_byte": "ns/byte of //a",
    "milliseconds": "ms",
    "documents_per_second_on_two": "on two",
    "documents_per_second": "documents/s",
    "documents_per_second_plain": "documents/s in a plain session",
    "documents_per_second_plain_listed_by_spark": "plain, listed by Spark",
    "documents_per_second_twigcast_listed_by_spark": "of twigcast, listed by Spark",
    "documents_per_second_plain_listed_here": "plain, listed by twigcast",
    "documents_per_second_twigcast_listed_here": "of twigcast, listed by twigcast",
    "times_ours_listed_here": "× the time, listed by twigcast",
    "times_ours_listed_by_spark": "× the time, listed by Spark",
    "documents_per_second_as_is": "where nothing matches",
    "documents_per_second_images": "in one schema",
    "of_as_is": "× where nothing matches",
    "documents_per_second_ours": "in a session of twigcast",
    "delivering_of_bodies": "× with the bodies of matching documents",
    "alone_of_bodies": "× by match_structures",
    "documents_per_second_from_bodies": "from bodies",
    "structure_percent": "% of the bytes of the bodies",
    "stored_structure_percent": "% as stored",
    "milliseconds_99th": "ms at the 99th percentile",
    "bytes_per_change": "bytes written for one change",
    "first_seconds": "s for the first version",
    "bytes_for_1": "bytes for 1",
    "bytes_for_10": "for 10",
    "bytes_for_100": "for 100",
    "bytes_for_1000": "for 1,000",
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
    "of_repeated_match": "repeated",
    "writing_ratio": "writing",
    "repeated_writing_ratio": "writing, repeated",
    "bytes_per_structure": "bytes",
    "percent_of_body": "% of body",
    "percent_with_names": "% with names",
    "ratio_to_source": "× of the source without a mapping",
    "factor_of_tree": "× by the tree in Python",
    "factor_of_exported_xslt": "× by the exported stylesheet",
    "microseconds_for_1": "µs/doc for 1 source",
    "microseconds_for_7": "for 7",
    "microseconds_for_40": "for 40",
    "whole_milliseconds": "ms for the whole",
    **{f"join_percent_{size}": "% of it to join" for size in ("64kb", "256kb", "1mb")},
    **{f"partial_bytes_{size}": f"bytes a partial of {size}" for size in ("64kb", "256kb", "1mb")},
    "cutting_ratio_paths": "with label paths",
    "anonymous_megabytes": "MB anonymous",
    "megabytes_per_second_of_pool": "MB/s of two processes",
    "answers": "answers",
    "bytes_per_element": "bytes/element",
    "ratio_to_blocks": "× of a parse in blocks",
    "targets": "targets",
    "seconds_on_one": "s on one thread",
    "seconds_on_two": "s on two",
}
"""The labels of the further figures in tables; matches and paths are per document."""


@dataclass(frozen=True, slots=True)
class Bar:
    """An upper or lower bound on a figure."""

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
    """The result of a benchmark; ``missing`` says which data is missing if it could not run."""

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
        """The headline; ``None`` if the benchmark could not run."""
        return self.figures.get(self.benchmark.headline)

    @property
    def met(self) -> bool | None:
        """Whether the bar was reached; ``None`` if there is no bar or no figure."""
        return None if self.bar is None or self.value is None else self.bar.met(self.value)

    def to_dict(self) -> dict[str, object]:
        """The result as a JSON object."""
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

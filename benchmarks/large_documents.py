"""Measures the memory that a match of a large document needs.

    mapped      Index.match on a mapped file of 1 GB          anonymous memory above the opened index

The file is XMark's published document with the children of its sections repeated.  Memory is read from
``/proc`` every few milliseconds, in a process of its own; mapped pages of the file are not anonymous.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.auctions import PUBLISHED_BYTES, auction_blocks, auction_document
from benchmarks.processes import anonymous_bytes, apart, peak_anonymous_bytes
from benchmarks.results import Bar, Benchmark, Outcome, Progress
from twigcast import DocumentLimits, Index

MAPPED_BYTES = 1_000_000_000
MAPPED_MEGABYTES = Bar("≤", 64)
SUBSCRIPTIONS = (
    "/site/people/person[address/city]/name",
    "//item[location = 'United States']//keyword",
    "//open_auction[bidder/increase]/seller/@person",
    "//person[@id = 'person0']",
    "/site/regions/africa/item[payment]/mailbox/mail",
)


def large_document_benchmarks() -> Iterator[Benchmark]:
    """The benchmarks of the group ``large``."""
    yield Benchmark(
        "mapped-1gb", "large", "Index.match on a mapped file of 1 GB: anonymous memory above the index",
        measure_mapped, "anonymous_megabytes", "MB", MAPPED_MEGABYTES,
        ("cpu_seconds", "megabytes_per_second"), optional=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class MappedRun:
    """What one process took for a mapped file; memory is the peak above what it had with the open index."""

    cpu_seconds: float
    anonymous_bytes: int
    ids: list[object]


@cache
def measure_mapped(progress: Progress = lambda step: None, size: int = MAPPED_BYTES) -> Outcome:
    """Match a mapped file, and compare the answer with that for one copy of its content."""
    index = subscribed()
    with TemporaryDirectory(prefix="twigcast-bench-") as made:
        file = Path(made) / "large.xml"
        progress(f"mapped: writing a file of {size / 1e6:,.0f} MB")
        with file.open("wb") as out:
            out.writelines(auction_blocks(size / PUBLISHED_BYTES))
        progress("mapped: matching it")
        run = apart(mapped_run, file)
        megabytes = file.stat().st_size / 1e6
    is_right = run.ids == index.match(auction_document(1)).ids
    return Outcome(
        {
            "anonymous_megabytes": run.anonymous_bytes / 1e6,
            "cpu_seconds": run.cpu_seconds,
            "megabytes_per_second": megabytes / run.cpu_seconds,
        },
        () if is_right else ("the answer is not that of one copy",),
    )


def mapped_run(file: Path) -> MappedRun:
    """Map a file and match it, in a process that has done nothing else."""
    index = subscribed()
    index.match(b"<site/>")
    with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as body:
        before, began = anonymous_bytes(), time.process_time()
        peak, match = peak_anonymous_bytes(lambda: index.match(body))  # type: ignore[arg-type]
        seconds = time.process_time() - began
        return MappedRun(seconds, peak - before, list(match.ids))


def subscribed() -> Index:
    """An index of a few subscriptions, which takes documents of any size."""
    index = Index(limits=DocumentLimits(bytes=1 << 40))
    for number, text in enumerate(SUBSCRIPTIONS):
        index.add(number, text)
    return index

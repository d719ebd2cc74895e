"""Measures the time of matching as a ratio to the time of parsing alone.

    a round:   open the file ─► warm up ─► parse, parse, match, parse a chunk ─► the next … ─► all of it again
                                                   └─── ratio ───┘                             (repeated)

The bare parse is expat with empty C handlers on the same bytes, right before and after the match it is
compared with, so that a machine that slows down slows both.  Times are CPU times of the one thread, so that
other load on the machine does not count.  The result of a match, positions in an Arrow array, is included in
the time.

A document is unseen only once, so there are several rounds, each in a process of its own with empty caches.
All rounds do the same work.  For each chunk the median over the rounds is taken, and over the chunks the
mean, weighted by their parse times.  Rejected: the median over the chunks, which would hide chunks with many
new label paths.

Answers are checked in the same run: every document's result against ``count``, against the repeated match and
against the other rounds, and a sample of document–subscription pairs against lxml.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, TypeVar

import pyarrow as pa

from benchmarks.bare_parser import BareParser
from benchmarks.files import built
from benchmarks.oracle import NOTHING, judge, sample, tree
from benchmarks.processes import apart, resident_bytes
from benchmarks.results import Outcome, Progress
from benchmarks.workloads import feed, new_label_paths, workload
from twigcast import Index

ROUNDS = 5
MOST_ROUNDS = 25
MEASURED_SECONDS = 0.5
"""The least time on unseen documents over all rounds; a few milliseconds would be mostly noise."""
CHUNKS = 8
REPEATS = 3
CHECKED_DOCUMENTS = 50
CHECKED_PAIRS = 10_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Chunk:
    """CPU seconds for some documents: parsed only, matched unseen, matched again."""

    bare: float
    unseen: float
    repeated: float


@dataclass(frozen=True, slots=True)
class Round:
    """What one process with a fresh index measured."""

    chunks: tuple[Chunk, ...]
    matches: int
    digest: str
    """Of all positions of all documents."""
    claimed: dict[int, list[int]]
    """The positions for the documents that are checked by lxml."""
    wrong: tuple[str, ...]
    cache_bytes: int
    index_bytes: int
    memory_bytes: int
    """The memory that opening the index and matching added to the process, with the mapped file."""


@cache
def measure(name: str, progress: Progress = lambda step: None) -> Outcome:
    """Match the workload's documents; the figures are for all rounds together."""
    progress(f"{name}: drawing documents and subscriptions")
    load = workload(name)
    progress(f"{name}: building the index")
    file = built(name)
    rng = Random(name)
    judged = rng.sample(range(len(load.feed.unseen)), min(CHECKED_DOCUMENTS, len(load.feed.unseen)))
    rounds: list[Round] = []
    measured = 0.0
    while len(rounds) < ROUNDS or (measured < MEASURED_SECONDS and len(rounds) < MOST_ROUNDS):
        progress(f"{name}: round {len(rounds) + 1}")
        rounds.append(apart(measure_round, file.path, load.feed.warm, load.feed.unseen, judged))
        measured += sum(chunk.unseen for chunk in rounds[-1].chunks)
    progress(f"{name}: checking answers")
    wrong = [sentence for each in rounds for sentence in each.wrong]
    if len({each.digest for each in rounds}) > 1:
        wrong.append("the rounds differ in their answers")
    verdict = NOTHING
    for row in judged:
        claimed = rounds[0].claimed[row]
        numbers = sample(rng, range(len(load.subscriptions)), claimed, CHECKED_PAIRS // len(judged))
        document = tree(load.feed.unseen[row])
        verdict += judge(f"unseen document {row}", document, load.subscriptions, claimed, numbers)
    figures = _figures(rounds, load.feed.unseen) | {
        "new_label_paths_per_document": _new_label_paths(name.split("-")[0]),
        "index_bytes_per_subscription": rounds[0].index_bytes / len(load.subscriptions),
        "pairs_checked": verdict.pairs,
    }
    return Outcome(figures, (*wrong, *verdict.wrong))


def measure_round(path: Path, warm: Sequence[bytes], unseen: Sequence[bytes], judged: Sequence[int]) -> Round:
    """Open the index, warm it, and measure the unseen documents chunk by chunk."""
    parts, parser = in_parts(unseen), BareParser()
    warming = in_parts(warm)
    before = resident_bytes()
    index = Index.open(path)

    def parse(part: Part) -> float:
        return cpu_seconds(lambda: parser.parse_batch(*part.extents))[0]

    def match(part: Part) -> tuple[float, Any]:
        seconds, batch = cpu_seconds(lambda: index.match_batch(part.array))
        return seconds, batch.matches

    for part in warming:
        parse(part)
        match(part)
    bare: list[list[float]] = []
    first: list[tuple[float, Any]] = []
    for part in parts:
        times = [parse(part), parse(part)]
        first.append(match(part))
        bare.append([*times, parse(part)])
    memory, cache_bytes = resident_bytes() - before, index.stats().cache_bytes
    again: list[list[float]] = [[] for _ in parts]
    wrong: list[str] = []
    for _ in range(REPEATS):
        for number, part in enumerate(parts):
            bare[number].append(parse(part))
            seconds, matches = match(part)
            again[number].append(seconds)
            if not matches.equals(first[number][1]):
                wrong.append(f"chunk {number}: the repeated match differs from the first")
    found = pa.concat_arrays([matches for _, matches in first])
    wrong += _miscounted(index, unseen, found)
    times_of = zip(bare, first, again, strict=True)
    return Round(
        chunks=tuple(
            Chunk(median(parsed), once, median(repeated)) for parsed, (once, _), repeated in times_of
        ),
        matches=len(found.flatten()),
        digest=_digest(found),
        claimed={row: found[row].as_py() for row in judged},
        wrong=tuple(wrong),
        cache_bytes=cache_bytes,
        index_bytes=index.stats().bytes,
        memory_bytes=memory,
    )


@dataclass(frozen=True, slots=True)
class Part:
    """Some documents, in the forms that the index and the bare parser take."""

    array: Any
    extents: tuple[array[int], array[int], bytes]


def in_parts(documents: Sequence[bytes], count: int = CHUNKS) -> list[Part]:
    """The documents in that many parts, in order."""
    size = max(1, -(-len(documents) // count))
    slices = [documents[start : start + size] for start in range(0, len(documents), size)]
    return [Part(pa.array(each, pa.binary()), _extents(each)) for each in slices]


def cpu_seconds(action: Callable[[], T]) -> tuple[float, T]:
    """The CPU seconds of this thread for an action, and the value of the action."""
    began = time.thread_time()
    value = action()
    return time.thread_time() - began, value


def _figures(rounds: Sequence[Round], documents: Sequence[bytes]) -> dict[str, float]:
    chunks = [_median(same) for same in zip(*(each.chunks for each in rounds), strict=True)]
    bare = sum(chunk.bare for chunk in chunks)
    unseen = sum(chunk.unseen for chunk in chunks)
    return {
        "ratio": unseen / bare,
        "repeated_ratio": sum(chunk.repeated for chunk in chunks) / bare,
        "microseconds_per_document": unseen / len(documents) * 1e6,
        "bare_microseconds_per_document": bare / len(documents) * 1e6,
        "megabytes_per_second": sum(map(len, documents)) / unseen / 1e6,
        "matches_per_document": rounds[0].matches / len(documents),
        "cache_megabytes": median(each.cache_bytes for each in rounds) / 1e6,
        "memory_megabytes": median(each.memory_bytes for each in rounds) / 1e6,
    }


def _median(same: Sequence[Chunk]) -> Chunk:
    """One chunk over all rounds: the median of the ratios, with the median of the bare times."""
    bare = median(chunk.bare for chunk in same)
    return Chunk(
        bare,
        bare * median(chunk.unseen / chunk.bare for chunk in same),
        bare * median(chunk.repeated / chunk.bare for chunk in same),
    )


def _miscounted(index: Index, documents: Sequence[bytes], found: Any) -> list[str]:
    """Documents for which ``count`` and ``match`` differ."""
    lengths = found.value_lengths().to_pylist()
    return [
        f"unseen document {row}: {length} positions, but a count of {index.count(body)}"
        for row, (body, length) in enumerate(zip(documents, lengths, strict=True))
        if index.count(body) != length
    ]


def _digest(found: Any) -> str:
    digest = blake2b(digest_size=16)
    for numbers in (found.value_lengths(), found.flatten()):
        digest.update(memoryview(pa.concat_arrays([numbers]).buffers()[1])[: 4 * len(numbers)])
    return digest.hexdigest()


def _extents(documents: Sequence[bytes]) -> tuple[array[int], array[int], bytes]:
    """The start and end of each document in the concatenation of all documents."""
    ends = array("q", accumulate(map(len, documents)))
    return array("q", [0, *ends[:-1]]), ends, b"".join(documents)


@cache
def _new_label_paths(source: str) -> float:
    return new_label_paths(feed(source).warm, feed(source).unseen)

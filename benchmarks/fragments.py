"""Measures documents in fragments: evaluating spans and joining them, cutting, and one large file on threads.

    whole      Index.match(body)                               the time that spans are compared with
    spans      evaluate each, merge, derive, match             64 KB, 256 KB, 1 MB
    cutting    fragment(body), against a bare parse
    large      match_large(file) on one thread and on two, each in a process of its own

The document is XMark's with the children of its sections ten times over, 11.6 MB; the large file has more
copies.  Variants take turns, so that a machine that slows down slows all of them, and the least CPU time of
each counts.  Every answer is compared with that of the whole document.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.auctions import PUBLISHED_BYTES, auction_blocks, auction_document
from benchmarks.bare_parser import BareParser
from benchmarks.files import build, folder
from benchmarks.matching import cpu_seconds
from benchmarks.processes import apart, peak_bytes, resident_bytes
from benchmarks.results import Bar, Benchmark, Outcome, Progress
from benchmarks.workloads import SIZES, subscriptions
from twigcast import Index
from twigcast.filtering import Partial, PartialMatcher
from twigcast.fragmenting import Fragment, HeaderKind, Spans, fragment, match_large, opening_of
from twigcast.fragmenting.matching.pieces import pieces

COPIES = 10
ROUNDS = 7
SPANS = {"64kb": 64_000, "256kb": 256_000, "1mb": 1_000_000}
LINEAR, BRANCHING, MANY = "linear-10k", "branching-10k", "branching-100k"
SPAN_BARS = {"64kb": Bar("≤", 1.5), "256kb": Bar("≤", 1.3), "1mb": Bar("≤", 1.2)}
PARTIAL_BYTES = {BRANCHING: Bar("≤", 6_000), MANY: Bar("≤", 32_000)}
CUTTING = Bar("≤", 0.15)
LARGE = {"200mb": 200_000_000, "1gb": 1_000_000_000}
SPEEDUP = Bar("≥", 1.7)
PEAK_MEGABYTES = Bar("≤", 300)


def fragment_benchmarks() -> Iterator[Benchmark]:
    """The benchmarks of the group ``fragments``."""
    for name in (LINEAR, BRANCHING, MANY):
        for size, bar in SPAN_BARS.items():
            yield Benchmark(
                f"fragments-{size}-{name}", "fragments", "spans evaluated and joined, to the whole document",
                _spans(name), f"ratio_{size}", "×", bar if name != MANY else None,
                (f"join_percent_{size}", f"partial_bytes_{size}", "whole_milliseconds"),
                optional=name == MANY,
            )  # fmt: skip
    for name, bar in PARTIAL_BYTES.items():
        yield Benchmark(
            f"fragments-partial-{name}", "fragments", "the mean partial of a span of 64 KB", _spans(name),
            "partial_bytes_64kb", "bytes", bar, ("partial_bytes_256kb", "partial_bytes_1mb"),
            optional=name == MANY,
        )  # fmt: skip
    yield Benchmark(
        "fragments-whole-branching-100k", "fragments", "100,000 branching on the whole, to a bare parse",
        _spans(MANY), "whole_ratio", "×", None, ("whole_milliseconds",), optional=True,
    )  # fmt: skip
    yield Benchmark(
        "fragments-cutting", "fragments", "cutting into spans of 256 KB, to a bare parse", measure_cutting,
        "cutting_ratio", "×", CUTTING, ("cutting_ratio_paths", "megabytes_per_second"),
    )  # fmt: skip
    for size in LARGE:
        large = _large(size)
        beside = ("seconds_on_one", "seconds_on_two", "megabytes_per_second")
        yield Benchmark(
            f"fragments-large-{size}", "fragments", "match_large on two threads, to one",
            large, "speedup", "×", SPEEDUP, beside, optional=True,
        )  # fmt: skip
        yield Benchmark(
            f"fragments-memory-{size}", "fragments", "the peak of memory above the opened index, two threads",
            large, "peak_megabytes", "MB", PEAK_MEGABYTES, beside, optional=True,
        )  # fmt: skip


# Spans against the whole document


@dataclass(frozen=True, slots=True)
class SpanRound:
    """CPU seconds of one turn: the bare parse, the whole document, and for each size evaluation and join."""

    bare: float
    whole: float
    spans: dict[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class SpanRun:
    """The turns of one process, the mean bytes of a partial by size, and wrong answers."""

    rounds: tuple[SpanRound, ...]
    partial_bytes: dict[str, float]
    wrong: tuple[str, ...]


@cache
def measure_spans(name: str, progress: Progress = lambda step: None) -> Outcome:
    """The figures for 10,000 or 100,000 subscriptions of a kind, such as ``linear-10k``."""
    progress(f"fragments, {name}: building the index")
    path = index_file(name)
    progress(f"fragments, {name}: spans and the whole document in turns")
    run = apart(span_run, path, auction_document(COPIES), SPANS, ROUNDS)
    return Outcome(span_figures(run), run.wrong)


@cache
def index_file(name: str) -> Path:
    """The file of an index of subscriptions on XMark."""
    kind, size = name.split("-")
    return build(subscriptions("xmark", kind, SIZES[size]), folder() / f"fragments-{name}.tci").path


def span_run(path: Path, body: bytes, sizes: dict[str, int], rounds: int) -> SpanRun:
    """Match a document as a whole and in spans of each size, in turns."""
    index, parser = Index.open(path), BareParser()
    matcher = index.partials()
    extents = array("q", [0]), array("q", [len(body)])
    cuts = {
        size: list(fragment(body, cut=Spans(bytes=bytes), header="prefix")) for size, bytes in sizes.items()
    }
    expected = list(index.match(body).positions)
    wrong: list[str] = []
    partial_bytes = {}
    for size, parts in cuts.items():
        partials = evaluated(matcher, parts)
        partial_bytes[size] = sum(len(each.encode()) for each in partials) / len(partials)
        if list(matcher.match(joined(matcher, partials)).positions) != expected:
            wrong.append(f"spans of {size}: not the answer of the whole document")
    done = []
    for _ in range(rounds):
        bare, _nothing = cpu_seconds(lambda: parser.parse_batch(*extents, body))
        whole, _match = cpu_seconds(lambda: index.match(body))
        spans = {}
        for size, parts in cuts.items():
            evaluation, partials = cpu_seconds(_evaluating(matcher, parts))
            join, _partial = cpu_seconds(_joining(matcher, partials))
            spans[size] = evaluation, join
        done.append(SpanRound(bare, whole, spans))
    return SpanRun(tuple(done), partial_bytes, tuple(wrong))


def span_figures(run: SpanRun) -> dict[str, float]:
    """The ratios of the least times."""
    bare, whole = (min(getattr(each, time) for each in run.rounds) for time in ("bare", "whole"))
    figures = {"whole_milliseconds": 1000 * whole, "whole_ratio": whole / bare}
    for size in run.rounds[0].spans:
        evaluation = min(each.spans[size][0] for each in run.rounds)
        join = min(each.spans[size][1] for each in run.rounds)
        figures[f"ratio_{size}"] = (evaluation + join) / whole
        figures[f"join_percent_{size}"] = 100 * join / whole
        figures[f"partial_bytes_{size}"] = run.partial_bytes[size]
    return figures


def evaluated(matcher: PartialMatcher, parts: list[Fragment]) -> list[Partial]:
    """The partials of all spans of a document, each by itself."""
    opening = opening_of(parts[0]).text or b""
    made = []
    for part in parts:
        contexts = [run.context or () for run in part.runs]
        made.append(matcher.evaluate(part.number, pieces(part, opening, contexts)))
    return made


def joined(matcher: PartialMatcher, partials: list[Partial]) -> Partial:
    """The partial of the whole document."""
    whole = matcher.empty()
    for partial in partials:
        matcher.merge(whole, partial)
    matcher.derive(whole)
    return whole


def _evaluating(matcher: PartialMatcher, parts: list[Fragment]) -> Callable[[], list[Partial]]:
    return lambda: evaluated(matcher, parts)


def _joining(matcher: PartialMatcher, partials: list[Partial]) -> Callable[[], Partial]:
    return lambda: joined(matcher, partials)


# Cutting


@cache
def measure_cutting(progress: Progress = lambda step: None) -> Outcome:
    """Cut the document, with and without label paths, and parse it, in turns."""
    progress("fragments: cutting and parsing in turns")
    body = auction_document(COPIES)
    parser, extents = BareParser(), (array("q", [0]), array("q", [len(body)]))
    cut, with_paths, bare = [], [], []
    for _ in range(ROUNDS):
        bare.append(cpu_seconds(lambda: parser.parse_batch(*extents, body))[0])
        cut.append(cpu_seconds(lambda: _cut(body, "prefix+level"))[0])
        with_paths.append(cpu_seconds(lambda: _cut(body, "prefix+paths"))[0])
    together = b"".join(part.body for part in fragment(body, cut=Spans(bytes=256_000)))
    return Outcome(
        {
            "cutting_ratio": min(cut) / min(bare),
            "cutting_ratio_paths": min(with_paths) / min(bare),
            "megabytes_per_second": len(body) / min(cut) / 1e6,
        },
        () if together == body else ("the spans are not the document",),
    )


def _cut(body: bytes, header: HeaderKind) -> None:
    """Cut a document and keep none of its fragments, as a sender does."""
    for _part in fragment(body, cut=Spans(bytes=256_000), header=header):
        pass


# One large file


@dataclass(frozen=True, slots=True)
class LargeRun:
    """What one process took for a large file: wall seconds, and the peak of memory above the open index."""

    seconds: float
    peak_bytes: int
    positions: list[int]


@cache
def measure_large(size: str, progress: Progress = lambda step: None) -> Outcome:
    """Match a file of a size such as ``200mb`` on one thread and on two, in turns."""
    path = index_file(BRANCHING)
    expected = list(Index.open(path).match(auction_document(1)).positions)
    with TemporaryDirectory(prefix="twigcast-bench-") as made:
        file = Path(made) / "large.xml"
        progress(f"fragments: writing a file of {size}")
        with file.open("wb") as out:
            out.writelines(auction_blocks(LARGE[size] / PUBLISHED_BYTES))
        runs: dict[int, list[LargeRun]] = {1: [], 2: []}
        for turn in range(2):
            for cores, done in runs.items():
                progress(f"fragments: {size} on {cores} threads, turn {turn + 1}")
                done.append(apart(large_run, path, file, cores))
        megabytes = file.stat().st_size / 1e6
    seconds = {cores: min(run.seconds for run in done) for cores, done in runs.items()}
    wrong = [
        f"{size} on {cores} threads: not the answer of one copy"
        for cores, done in runs.items()
        if any(run.positions != expected for run in done)
    ]
    return Outcome(
        {
            "speedup": seconds[1] / seconds[2],
            "seconds_on_one": seconds[1],
            "seconds_on_two": seconds[2],
            "megabytes_per_second": megabytes / seconds[2],
            "peak_megabytes": max(run.peak_bytes for run in runs[2]) / 1e6,
        },
        tuple(wrong),
    )


def large_run(path: Path, file: Path, cores: int) -> LargeRun:
    """Match a file on so many threads, in a process that has done nothing else."""
    index = Index.open(path)
    before = resident_bytes()
    start = time.perf_counter()
    match = match_large(index, file, cores=cores)
    seconds = time.perf_counter() - start
    if match.error is not None:
        raise match.error
    return LargeRun(seconds, peak_bytes() - before, list(match.positions))


def _spans(name: str) -> Callable[[Progress], Outcome]:
    return lambda progress: measure_spans(name, progress)


def _large(size: str) -> Callable[[Progress], Outcome]:
    return lambda progress: measure_large(size, progress)

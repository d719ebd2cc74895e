"""Measures what chunks of a large document cost: the pass, the scan for cut points, the plan, ten gigabytes.

    projector    all bytes into five divided outputs       CPU, in times of a bare parse of the same bytes, at
                                                           once; also of one in the projector's blocks
    cut points   the scan that plans pieces                megabytes of the document for each second of CPU
    plan         2,000 queries of the branching kind       CPU seconds, by the schema alone
    10 GB        17 queries of full XPath, four processes  the largest anonymous memory of a process

A projector that keeps all bytes writes each of them once, so its outputs are compared with the document by
their sizes; the answers for ten gigabytes must be so many times those of one copy as there are copies.
"""

from __future__ import annotations

import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.auctions import PUBLISHED_BYTES, auction_blocks, auction_document, auction_scheme
from benchmarks.bare_parser import BareParser
from benchmarks.processes import apart, peak_anonymous_bytes
from benchmarks.results import Bar, Benchmark, Outcome, Progress
from benchmarks.workloads import data, subscriptions
from twigcast.chunking import ChunkQuery, Scheme, plan, profile, run_queries
from twigcast.document import PIECE_BYTES, DocumentLimits, Projector, cut_points
from twigcast.document.projection.projector import BLOCK
from twigcast.schema import read_dtd

OF_BARE = {"xmark": Bar("≤", 1.25), "dense": Bar("≤", 1.5)}
SCANNED = Bar("≥", 1000)
PLANNED = {"xmark": Bar("≤", 2), "nitf": Bar("≤", 20)}
SCHEMAS = {"xmark": ("xmark/auction.dtd", "site"), "nitf": ("nitf/nitf-2-5.dtd", "nitf")}
WORKER_MEGABYTES = Bar("≤", 512)
QUERIES = 2000
ROUNDS = 5
BYTES = 40_000_000
HUGE_BYTES = 10_000_000_000
WORKERS = 4
UNLIMITED = DocumentLimits(bytes=1 << 62)
RECORDS = ("trade", "quote", "order", "fill", "cancel")


def cutting_benchmarks() -> Iterator[Benchmark]:
    """The benchmarks of chunks that are in the group ``large``."""
    for kind, bar in OF_BARE.items():
        yield Benchmark(
            f"projector-{kind}", "large", "five divided outputs with all bytes, to a bare parse",
            _of(measure_projector, kind), "ratio", "×", bar,
            ("ratio_to_blocks", "megabytes_per_second", "bytes_per_element"),
        )  # fmt: skip
    yield Benchmark(
        "cut-points", "large", "the scan that finds where a document can be cut", measure_scan,
        "megabytes_per_second", "MB/s", SCANNED,
    )  # fmt: skip
    for kind, bar in PLANNED.items():
        yield Benchmark(
            f"plan-{kind}-2k", "large", "the plan of 2,000 branching queries by a schema",
            _of(measure_plan, kind), "cpu_seconds", "s", bar, ("targets",),
        )  # fmt: skip
    yield Benchmark(
        "chunks-10gb", "large", "17 queries of full XPath on 10 GB, four processes: the largest of them",
        measure_huge, "worker_megabytes", "MB", WORKER_MEGABYTES,
        ("seconds", "megabytes_per_second", "answers"), optional=True,
    )  # fmt: skip


def _of(function: Callable[[str, Progress], Outcome], kind: str) -> Callable[[Progress], Outcome]:
    return lambda progress: function(kind, progress)


# The pass


@cache
def measure_projector(
    kind: str, progress: Progress = lambda step: None, size: int = BYTES, rounds: int = ROUNDS
) -> Outcome:
    """Cut and parse a document in turns; the least CPU time of each counts."""
    progress(f"projector: {kind}")
    body = auction_document(size / PUBLISHED_BYTES) if kind == "xmark" else dense_document(size)
    scheme = whole_scheme(body, kind)
    parser, extents = BareParser(), (array("q", [0]), array("q", [len(body)]))
    bare, in_blocks, cut, written = [], [], [], 0
    for _ in range(rounds):
        began = time.process_time()
        parser.parse_batch(*extents, body)
        bare.append(time.process_time() - began)
        began = time.process_time()
        parser.parse_batch(*extents, body, BLOCK)
        in_blocks.append(time.process_time() - began)
        began = time.process_time()
        written = projected_bytes(body, scheme)
        cut.append(time.process_time() - began)
    figures = {
        "ratio": min(cut) / min(bare),
        "ratio_to_blocks": min(cut) / min(in_blocks),
        "megabytes_per_second": len(body) / min(cut) / 1e6,
        "bytes_per_element": len(body) / (body.count(b"</") + body.count(b"/>")),
    }
    # What is between records is in no output; the tags of ancestors are in each part.
    is_whole = 0.98 <= written / len(body) <= 1.02
    return Outcome(figures, () if is_whole else (f"{written:,} of {len(body):,} bytes were written",))


def projected_bytes(body: bytes, scheme: Scheme) -> int:
    """Cut a document, block by block, and count the bytes of the outputs."""
    projector = Projector(scheme.decisions(), [True] * len(scheme.chunks), limits=UNLIMITED)
    written = 0
    view = memoryview(body)
    for at in range(0, len(body), BLOCK):
        written += sum(len(each.body) for each in projector.feed(view[at : at + BLOCK]))
    projected = projector.finish()
    if projected.error is not None:
        raise projected.error
    return written + sum(len(each.body) for each in projected.slices)


def whole_scheme(body: bytes, kind: str) -> Scheme:
    """Five divided chunks that have all records of a document."""
    paths = (
        ("/site/regions/*/item", "/site/categories/category", "/site/people/person",
         "/site/open_auctions/open_auction", "/site/closed_auctions/closed_auction")
        if kind == "xmark" else tuple(f"/day/{name}" for name in RECORDS)
    )  # fmt: skip
    queries = [ChunkQuery(path, path) for path in paths]
    return plan(queries, profile=profile([body]))


def dense_document(size: int) -> bytes:
    """Records with many short values: about 30 bytes for each element."""
    random = Random(7)
    records = []
    for number in range(1000):
        name = RECORDS[number % len(RECORDS)]
        time_of_day = f"{random.randrange(10, 24)}:15:{random.random() * 50:06.3f}"
        fields = (
            f"<id>{random.randrange(10**15, 10**16)}</id><price>{random.randrange(10**7) / 100:.2f}</price>"
            f"<volume>{random.randrange(10**6)}</volume>"
            f"<time>2024-03-{1 + number % 28:02}T{time_of_day}Z</time>"
        )
        records.append(f'<{name} party="p{random.randrange(99)}">{fields}</{name}>\n')
    inside = "".join(records).encode()
    return b"<day>" + inside * max(1, size // len(inside)) + b"</day>"


# The scan and the plan


@cache
def measure_scan(progress: Progress = lambda step: None, size: int = 10 * BYTES) -> Outcome:
    """Scan a document in memory, and compare what the pieces have with it."""
    progress("cut points: scanning")
    body = auction_document(size / PUBLISHED_BYTES)
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        pieces = cut_points(body, max(1, len(body) // 16))
        taken.append(time.process_time() - began)
    together = [pieces[0].start, *(piece.end for piece in pieces)]
    is_whole = len(pieces) > 8 and together[0] == 0 and together[-1] == len(body)
    return Outcome(
        {"megabytes_per_second": len(body) / min(taken) / 1e6},
        () if is_whole else ("the pieces are not the document",),
    )


@cache
def measure_plan(kind: str, progress: Progress = lambda step: None, count: int = QUERIES) -> Outcome:
    """Plan queries from text to scheme; each must be placed somewhere, or be one that never matches."""
    progress(f"plan: {kind}")
    texts = subscriptions(kind, "branching", count)
    file, root = SCHEMAS[kind]
    graph = read_dtd(data(file), root)
    began = time.process_time()
    scheme = plan([ChunkQuery(number, text) for number, text in enumerate(texts)], graph)
    seconds = time.process_time() - began
    owned = {query for chunk in scheme.chunks for query in chunk.targets}
    never = {placed.query.id for placed in scheme.queries if placed.never}
    lost = set(range(len(texts))) - owned - never
    targets = sum(len(placed.targets) for placed in scheme.queries)
    return Outcome(
        {"cpu_seconds": seconds, "targets": targets},
        tuple(f"query {number} is in no chunk" for number in sorted(lost)[:3]),
    )


# Ten gigabytes


@cache
def measure_huge(
    progress: Progress = lambda step: None, size: int = HUGE_BYTES, piece_bytes: int = PIECE_BYTES
) -> Outcome:
    """Run the queries on a file in four processes, and count the answers against those of one copy."""
    copies = round(size / PUBLISHED_BYTES)
    with TemporaryDirectory(prefix="twigcast-bench-") as folder:
        file = Path(folder) / "huge.xml"
        progress(f"chunks: writing {size / 1e6:,.0f} MB")
        with file.open("wb") as out:
            out.writelines(auction_blocks(copies))
        progress(f"chunks: {WORKERS} processes on {size / 1e6:,.0f} MB")
        peak, seconds, counts = apart(huge_run, file, piece_bytes)
        size = file.stat().st_size
    once = Counter(answer.query for answer in run_queries(auction_document(1), auction_scheme()))
    wrong = [
        f"query {query}: {counts[query]:,} answers, not {copies:,} times {count:,}"
        for query, count in once.items()
        if counts[query] != copies * count
    ]
    figures = {
        "worker_megabytes": peak / 1e6,
        "seconds": seconds,
        "megabytes_per_second": size / seconds / 1e6,
        "answers": sum(counts.values()),
    }
    return Outcome(figures, tuple(wrong))


def huge_run(file: Path, piece_bytes: int) -> tuple[int, float, Counter[object]]:
    """The peak of a process, the seconds, and the number of answers of each query."""

    def counted() -> Counter[object]:
        answers = run_queries(file, auction_scheme(), cores=WORKERS, piece_bytes=piece_bytes)
        counts = Counter[object](answer.query for answer in answers)
        if answers.error is not None:
            raise answers.error
        return counts

    began = time.perf_counter()
    peak, counts = peak_anonymous_bytes(counted, 0.05, of_workers=True)
    return peak, time.perf_counter() - began, counts

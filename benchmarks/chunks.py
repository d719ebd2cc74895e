"""Measures chunks on Spark: one large document that workers cut and run, against a pool of processes.

    pool     run_queries(file, scheme, cores=2)                                two processes
    Spark    tc.answers(tc.chunks(spark, file, scheme))                local[2], in a session of twigcast

Both cut the same pieces into the same parts and run the same queries with lxml.  They take turns, and the
least elapsed time of each counts, so that a machine that slows down for a while slows both.  The number and
the byte ranges of the answers of each query must be the same in both, and their number so many times that of
the published document as the document has copies of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from benchmarks.auctions import PUBLISHED_BYTES, auction_blocks, auction_document, auction_scheme
from benchmarks.results import Bar, Benchmark, Outcome, Progress
from benchmarks.sparking import CORES, on_spark, require_spark
from experiments.chunking.scenarios import TRUSTED
from twigcast.chunking import Answer, Scheme, run_queries

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OF_POOL = Bar("≥", 0.75)
QUERIES = (
    "/site/people/person[@id = 'person0']/name",
    "/site/open_auctions/open_auction/bidder[1]/increase",
    "/site/open_auctions/open_auction[count(bidder) mod 2 = 1]/reserve",
    "/site/closed_auctions/closed_auction[price >= 40]/price",
    "/site/regions//item/mailbox/mail[last()]/from",
    "//annotation[author]/happiness",
    "/site/people/person[not(homepage)]/name",
    "//item[count(mailbox/mail) > 1]/name",
)

Found: TypeAlias = dict[str, tuple[int, int, int]]
"""By query: the number of answers, and the sums of where they start and end."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a run."""

    bytes: int = 200_000_000
    piece_bytes: int = 16 << 20
    part_bytes: int = 4 << 20
    rounds: int = 3


OFFICIAL = Size()


def chunk_benchmarks() -> Iterator[Benchmark]:
    """The benchmarks of chunks."""
    yield Benchmark(
        "pipeline-chunks", "pipeline",
        "one document of 200 MB in chunks on local[2]: throughput, to that of a pool of two processes",
        chunks, "of_pool", "×", OF_POOL, ("megabytes_per_second", "megabytes_per_second_of_pool", "answers"),
        optional=True,
    )  # fmt: skip


@cache
def chunks(progress: Progress, size: Size = OFFICIAL) -> Outcome:
    """Write the document, and run the queries in both ways."""
    require_spark()
    copies = max(1, round(size.bytes / PUBLISHED_BYTES))
    with TemporaryDirectory(prefix="twigcast-bench-") as folder:
        file = Path(folder) / "auctions.xml"
        progress(f"pipeline-chunks: writing {size.bytes / 1e6:,.0f} MB")
        with file.open("wb") as out:
            out.writelines(auction_blocks(copies))
        return on_spark(measure, progress, {}, file, copies, size)


def measure(spark: SparkSession, progress: Progress, file: Path, copies: int, size: Size) -> Outcome:
    """Take turns, the first of which only warms Spark up."""
    scheme = auction_scheme(QUERIES)
    published = summed(run_queries(auction_document(1), scheme, limits=TRUSTED))
    expected = {query: copies * count for query, (count, _, _) in published.items()}
    seconds: dict[str, list[float]] = {"pool": [], "spark": []}
    wrong: list[str] = []
    for turn in range(size.rounds + 1):
        progress(f"pipeline-chunks: turn {turn} of {size.rounds}")
        began = time.perf_counter()
        by_spark = on_workers(spark, file, scheme, size)
        between = time.perf_counter()
        by_pool = in_pool(file, scheme, size)
        if turn:
            seconds["spark"].append(between - began)
            seconds["pool"].append(time.perf_counter() - between)
        if by_spark != by_pool:
            wrong.append(f"turn {turn}: the answers on Spark are not those of the pool")
        if {query: count for query, (count, _, _) in by_pool.items()} != expected:
            wrong.append(f"turn {turn}: the answers are not {copies} times those of one copy")
    megabytes = file.stat().st_size / 1e6
    least = {way: min(taken) for way, taken in seconds.items()}
    figures = {
        "of_pool": least["pool"] / least["spark"],
        "megabytes_per_second": megabytes / least["spark"],
        "megabytes_per_second_of_pool": megabytes / least["pool"],
        "answers": sum(expected.values()),
    }
    return Outcome(figures, tuple(wrong))


def in_pool(file: Path, scheme: Scheme, size: Size) -> Found:
    """The answers of two processes."""
    answers = run_queries(
        file,
        scheme,
        cores=CORES,
        part_bytes=size.part_bytes,
        piece_bytes=size.piece_bytes,
        limits=TRUSTED,
    )
    found = summed(answers)
    if answers.error is not None or answers.failures:
        raise RuntimeError(f"{file} was not read to its end, or a query failed: {answers.failures}")
    return found


def on_workers(spark: SparkSession, file: Path, scheme: Scheme, size: Size) -> Found:
    """The answers of the workers of Spark; an error is counted as one of its query."""
    from pyspark.sql import functions as F

    from twigcast import spark as tc

    cut = tc.chunks(spark, str(file), scheme, part_bytes=size.part_bytes, piece_bytes=size.piece_bytes)
    sums = (F.count(F.lit(1)), F.sum("start"), F.sum("end"))
    rows = tc.answers(cut, limits=TRUSTED).groupBy("query").agg(*sums).collect()
    return {row[0]: (row[1], row[2], row[3]) for row in rows}


def summed(answers: Iterable[Answer]) -> Found:
    """The answers of a run, by query."""
    found: Found = {}
    for each in answers:
        query = str(each.query)
        count, starts, ends = found.get(query, (0, 0, 0))
        found[query] = count + 1, starts + each.start, ends + each.end
    return found

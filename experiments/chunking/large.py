"""Beyond the paper: queries of full XPath 1.0 on auctions of 1 GB, and with ``--scale 1`` of 10 GB.

    lxml, whole      one process parses the document and runs the queries     up to 1 GB only
    cutting          ``chunk`` writes the chunks as files                     reads the document once
    one process      ``run`` cuts, and runs the queries on each part
    workers          the same with ``cores=4``, each process held to 512 MB of data
    Index, whole     ``Index.match`` on the mapped file                       the queries that it accepts

Each line is a process of its own.  The document is XMark's published one, many times over, so that every
query has so many times its answers: these are what all lines are compared with.
"""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lxml import etree

from benchmarks.auctions import PUBLISHED_BYTES, auction_blocks, auction_document
from benchmarks.processes import apart, peak_anonymous_bytes
from benchmarks.workloads import data
from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch
from twigcast import DocumentLimits, Index
from twigcast.chunking import ChunkQuery, Scheme, chunk, plan, run
from twigcast.errors import PatternError
from twigcast.schema import read_dtd

GIGABYTES = 10
USUAL = 0.1
MOST_OF_LXML = 1.1e9
"""Bytes of the largest document that lxml is given: it takes more than 6 times as much memory."""
WORKERS = 4
WORKER_BYTES = 512 << 20

QUERIES = (
    "/site/people/person[@id = 'person0']/name",
    "/site/open_auctions/open_auction/bidder[1]/increase",
    "/site/open_auctions/open_auction[bidder[1]/increase * 2 <= bidder[last()]/increase]/reserve",
    "/site/open_auctions/open_auction[count(bidder) mod 2 = 1]/reserve",
    "/site/closed_auctions/closed_auction[price >= 40]/price",
    "/site/closed_auctions/closed_auction[sum(quantity) > 1]/itemref",
    "/site/regions//item/mailbox/mail[last()]/from",
    "//annotation[author]/happiness",
    "//emailaddress",
    "/site/regions/australia/item/name",
    "//item[contains(translate(description, 'GOLD', 'gold'), 'gold')]/name",
    "/site/closed_auctions/closed_auction/annotation/description/parlist/listitem//keyword",
    "/site/people/person[not(homepage)]/name",
    "/site/open_auctions/open_auction[reserve * 2.2 > 100]/reserve",
    "/site/regions//item[substring-after(location, ' ') = 'States']/name",
    "/site/people/person[profile/@income >= 60000]/profile",
    "//item[count(mailbox/mail) > 1]/name",
)
Counts = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Line:
    """What one process, or the largest of some workers, took; times in seconds from its start."""

    cpu: float
    elapsed: float
    memory: int
    counts: Counts | None = None
    first: float | None = None
    chunks: int = 0
    written: int = 0
    problems: list[str] = field(default_factory=list)


def run_large(scale: float, watch: Watch) -> Findings:
    """Write the document, and run the queries in each way."""
    copies = max(1, round(scale * GIGABYTES * 1e9 / PUBLISHED_BYTES))
    expected = {number: copies * count for number, count in counted(BytesIO(auction_document(1))).items()}
    lines: dict[str, Line] = {}
    with TemporaryDirectory(prefix="twigcast-large-") as folder:
        file = Path(folder) / "auctions.xml"
        with file.open("wb") as out:
            out.writelines(auction_blocks(copies))
        size = file.stat().st_size
        ways = {
            "lxml, whole": whole_line,
            "cutting": cutting_line,
            "one process": one_process_line,
            f"{WORKERS} workers": workers_line,
            "Index, whole": index_line,
        }
        if size > MOST_OF_LXML:
            del ways["lxml, whole"]
        for name, way in watch(f"{size / 1e9:,.1f} GB", ways.items(), len(ways)):
            lines[name] = apart(way, file)
    wrong = [
        f"{name}, {QUERIES[number]}: {line.counts.get(number, 0):,} answers and not {count:,}"
        for name, line in lines.items()
        if line.counts is not None
        for number, count in expected.items()
        if line.counts.get(number, 0) != count
    ]
    wrong += [f"{name}: {each}" for name, line in lines.items() for each in line.problems]
    return Findings(
        (_table(lines, size, sum(expected.values())),),
        (_chart(lines),),
        (*_bars(lines), Bar("queries with other answers", len(wrong), "=", 0)),
        tuple(wrong),
    )


def _bars(lines: Mapping[str, Line]) -> tuple[Bar, ...]:
    cutting, one, workers = lines["cutting"], lines["one process"], lines[f"{WORKERS} workers"]
    bars = [
        Bar("anonymous memory while cutting, MB", cutting.memory / 1e6, "≤", 64),
        Bar(
            "one process: first answer, of the whole time",
            (one.first or one.elapsed) / one.elapsed,
            "≤",
            0.02,
        ),
    ]
    if whole := lines.get("lxml, whole"):
        bars += [
            Bar("memory of one process, of lxml's on the whole", one.memory / whole.memory, "≤", 1 / 20),
            Bar("memory of a worker, of lxml's on the whole", workers.memory / whole.memory, "≤", 1 / 20),
            Bar("CPU of cutting and running, of lxml's on the whole", one.cpu / whole.cpu, "≤", 1),
        ]
    return tuple(bars)


def _table(lines: Mapping[str, Line], size: int, answers: int) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            *(name, line.cpu, line.elapsed, line.first, line.memory / 1e6),
            *(line.chunks or None, line.written / 1e6 or None),
            sum(line.counts.values()) if line.counts is not None else None,
        )
        for name, line in lines.items()
    ]
    columns = ("way", "CPU s", "s", "first answer s", "memory MB", "chunks", "chunks MB", "answers")
    why = (
        f"{len(QUERIES)} queries with {answers:,} answers; memory is the most anonymous memory of a process.",
        f"Each of the {WORKERS} workers may have {WORKER_BYTES >> 20} MB of data; their CPU time is the sum.",
        "The index takes the queries of the language of subscriptions only, and says which of them match: "
        "it is what to use if no nodes are asked for.",
    )
    return Table(f"{size / 1e9:,.3g} GB", columns, tuple(rows), why)


def _chart(lines: Mapping[str, Line]) -> Chart:
    return Chart(
        "Memory of one process",
        "",
        "MB",
        {"memory": tuple((name, each.memory / 1e6) for name, each in lines.items())},
    )


def scheme() -> Scheme:
    """The scheme for all queries, from the schema of auctions."""
    queries = [ChunkQuery(number, text, engine="lxml") for number, text in enumerate(QUERIES)]
    return plan(queries, read_dtd(data("xmark/auction.dtd"), "site"))


def counted(source: Path | BytesIO) -> Counts:
    """The number of answers of each query by lxml on a whole document."""
    tree = etree.parse(source, etree.XMLParser(huge_tree=True))
    return {number: len(tree.xpath(text)) for number, text in enumerate(QUERIES)}


# Ways, each in a process of its own


def whole_line(file: Path) -> Line:
    """Let lxml parse the document and run the queries."""
    start, began = time.perf_counter(), time.process_time()
    memory, counts = peak_anonymous_bytes(lambda: counted(file))
    return Line(time.process_time() - began, time.perf_counter() - start, memory, counts)


def cutting_line(file: Path) -> Line:
    """Write the chunks as files."""
    planned = scheme()
    with TemporaryDirectory(prefix="twigcast-large-") as folder:
        start, began = time.perf_counter(), time.process_time()
        memory, cut = peak_anonymous_bytes(
            lambda: chunk(file, planned, Path(folder) / "chunks", limits=_ANY_SIZE)
        )
        problems = [str(cut.error)] if cut.error is not None else []
        written = sum(each.bytes for each in cut.chunks)
        return Line(
            *(time.process_time() - began, time.perf_counter() - start, memory),
            chunks=len(cut.chunks), written=written, problems=problems,
        )  # fmt: skip


def one_process_line(file: Path) -> Line:
    """Cut, and run the queries on each part as soon as it is whole."""
    return _run_line(file, cores=1)


def workers_line(file: Path) -> Line:
    """The same in four processes, none of which may have much memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (WORKER_BYTES, WORKER_BYTES))
    return _run_line(file, cores=WORKERS)


def _run_line(file: Path, cores: int) -> Line:
    planned = scheme()
    start = time.perf_counter()
    began = _cpu_seconds()
    found = run(file, planned, cores=cores)
    first: list[float] = []

    def count() -> Counter[int]:
        counts: Counter[int] = Counter()
        for answer in found:
            if not first:
                first.append(time.perf_counter() - start)
            number: Any = answer.query
            counts[number] += 1
        return counts

    memory, counts = peak_anonymous_bytes(count, of_workers=cores > 1)
    problems = [str(each) for each in (found.error, *found.failures.values()) if each is not None]
    return Line(
        *(_cpu_seconds() - began, time.perf_counter() - start, memory, counts, first[0] if first else None),
        chunks=len(planned.chunks), problems=problems,
    )  # fmt: skip


def index_line(file: Path) -> Line:
    """Find the queries that match, by an index."""
    index = Index(limits=_ANY_SIZE)
    for number, text in enumerate(QUERIES):
        try:
            index.add(number, text)
        except PatternError:
            continue
    with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as body:
        start, began = time.perf_counter(), time.process_time()
        memory, _ = peak_anonymous_bytes(lambda: index.match(body))  # type: ignore[arg-type]
        taken = time.process_time() - began, time.perf_counter() - start
    return Line(*taken, memory)


def _cpu_seconds() -> float:
    """The CPU time of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


_ANY_SIZE = DocumentLimits(bytes=1 << 62)

EXPERIMENT = Experiment(
    "chunking/large", "Full XPath on a document of gigabytes", run_large, minutes=6, usual=USUAL
)

"""Beyond the paper: 17 queries of full XPath 1.0 on a document that lxml can hardly hold in memory.

    whole      lxml parses the document and evaluates the queries
    cutting    chunk(document, scheme, folder); the parts are files
    worker     lxml parses part after part and evaluates the queries of its chunk
    run        run_queries(document, scheme): both in one process, answers with byte ranges as they are found
    command    twigcast chunk --into, of which only the memory is of interest
    ten        the projector alone on a stream of ten times the size, which is never written

Each is a process of its own; all but the command also have the modules of the experiments in memory.
Answers are compared by their number and by a checksum of names and texts.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

from lxml import etree

from benchmarks.auctions import (
    FULL_XPATH,
    ITEM,
    OPEN,
    PERSON,
    PUBLISHED_BYTES,
    auction_blocks,
    auction_scheme,
)
from benchmarks.processes import anonymous_bytes, apart, peak_bytes
from benchmarks.workloads import data
from experiments.chunking.scenarios import TRUSTED
from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch
from twigcast.chunking import chunk, run_queries
from twigcast.document import PART_BYTES, DocumentLimits, Projector
from twigcast.filtering import Index

BYTES = 1_000_000_000
BLOCK = 1 << 20
PARTS = 120
"""Parts of the document that a run should have at least, so that a small run has several as well."""
MEGABYTE = 1_000_000
SUBSCRIPTIONS = (f"{PERSON}[profile/age]/name", f"{ITEM}[quantity > 1]/name", f"{OPEN}[bidder/increase > 20]")
"""Queries of the language of subscriptions, for the line of ``Index``."""


@dataclass(frozen=True, slots=True)
class Used:
    """What one process used and found."""

    cpu: float
    seconds: float
    peak: int
    anonymous: int = 0
    before: int = 0
    """Anonymous memory when the work began: the interpreter with its modules, the plan."""
    first: float = 0.0
    parts: int = 0
    answers: tuple[tuple[int, int], ...] = ()
    """Of each query the number of its answers and the sum of their checksums."""


def run_experiment(scale: float, watch: Watch) -> Findings:
    """Generate the document in the folder for temporary files, and measure each way in its own process."""
    size = round(BYTES * scale)
    part_bytes = max(4096, min(PART_BYTES, size // PARTS))
    used: dict[str, Used] = {}
    with TemporaryDirectory(prefix="twigcast-large-") as name:
        folder = Path(name)
        path = folder / "document.xml"
        with path.open("wb") as file:
            file.writelines(auction_blocks(size / PUBLISHED_BYTES))
        size = path.stat().st_size
        steps: dict[str, Callable[[], Used]] = {
            "cutting": lambda: apart(cutting, path, folder / "chunks", part_bytes),
            "worker": lambda: apart(worker, folder / "chunks"),
            "run": lambda: apart(running, path, part_bytes),
            "command": lambda: command(path, folder),
            "lxml, whole": lambda: apart(whole, path),
            "Index, whole": lambda: apart(index, path),
            "projector": lambda: apart(projecting, size / PUBLISHED_BYTES, part_bytes),
            "projector, ten times": lambda: apart(projecting, 10 * size / PUBLISHED_BYTES, part_bytes),
        }
        for step in watch("ways", steps, len(steps)):
            used[step] = steps[step]()
    wrong = [
        f"{FULL_XPATH[number]}: {way} has {ours[0]:,} answers, lxml on the whole document {theirs[0]:,}"
        for way in ("worker", "run")
        for number, (ours, theirs) in enumerate(
            zip(used[way].answers, used["lxml, whole"].answers, strict=True)
        )
        if ours[0] != theirs[0] or (way == "worker" and ours != theirs)
    ]
    return findings(size, part_bytes, used, wrong)


def findings(size: int, part_bytes: int, used: dict[str, Used], wrong: list[str]) -> Findings:
    """The tables and bars of what the processes used."""
    lxml, cut, work, ran = (used[each] for each in ("lxml, whole", "cutting", "worker", "run"))
    small, large = used["projector"], used["projector, ten times"]
    by_command = used["command"].anonymous
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *(way, each.cpu or None, each.seconds),
            *(size / MEGABYTE or None for size in (each.peak, each.anonymous, each.before)),
            *(each.parts or None, 100 * each.first / each.seconds if each.first else None),
            sum(count for count, _ in each.answers) or None,
        )
        for way, each in used.items()
    )
    columns = ("way", "CPU s", "s", "peak MB", "anonymous MB", "before", "parts", "first answer %", "answers")
    why = (
        "The document is XMark's published one with the children of its sections over and over; "
        f"parts have {part_bytes:,} bytes.",
        "Cutting and a worker are two processes, and their CPU times are added up for the bar; run is both "
        "in one, and finds the byte range of each answer as well.",
        "Index answers three other queries, of the language of subscriptions: where queries are of that "
        "language and only the fact of a match is wanted, it needs no chunks.",
    )
    bars = (
        Bar("anonymous memory of twigcast chunk, MB", by_command / MEGABYTE, "≤", 64),
        Bar("of cutting, above the modules, MB", above(cut), "≤", 64),
        Bar("of the projector on ten times the bytes, above the modules, MB", above(large), "≤", 64),
        Bar("the difference to once the bytes, MB", above(large) - above(small), "≤", 8),
        Bar("peak of a worker, of lxml on the whole", work.peak / lxml.peak, "≤", 1 / 20),
        Bar("CPU of cutting and evaluating, of lxml on the whole", (cut.cpu + work.cpu) / lxml.cpu, "≤", 1),
        Bar("first answer, % of the whole time of run", 100 * ran.first / ran.seconds, "≤", 2),
        Bar("queries with other answers", len(wrong), "=", 0),
    )
    memory = tuple((way, each.peak / MEGABYTE) for way, each in used.items() if each.peak)
    return Findings(
        (Table(f"{len(FULL_XPATH)} queries on {size:,} bytes", columns, rows, why),),
        (Chart("Peak memory", "", "MB", {"peak": memory}),),
        bars,
        tuple(wrong),
    )


def above(used: Used) -> float:
    """The megabytes of anonymous memory that a process needed beside its modules."""
    return (used.anonymous - used.before) / MEGABYTE


def cutting(path: Path, folder: Path, part_bytes: int) -> Used:
    """Write the chunks as files."""
    scheme, most = auction_scheme(), [0]
    before = anonymous_bytes()
    limits = DocumentLimits(bytes=1 << 62)
    start, cpu = time.perf_counter(), time.process_time()
    cut = chunk(
        blocks(path), scheme, folder, part_bytes=part_bytes, limits=limits, progress=lambda _: _note(most)
    )
    if cut.error is not None:
        raise cut.error
    parts = sum(len(each.parts) for each in cut.chunks)
    return Used(
        time.process_time() - cpu, time.perf_counter() - start, peak_bytes(), max(most), before, parts=parts
    )


def command(path: Path, folder: Path) -> Used:
    """Write chunks for three queries by the command, whose memory is looked at from here."""
    queries = folder / "queries.txt"
    queries.write_text("\n".join(SUBSCRIPTIONS), encoding="utf-8")
    schema = str(data("xmark/auction.dtd"))
    words = ["chunk", str(path), "--queries", str(queries), "--schema", schema, "--root", "site"]
    most, start = 0, time.perf_counter()
    made = folder / "by-command"
    with subprocess.Popen(
        [sys.executable, "-m", "twigcast", *words, "--into", str(made)], stdout=subprocess.DEVNULL
    ) as process:
        while process.poll() is None:
            most = max(most, anonymous_bytes(process.pid))
            time.sleep(0.005)
    if process.returncode:
        raise RuntimeError(f"twigcast chunk ended with {process.returncode}")
    parts = len(list(made.glob("*/*.xml")))
    rmtree(made)
    return Used(0.0, time.perf_counter() - start, 0, most, parts=parts)


def worker(folder: Path) -> Used:
    """Evaluate the queries of each chunk on its parts, one after the other."""
    found = [(0, 0)] * len(FULL_XPATH)
    start, cpu = time.perf_counter(), time.process_time()
    for each in auction_scheme().chunks:
        compiled = {number: etree.XPath(FULL_XPATH[number]) for number in each.targets}
        for part in sorted((folder / f"{each.number:02}-{each.name}").glob("*.xml")):
            tree = etree.parse(part, etree.XMLParser(huge_tree=True))
            for number, query in compiled.items():
                found[number] = _added(found[number], query(tree))
    return Used(time.process_time() - cpu, time.perf_counter() - start, peak_bytes(), answers=tuple(found))


def running(path: Path, part_bytes: int) -> Used:
    """Cut and evaluate in one pass; the time of the first answer is noted."""
    counts, first = [0] * len(FULL_XPATH), 0.0
    start, cpu = time.perf_counter(), time.process_time()
    made = run_queries(lambda: blocks(path), auction_scheme(), part_bytes=part_bytes, limits=TRUSTED)
    for answer in made:
        first = first or time.perf_counter() - start
        counts[int(str(answer.query))] += 1
    if made.error is not None:
        raise made.error
    answers = tuple((count, 0) for count in counts)
    seconds = time.perf_counter() - start
    return Used(
        time.process_time() - cpu, seconds, peak_bytes(), first=first, parts=made.parts, answers=answers
    )


def whole(path: Path) -> Used:
    """Let lxml parse the document and evaluate the queries."""
    start, cpu = time.perf_counter(), time.process_time()
    tree = etree.parse(path, etree.XMLParser(huge_tree=True))
    found = tuple(_added((0, 0), etree.XPath(text)(tree)) for text in FULL_XPATH)
    return Used(time.process_time() - cpu, time.perf_counter() - start, peak_bytes(), answers=found)


def index(path: Path) -> Used:
    """Match the document with an index."""
    ready = Index(limits=DocumentLimits(bytes=1 << 62))
    ready.add_all(enumerate(SUBSCRIPTIONS))
    start, cpu = time.perf_counter(), time.process_time()
    ready.match(path.read_bytes())
    return Used(time.process_time() - cpu, time.perf_counter() - start, peak_bytes())


def projecting(copies: float, part_bytes: int) -> Used:
    """Cut a stream that is generated on the way, and drop what is cut."""
    scheme = auction_scheme()
    divided = [each.is_divided for each in scheme.chunks]
    projector = Projector(scheme.decisions(), divided, part_bytes, DocumentLimits(bytes=1 << 62))
    most, parts, before = [0], 0, anonymous_bytes()
    start, cpu = time.perf_counter(), time.process_time()
    for block in auction_blocks(copies):
        parts += sum(each.is_last for each in projector.feed(block))
        _note(most)
    projected = projector.finish()
    if projected.error is not None:
        raise projected.error
    return Used(
        time.process_time() - cpu, time.perf_counter() - start, peak_bytes(), max(most), before, parts=parts
    )


def blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, a megabyte at a time."""
    with path.open("rb", buffering=0) as file:
        yield from iter(lambda: file.read(BLOCK), b"")


def _note(most: list[int]) -> None:
    most[0] = max(most[0], anonymous_bytes())


def _added(before: tuple[int, int], answers: Any) -> tuple[int, int]:
    """The number and the checksum with further answers: an element's name and text, or an attribute."""
    count, total = before
    for each in answers:
        text = each if isinstance(each, str) else "".join(chain((each.tag,), each.itertext()))
        count, total = count + 1, total + crc32(text.encode())
    return count, total


EXPERIMENT = Experiment("chunking/large", "A document that does not fit in memory", run_experiment, minutes=8)

"""Measures structures of documents: what writing one adds to a match, and what matching one costs instead.

    reader     match(body)                    the time that the other two are compared with
    writer     match_with_structure(body)     the first router
    receiver   match_structure(structure)     a router behind it, which never sees a body

The three have an index each, so that each has the caches that its own documents fill.  A chunk of documents
goes through all three, one after the other, so that a machine that slows down slows all; times are CPU times.
As in ``matching``, each round is a process of its own, the median over the rounds is taken for each chunk,
and the sum over the chunks.

Answers are checked in the same run: what a structure shows to match, and nothing else, is what the document
matches, since the subscriptions have no value tests; and the writer's matches are the reader's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

from benchmarks.files import built
from benchmarks.matching import cpu_seconds
from benchmarks.processes import apart
from benchmarks.results import Outcome, Progress
from benchmarks.workloads import workload
from twigcast import Index
from twigcast.document import NameTable
from twigcast.schema import ElementGraph

ROUNDS = 5
CHUNKS = 8
REPEATS = 3


@dataclass(frozen=True, slots=True)
class Times:
    """CPU seconds for some documents by reader, writer and receiver."""

    match: float
    with_structure: float
    from_structure: float


@dataclass(frozen=True, slots=True)
class StructureRound:
    """What one process measured: each chunk unseen and repeated, and the bytes of all structures."""

    unseen: tuple[Times, ...]
    repeated: tuple[Times, ...]
    bytes_named: int
    """With the names in the structures."""
    bytes_numbered: int
    """With a table of names that both ends know."""
    wrong: tuple[str, ...]


@cache
def measure_structures(name: str, progress: Progress = lambda step: None) -> Outcome:
    """The figures of a workload such as ``nitf-branching-5k``, of all rounds together."""
    progress(f"{name}: drawing documents and subscriptions")
    load = workload(name)
    names = name_table(load.feed.graph)
    progress(f"{name}: building the index")
    path = built(name).path
    rounds: list[StructureRound] = []
    for number in range(ROUNDS):
        progress(f"{name}: structures, round {number + 1}")
        rounds.append(apart(structure_round, path, names, load.feed.warm, load.feed.unseen))
    return Outcome(
        figures(rounds, len(load.feed.unseen), sum(map(len, load.feed.unseen))),
        tuple(sentence for each in rounds for sentence in each.wrong),
    )


def name_table(graph: ElementGraph) -> NameTable:
    """The names of the elements of a schema."""
    return NameTable(tuple(("", element.name) for element in graph.elements))


def structure_round(
    path: Path, names: NameTable, warm: Sequence[bytes], unseen: Sequence[bytes]
) -> StructureRound:
    """Open the index three times, warm all, and measure the unseen documents chunk by chunk."""
    reader, writer, receiver = (Index.open(path) for _ in range(3))
    structures: dict[bytes, bytes] = {}

    def write(body: bytes) -> object:
        found = writer.match_with_structure(body, names)
        structures[body] = found.structure or b""
        return found

    for body in warm:
        reader.match(body)
        write(body)
        receiver.match_structure(structures[body], names)
    size = max(1, -(-len(unseen) // CHUNKS))
    chunks = [unseen[start : start + size] for start in range(0, len(unseen), size)]

    def timed(chunk: Sequence[bytes]) -> Times:
        return Times(
            _seconds(reader.match, chunk),
            _seconds(write, chunk),
            _seconds(lambda body: receiver.match_structure(structures[body], names), chunk),
        )

    first = [timed(chunk) for chunk in chunks]
    again = [[timed(chunk) for chunk in chunks] for _ in range(REPEATS)]
    return StructureRound(
        tuple(first),
        tuple(_median(same) for same in zip(*again, strict=True)),
        sum(len(writer.structure(body)) for body in unseen),
        sum(len(structures[body]) for body in unseen),
        tuple(_wrong(reader, writer, receiver, names, unseen)),
    )


def figures(rounds: Sequence[StructureRound], documents: int, bytes: int) -> dict[str, float]:
    """The ratios of writer and receiver to the reader, and the bytes of structures to those of bodies."""
    unseen, repeated = (
        [_median(same) for same in zip(*chunks, strict=True)]
        for chunks in ([each.unseen for each in rounds], [each.repeated for each in rounds])
    )
    match, again = sum(each.match for each in unseen), sum(each.match for each in repeated)
    return {
        "of_match": sum(each.from_structure for each in unseen) / match,
        "of_repeated_match": sum(each.from_structure for each in repeated) / again,
        "writing_ratio": sum(each.with_structure for each in unseen) / match,
        "repeated_writing_ratio": sum(each.with_structure for each in repeated) / again,
        "match_microseconds": match / documents * 1e6,
        "structure_microseconds": sum(each.from_structure for each in unseen) / documents * 1e6,
        "bytes_per_structure": rounds[0].bytes_numbered / documents,
        "percent_of_body": 100 * rounds[0].bytes_numbered / bytes,
        "percent_with_names": 100 * rounds[0].bytes_named / bytes,
    }


def _seconds(action: Callable[[bytes], object], bodies: Sequence[bytes]) -> float:
    def all_of_them() -> None:
        for body in bodies:
            action(body)

    return cpu_seconds(all_of_them)[0]


def _median(same: Sequence[Times]) -> Times:
    """One chunk over several rounds: the median of the ratios, with the median of the reader's times."""
    match = median(each.match for each in same)
    return Times(
        match,
        match * median(each.with_structure / each.match for each in same),
        match * median(each.from_structure / each.match for each in same),
    )


def _wrong(
    reader: Index, writer: Index, receiver: Index, names: NameTable, bodies: Sequence[bytes]
) -> list[str]:
    wrong: list[str] = []
    for row, body in enumerate(bodies):
        expected = list(reader.match(body).positions)
        written = writer.match_with_structure(body, names)
        if list(written.positions) != expected:
            wrong.append(f"unseen document {row}: matching with a structure has another answer")
        told = receiver.match_structure(written.structure or b"", names)
        if told.error is not None or list(told.positions) != expected or len(told.open):
            wrong.append(f"unseen document {row}: its structure has another answer")
    return wrong

"""Cuts a document, lets lxml run the queries on the chunks and on the whole, and compares the answers.

    cutting        chunk(document, scheme, folder)                        twigcast writes the chunks as files
    each chunk     lxml parses its parts and evaluates its queries        in the place of the paper's Jaxen
    the original   lxml parses the document and evaluates all queries
    Index          Index.match(document), all queries at once             what one would use for these queries

Times are CPU seconds; of some rounds the fastest counts.  Answers are compared by the byte ranges of nodes.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from lxml import etree

from experiments.chunking.scenarios import TRUSTED, Scenario
from experiments.engines.chunking.printed_prefixes import printed_prefixes
from experiments.findings import Table
from twigcast.chunking import ChunkQuery, Scheme, choose, chunk, plan, run_queries
from twigcast.chunking.folder import ChunkFiles
from twigcast.document import PART_BYTES, element_ranges
from twigcast.filtering import Index

ROUNDS = 5
ENOUGH = 3.0
"""Seconds after which a measurement is not repeated any more."""
MOST_COMPARED = 120
"""Different queries whose answers are compared node by node; of more queries, the first ones."""
ALGORITHMS = ("printed", "ours")
IN_PARTS = "ours in parts"
SMALL_PARTS = 256 << 10
"""Bytes of a part with ``IN_PARTS``: lxml takes quadratic time for some paths with ``//``."""
POTPOURRI = "potpourri"

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ChunkTrial:
    """One chunk: what it has, and the seconds in which lxml evaluates its queries."""

    name: str
    prefix: str
    queries: int
    weight: float
    bytes: int
    elements: int
    seconds: float

    @property
    def is_potpourri(self) -> bool:
        """Whether it has what is under no prefix."""
        return self.name == POTPOURRI


@dataclass(frozen=True, slots=True)
class Trial:
    """A document that was cut by a scheme: the seconds of cutting and of each chunk."""

    cutting: float
    chunks: tuple[ChunkTrial, ...]

    @property
    def evaluation(self) -> float:
        """The seconds of all chunks, one after the other."""
        return sum(each.seconds for each in self.chunks)

    @property
    def sum(self) -> float:
        """The seconds of cutting and of all chunks."""
        return self.cutting + self.evaluation

    @property
    def slowest(self) -> float:
        """The seconds until the last answer if all chunks are evaluated at the same time."""
        return self.cutting + max(each.seconds for each in self.chunks)

    @property
    def earliest(self) -> float:
        """The seconds until the first chunk is done if it is the one that takes least."""
        return self.cutting + min(each.seconds for each in self.chunks)

    def prefixed(self) -> list[ChunkTrial]:
        """The chunks that have a prefix."""
        return [each for each in self.chunks if not each.is_potpourri]

    def potpourri(self) -> list[ChunkTrial]:
        """The rest: one chunk or none."""
        return [each for each in self.chunks if each.is_potpourri]


@dataclass(slots=True)
class Trials:
    """The trials of an experiment, and a sentence for each query that has other answers from chunks."""

    wrong: list[str] = field(default_factory=list)

    def cut(self, scenario: Scenario, texts: Sequence[str], chunks: int, algorithm: str) -> Trial:
        """Cut a document for queries, and evaluate them on its chunks."""
        scheme = planned(scenario, texts, chunks, algorithm)
        part_bytes = SMALL_PARTS if algorithm == IN_PARTS else PART_BYTES
        self._compare(scenario, texts, chunks, algorithm, part_bytes)
        with TemporaryDirectory(prefix="twigcast-chunks-") as folder:
            names = (Path(folder) / str(number) for number in range(ROUNDS))
            cutting, cut = fastest(
                lambda: timed(lambda: chunk(scenario.body, scheme, next(names), part_bytes=part_bytes))
            )
            return Trial(cutting, tuple(_chunk_trial(files, texts) for files in cut.chunks))

    def whole(self, scenario: Scenario, texts: Sequence[str]) -> float:
        """The seconds in which lxml evaluates all queries on the whole document."""
        compiled = [etree.XPath(text) for text in texts]
        return fastest(lambda: timed(lambda: _evaluated([scenario.body], compiled)))[0]

    def index(self, scenario: Scenario, texts: Sequence[str]) -> float:
        """The seconds in which an index finds the queries that match the whole document."""
        index = Index()
        index.add_all(enumerate(texts))
        matched = {texts[int(str(number))] for number in index.match(scenario.body).ids}
        for text in _some(texts):
            if (text in matched) is not bool(_starts(scenario.body, text)):
                self.wrong.append(f"{scenario.name}, {text}: the index and lxml disagree")
        return fastest(lambda: timed(lambda: index.match(scenario.body)))[0]

    def _compare(
        self, scenario: Scenario, texts: Sequence[str], chunks: int, algorithm: str, part_bytes: int
    ) -> None:
        """Compare the answers of different queries with those on the whole document, node by node."""
        some = _some(texts)
        scheme = planned(scenario, some, chunks, algorithm)
        found: dict[Any, list[int]] = {number: [] for number in range(len(some))}
        cut = run_queries(scenario.body, scheme, part_bytes=part_bytes, limits=TRUSTED)
        for answer in cut:
            found[answer.query].append(answer.start)
        self.wrong += [f"{scenario.name}: {error}" for error in cut.failures.values()]
        for number, text in enumerate(some):
            if sorted(found[number]) != _starts(scenario.body, text):
                self.wrong.append(f"{scenario.name}, {chunks} chunks, {algorithm}: {text} has other answers")


def planned(scenario: Scenario, texts: Sequence[str], chunks: int, algorithm: str) -> Scheme:
    """The scheme for queries that lxml runs: by the paper's algorithm with whole subtrees, or by ours."""
    queries = [ChunkQuery(number, text, engine="lxml") for number, text in enumerate(texts)]
    if algorithm == "printed":
        return plan(queries, scenario.graph, chunks=chunks, algorithm=printed_prefixes, whole=True)
    return plan(queries, scenario.graph, chunks=chunks, algorithm=choose)


def fastest(measure: Callable[[], tuple[float, Value]]) -> tuple[float, Value]:
    """The fastest of some rounds; a long one is not repeated."""
    best = measure()
    taken = best[0]
    for _ in range(ROUNDS - 1):
        if taken > ENOUGH:
            break
        again = measure()
        taken += again[0]
        best = min(best, again, key=lambda each: each[0])
    return best


def without_chunks(wholes: Mapping[int, float], indexes: Mapping[int, float]) -> Table:
    """What lxml and an index take on the whole document, by the number of queries."""
    rows = tuple(
        (amount, 1000 * whole, 1000 * indexes[amount], indexes[amount] / whole)
        for amount, whole in wholes.items()
    )
    columns = ("queries", "lxml on the whole ms", "Index on the whole ms", "Index / lxml")
    why = (
        "All queries are of the language of subscriptions: Index finds which of them match in one pass over "
        "the whole document, and no chunk is needed.  Chunks are for the selected nodes, and for other code.",
    )
    return Table("Without chunks", columns, rows, why)


def _chunk_trial(files: ChunkFiles, texts: Sequence[str]) -> ChunkTrial:
    numbers: list[int] = list(files.chunk.targets)
    compiled = [etree.XPath(texts[number]) for number in numbers]
    bodies = [path.read_bytes() for path in files.parts]
    seconds, _ = fastest(lambda: timed(lambda: _evaluated(bodies, compiled)))
    prefix = files.chunk.prefix
    return ChunkTrial(
        files.chunk.name if prefix else POTPOURRI,
        "/" + "/".join(local for _, local in prefix) if prefix else "",
        len(numbers),
        files.chunk.weight,
        files.bytes,
        sum(len(element_ranges(each)) // 16 for each in bodies),
        seconds,
    )


def _evaluated(bodies: Sequence[bytes], compiled: Sequence[Callable[[Any], Any]]) -> int:
    """Parse documents and evaluate queries on each; the number of nodes."""
    found = 0
    for body in bodies:
        tree = parsed(body)
        for query in compiled:
            found += len(query(tree))
    return found


def parsed(body: bytes) -> Any:
    """The tree of lxml for a document of any size."""
    return etree.ElementTree(etree.fromstring(body, etree.XMLParser(huge_tree=True)))


def timed(action: Callable[[], Value]) -> tuple[float, Value]:
    """The CPU seconds of an action, and its value."""
    start = time.process_time()
    value = action()
    return time.process_time() - start, value


def _some(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))[:MOST_COMPARED]


@lru_cache(maxsize=2)
def _numbered(body: bytes) -> tuple[Any, dict[Any, int]]:
    """A document as a tree, and where each of its elements begins."""
    tree, ranges = parsed(body), array("Q")
    ranges.frombytes(element_ranges(body))
    return tree, {each: ranges[2 * number] for number, each in enumerate(tree.iter(etree.Element))}


@lru_cache(maxsize=10_000)
def _starts(body: bytes, text: str) -> list[int]:
    """Where the elements begin that a query selects in the whole document."""
    tree, starts = _numbered(body)
    return sorted(starts[each] for each in tree.xpath(text))

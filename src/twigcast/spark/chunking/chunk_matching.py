"""Matches the parts of chunks against the subscriptions of a pipeline, which are the queries.

    index version ─► queries ─► scheme ─► parts ─► matched against the queries of their chunk ─► hits

The kernel matches a part, and the evaluator then looks whether one of the selected nodes belongs to the
chunk: a part may have tags that only another subscription looks at, and a node may be in two chunks.
So each selected node of the document is in the hits of one part.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from twigcast.chunking import (
    Chunk,
    ChunkQuery,
    Pair,
    PartOfChunk,
    PartRunner,
    Profile,
    Scheme,
    plan,
    sampled,
    settled,
)
from twigcast.document import NO_LIMIT, Document, DocumentLimits, Node, read
from twigcast.errors import ChunkingError, EvaluationError
from twigcast.filtering import Index
from twigcast.pattern import render, select
from twigcast.schema import ElementGraph, read_schema
from twigcast.spark.chunking.chunk_columns import ARROW_CHUNK_HITS, CHUNK_HITS, SECONDS_COLUMN
from twigcast.spark.chunking.chunk_files import UncutFiles, document_name, part_id
from twigcast.spark.chunking.file_pieces import Cutting, UnreadableFile, whole_blocks
from twigcast.spark.chunking.part_stage import Row, pairs_of, used_parts
from twigcast.spark.columns import DIGEST, ONLY, OWNER, ErrorRow, error_row, error_without_position
from twigcast.spark.stages.shipping import Ship, Shipped, shipped
from twigcast.subscriptions import IndexVersion


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """How a pipeline plans: from a schema, or from the beginning of a document."""

    schema: Path | None
    sample_bytes: int
    chunks: int

    def scheme(self, index: IndexVersion, files: UncutFiles) -> Scheme:
        """The scheme for the subscriptions of an index; the id of a query is its position in the index.

        A sample is taken from the document whose path is the first of the batch, so that a batch that is run
        again is cut in the same way.
        """
        if self.schema is not None:
            return _planned(index, self.schema, self.chunks)
        made = plan(_queries(index.open_index()), profile=self._sample(files), chunks=self.chunks)
        return replace(made, profile=None)

    def _sample(self, files: UncutFiles) -> Profile:
        """The profile of a sample, up to the error if the document is broken; empty if it cannot be read."""
        path = files.first_path()
        if path is None:
            return Profile()
        cutting = Cutting(_no_scheme(), links=files.links, max_unpacked_bytes=files.max_unpacked_bytes)
        try:
            return sampled(lambda: whole_blocks(path, cutting), self.sample_bytes)[0]
        except UnreadableFile:
            return Profile()


@lru_cache(maxsize=2)
def _planned(index: IndexVersion, schema: Path, chunks: int) -> Scheme:
    return plan(_queries(index.open_index()), _graph(schema), chunks=chunks)


@lru_cache(maxsize=2)
def _graph(path: Path) -> ElementGraph:
    return read_schema(path)


@cache
def _no_scheme() -> Scheme:
    return plan([], profile=Profile())


def _queries(index: Index) -> list[ChunkQuery]:
    return [ChunkQuery(index.position(id), render(pattern)) for id, pattern in index.patterns()]


def match_chunks(
    files: UncutFiles,
    index: IndexVersion,
    scheme: Scheme,
    *,
    ship: Ship,
    limits: DocumentLimits,
    part_bytes: int,
) -> DataFrame:
    """The hits of the parts of files, in the columns of ``match``; a malformed document is an error."""
    (one,) = shipped(index, ship, files.dataframe.sparkSession.sparkContext)
    bounds = replace(limits, bytes=NO_LIMIT)
    cutting = Cutting(
        scheme,
        part_bytes,
        limits=bounds,
        links=files.links,
        max_unpacked_bytes=files.max_unpacked_bytes,
    )
    return used_parts(files.places, cutting, PartMatches(one, bounds))


@dataclass(slots=True)
class Ownership:
    """Which nodes of a part belong to its chunk, by the text of the column ``OWNER``."""

    scheme: Scheme
    _numbers: dict[object, int] = field(default_factory=dict)
    _runners: dict[str, tuple[PartRunner, Chunk]] = field(default_factory=dict)

    def __reduce__(self) -> tuple[type[Ownership], tuple[Scheme]]:
        return Ownership, (self.scheme,)

    @staticmethod
    def text(part: PartOfChunk, foreign: tuple[Pair, ...]) -> str:
        """The column of a part."""
        return json.dumps([part.chunk.number, foreign])

    def owned(self, owner: str, position: int, nodes: list[Node]) -> list[Node]:
        """Those of the nodes that a subscription selects in a part that are to be delivered from it."""
        if not self._numbers:
            self._numbers.update({each.query.id: n for n, each in enumerate(self.scheme.queries)})
        if owner not in self._runners:
            number, pairs = json.loads(owner)
            second = settled(self.scheme, pairs_of(json.dumps(pairs))) if pairs else None
            used = second or self.scheme
            runner = PartRunner(used, DocumentLimits(), answered=self.scheme if second else None)
            self._runners[owner] = runner, used.chunks[number - 1]
        runner, chunk = self._runners[owner]
        return [node for node in nodes if runner.owns(chunk, self._numbers[position], node)]


class PartMatches:
    """Uses parts by matching them; what a document that broke off could still change is not matched."""

    columns = CHUNK_HITS
    arrow = ARROW_CHUNK_HITS

    def __init__(self, shipped: Shipped, limits: DocumentLimits) -> None:
        self.shipped = shipped
        self.limits = limits

    def begin(self, scheme: Scheme) -> _PartMatcher:
        return _PartMatcher(self.shipped, self.limits, scheme)


class _PartMatcher:
    """Matches the parts of one task."""

    def __init__(self, shipped: Shipped, limits: DocumentLimits, scheme: Scheme) -> None:
        self._version = shipped.version
        self._limits = limits
        self._scheme = scheme
        self._index = shipped.open_index(limits)
        self._rows = self._index.rows()
        self._positions: list[Any] = [each.query.id for each in scheme.queries]
        self._ownership = Ownership(scheme)

    def use(self, path: str, part: PartOfChunk, foreign: tuple[Pair, ...]) -> Iterator[Row]:
        if part.is_partial:
            return
        began = time.perf_counter()
        asked = {self._positions[number]: number for number in part.chunk.targets}
        owner = Ownership.text(part, foreign)
        digest = blake2b(part.body, digest_size=16, salt=part.chunk.number.to_bytes(4, "little"))
        row: Row = {
            "doc_id": part_id(path, part),
            "body": part.body,
            "index_version": self._version,
            DIGEST.name: digest.digest(),
            OWNER.name: owner,
        }
        answer = self._index.match(part.body)
        if answer.error is not None:
            yield row | {"error": error_row(answer.error)}
            return
        undecided = {each.position for each in answer.undecided} & asked.keys()
        matches: list[int] = []
        document: Document | None = None
        for position in sorted(asked.keys() & set(answer.positions)):
            if not self._rows.column("pattern")[position].is_valid:  # parts are selected when delivered
                pattern = self._scheme.queries[asked[position]].query.pattern
                assert pattern is not None
                document = document or read(part.body, self._limits)
                try:
                    nodes = select(pattern, document, self._limits.steps(len(part.body)))
                except EvaluationError:
                    undecided.add(position)
                    continue
                if not self._ownership.owned(owner, position, nodes):
                    continue
            matches.append(position)
        seconds = {SECONDS_COLUMN.name: time.perf_counter() - began}
        yield row | {"matches": matches, "undecided": sorted(undecided) or None} | seconds

    def fail(self, path: str, error: ErrorRow) -> Row:
        return {"doc_id": document_name(path), "error": error, "index_version": self._version}

    def refuse(self, path: str, chunk: Chunk, error: ChunkingError) -> Row:
        name = str(self._rows.column("subscription")[error.query].as_py())
        message = error.message.replace(f"the query {error.query} ", f"subscription {name!r} ", 1)
        row = error_without_position(message, code=error.code)
        return self.fail(path, row) | {ONLY.name: name}

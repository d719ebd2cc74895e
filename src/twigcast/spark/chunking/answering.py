"""Runs the queries of chunks in the workers that cut them, or on rows that were cut before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from twigcast.chunking import (
    Answer,
    Chunk,
    ChunkQuery,
    Pair,
    PartOfChunk,
    PartRunner,
    QueryFailure,
    Scheme,
    settled,
)
from twigcast.document import NO_LIMIT, DocumentLimits, SourceMap
from twigcast.errors import ChunkingError, StageError
from twigcast.pattern import to_string
from twigcast.spark.chunking.chunk_columns import ANSWERS, ARROW_ANSWERS
from twigcast.spark.chunking.chunk_files import Chunks, document_name
from twigcast.spark.chunking.part_stage import Row, pairs_of, single_rows, used_parts
from twigcast.spark.columns import ErrorRow, error_without_position, require
from twigcast.spark.fragments.fragment_columns import in_batches
from twigcast.spark.jvm.workers import prepare_workers

PartFunction = Callable[[Any], Iterable[Any]]


def answers(
    chunks: Chunks | DataFrame,
    function: PartFunction | None = None,
    *,
    scheme: Scheme | None = None,
    limits: DocumentLimits | None = None,
) -> DataFrame:
    """The answers of the queries on their chunks: a row for each, with its byte range in the document.

    The columns are ``query``, ``doc_id`` (the path), ``start``, ``end``, ``kind``, ``content``, ``chunk``,
    ``part``, ``is_partial`` and ``error``.  A document that is malformed has a row with the ``error`` and no
    query, a query that could not be run a row with its error; everything else goes on.
    With a ``function``, it gets the lxml tree of each part in place of the queries, and what it yields is the
    ``content``.
    ``chunks`` may also be a table of parts that was written before; then ``scheme`` is the one they were cut
    by.  Raises ``StageError`` if it is missing, or if it is not that scheme.
    """
    bounds = replace(limits or DocumentLimits(), bytes=NO_LIMIT)
    use = PartAnswers(bounds, function)
    if isinstance(chunks, Chunks):
        if chunks.order == "document":
            return used_parts(chunks.places, chunks.cutting, use)
        scheme = chunks.scheme
        rows = _by_priority(chunks.dataframe, scheme)
    else:
        if scheme is None:
            raise StageError("a table of chunks needs the scheme by which it was cut", code="options")
        scheme = replace(scheme, profile=None)
        require(chunks, ("doc_id", "chunk", "part", "queries", "body", "source_map", "error"), "answers")
        prepare_workers(chunks.sparkSession)
        rows = chunks
    return rows.mapInArrow(partial(_answer_rows, scheme=scheme, use=use), ANSWERS)


def _by_priority(rows: DataFrame, scheme: Scheme) -> DataFrame:
    """The parts, all of them cut, in tasks that Spark starts in the order of priority and part."""
    cut = rows.localCheckpoint()
    levels = [F.lit(value) for each in scheme.chunks for value in (each.number, each.priority)]
    priority = F.coalesce(F.create_map(*levels)[F.col("chunk")], F.lit(0)) if levels else F.lit(0)
    ordered = cut.withColumn("tc_priority", priority)
    tasks = max(1, cut.count())
    return ordered.repartitionByRange(tasks, "tc_priority", "part", "chunk", "doc_id").drop("tc_priority")


def _answer_rows(
    batches: Iterator[pa.RecordBatch], *, scheme: Scheme, use: PartAnswers
) -> Iterator[pa.RecordBatch]:
    """The answers of rows of parts."""
    user = use.begin(scheme)
    yield from in_batches((made for row in single_rows(batches) for made in user.row(row)), ARROW_ANSWERS)


@dataclass(slots=True)
class PartAnswers:
    """Uses parts by running their queries, or a function."""

    limits: DocumentLimits
    function: PartFunction | None = None
    _scheme: Scheme | None = None
    _runners: dict[tuple[Pair, ...], tuple[Scheme, PartRunner]] = field(default_factory=dict)

    columns = ANSWERS
    arrow = ARROW_ANSWERS

    def begin(self, scheme: Scheme) -> PartAnswers:
        return PartAnswers(self.limits, self.function, scheme)

    def use(self, path: str, part: PartOfChunk, foreign: tuple[Pair, ...]) -> Iterator[Row]:
        yield from self._rows(document_name(path), part, foreign)

    def fail(self, path: str, error: ErrorRow) -> Row:
        return {"doc_id": document_name(path), "error": error}

    def refuse(self, path: str, chunk: Chunk, error: ChunkingError) -> Row:
        return _failure(document_name(path), chunk.number, None, error)

    def row(self, row: Row) -> Iterator[Row]:
        """The answers of a row of a table of parts; its error is passed on."""
        name = row["doc_id"].partition("#")[0]
        if row["body"] is None:
            query = (row["queries"] or [None])[0]
            yield {"doc_id": name, "chunk": row["chunk"], "query": query, "error": row["error"]}
            return
        foreign = tuple(pairs_of(row["foreign"])) if row.get("foreign") else ()
        scheme, _ = self._runner(foreign)
        chunk = scheme.chunks[row["chunk"] - 1] if row["chunk"] <= len(scheme.chunks) else None
        ids = [] if chunk is None else [str(scheme.queries[number].query.id) for number in chunk.targets]
        if chunk is None or ids != row["queries"]:
            raise StageError(f"{row['doc_id']} was cut by another scheme", code="options")
        source_map = SourceMap.of_bytes(row["source_map"])
        is_partial = bool(row.get("is_partial"))
        yield from self._rows(
            name, PartOfChunk(chunk, row["part"], row["body"], source_map, is_partial), foreign
        )

    def _rows(self, name: str, part: PartOfChunk, foreign: tuple[Pair, ...]) -> Iterator[Row]:
        for found in self._runner(foreign)[1].run(part):
            if isinstance(found, QueryFailure):
                yield _failure(name, part.chunk.number, part.number, found.error)
            else:
                yield _answer(name, found)

    def _runner(self, foreign: tuple[Pair, ...]) -> tuple[Scheme, PartRunner]:
        """The scheme of a pass, and who runs its parts."""
        if foreign not in self._runners:
            assert self._scheme is not None
            scheme = self._scheme
            second = settled(scheme, foreign) if foreign else None
            used = second or scheme
            self._runners[foreign] = used, self._made(used, scheme if second else None)
        return self._runners[foreign]

    def _made(self, scheme: Scheme, answered: Scheme | None) -> PartRunner:
        if self.function is None:
            return PartRunner(scheme, self.limits, answered=answered)
        return _FunctionRunner(scheme, self.limits, self.function)


class _FunctionRunner(PartRunner):
    """Runs one function on each part, in place of the queries."""

    def __init__(self, scheme: Scheme, limits: DocumentLimits, function: PartFunction) -> None:
        name = getattr(function, "__name__", "function")
        query = ChunkQuery(name, function=function)
        placed = replace(scheme.queries[0], query=query)
        super().__init__(replace(scheme, queries=(placed,)), limits)

    def run(self, part: PartOfChunk) -> Iterator[Answer | QueryFailure]:
        return super().run(replace(part, chunk=replace(part.chunk, targets={0: ()})))


def _answer(name: str, answer: Answer) -> Row:
    content = answer.content
    if not isinstance(content, bytes | None):
        text = to_string(content) if isinstance(content, bool | float) else str(content)
        content = text.encode("utf-8", "surrogatepass")
    return {
        "query": str(answer.query),
        "doc_id": name,
        "start": answer.start,
        "end": answer.end,
        "kind": answer.kind,
        "content": content,
        "chunk": answer.chunk,
        "part": answer.part,
        "is_partial": answer.is_partial,
    }


def _failure(name: str, chunk: int, part: int | None, error: ChunkingError) -> Row:
    row = error_without_position(error.message, code=error.code)
    return {"query": str(error.query), "doc_id": name, "chunk": chunk, "part": part, "error": row}

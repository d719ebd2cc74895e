"""Structures of documents as a column of a table, and documents that are matched by it.

    body ──► structures ──► body │ structure        7,500 bytes │ 470 bytes, 210 with a table of names
                                 │
         new subscriptions ──────┴──► matches, without the bodies

A structure decides the subscriptions that ask only for names and places of elements.  If it leaves one open
(values, counts, positions), the document is read; so it is if its structure is missing or cannot be used.

Invariant: a structure changes the cost, never an answer, as long as it is that of the body beside it.  An
altered structure is refused by its checksum; one that belongs to another body cannot be noticed, because the
body is not read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, StructField, StructType

from twigcast.analysis import schema_automaton
from twigcast.document import AttributeDetail, DocumentLimits, NameTable, joined
from twigcast.errors import DocumentError, StageError, StructureError
from twigcast.filtering import BatchMatch, Index
from twigcast.schema import ElementGraph
from twigcast.spark.columns import (
    ARROW_ERROR,
    ERRORS,
    INDEX_VERSION,
    MATCHES,
    OPEN,
    PROLOG,
    error_without_position,
    has,
    of_document_types,
    plain_names,
    positions,
    require,
    united,
)
from twigcast.spark.jvm.workers import prepare_workers
from twigcast.spark.sources.documents import Documents, as_dataframe
from twigcast.spark.stages.shipping import (
    AnyIndexes,
    Ship,
    Shipped,
    index_limits,
    several_indexes,
    shipped,
    version_text,
)
from twigcast.subscriptions import IndexVersion

BodiesKept: TypeAlias = Literal["matching", "failed"]
"""Which bodies hits have: those of documents that match or failed, or only those of documents that failed."""

BODIES_KEPT = ("matching", "failed")

FOUND, OPEN_ROW, STRUCTURE_SECONDS = (f"twigcast_structure_{what}" for what in ("found", "open", "seconds"))
"""The columns that a ``StructureChoice`` adds: the positions, whether the document must be read, the time."""

_NAMES = "twigcast.names"  # the key in the metadata of a column of structures
_PROBE = 256  # documents by which it is decided whether structures pay
_PAUSE = 4096  # documents that are read without a look at their structures, if they do not pay
_PAYS = 0.4  # matching a structure takes this part of the time of reading and matching the document


def structures(
    docs: DataFrame | Documents,
    *,
    column: str = "structure",
    names: NameTable | ElementGraph | None = None,
    attributes: AttributeDetail = "count",
    limits: DocumentLimits | None = None,
) -> DataFrame:
    """Add a binary column with the structure of each document, for ``match`` with ``structure=…``.

    It is null for a document that cannot be read, or beyond ``limits``.  A column of that name is replaced,
    all others stay.
    A structure has the names of its elements.  With a table of ``names``, or a schema that has them, it has
    their numbers and takes half of the space; the table is stored in the metadata of the column, which
    Parquet and Delta keep.  If it is lost, the documents are read.
    With ``attributes="names"`` the names of attributes are recorded, so that tests of their existence are
    decided, too; the column is then about twice as large.
    """
    reading = docs.worker_reading() if isinstance(docs, Documents) else None
    docs = as_dataframe(docs)
    prepare_workers(docs.sparkSession)
    require(docs, ("doc_id", "body"), "structures")
    if (plain := plain_names(docs)) is not None:
        made = structures(docs.toDF(*plain), column=column, names=names, attributes=attributes, limits=limits)
        return made.toDF(*[plain.get(name, name) for name in made.columns])
    if attributes not in ("count", "names"):
        raise StageError(f"expected attributes to be count or names, got {attributes!r}", code="options")
    docs = of_document_types(docs)
    passing = [field for field in docs.schema.fields if field.name.lower() != column.lower()]
    if isinstance(names, ElementGraph):
        names = _table_of(names)
    metadata = {} if names is None else {_NAMES: ["\f".join(name) for name in names.names]}
    schema = StructType([*passing, StructField(column, BinaryType(), metadata=metadata)])
    stage = partial(
        _write,
        passing=[field.name for field in passing],
        column=column,
        names=names,
        attributes=attributes,
        limits=limits or DocumentLimits(),
        inheriting=has(docs, PROLOG),
    )
    if reading is not None:
        return reading.places.mapInArrow(reading.followed_by(stage), schema)
    return docs.mapInArrow(stage, schema)


def match_structures(
    docs: DataFrame | Documents,
    index: AnyIndexes,
    *,
    structure: str = "structure",
    ship: Ship = "path",
    limits: DocumentLimits | None = None,
) -> DataFrame:
    """Match documents by their structures alone: no body is read, whatever the structures leave open.

    The column ``matches`` has the positions of subscriptions that match for certain, ``open`` those that
    only the body can decide; all others do not match.  Both are null, and ``error`` says why, if there is no
    structure or it cannot be used.  All other columns of ``docs`` stay, but ``body``, if there is one.
    """
    docs = as_dataframe(docs).drop("body")
    prepare_workers(docs.sparkSession)
    if (plain := plain_names(docs)) is not None:
        renamed = {name: plain for plain, name in plain.items()}
        found = match_structures(
            docs.toDF(*plain),
            index,
            structure=renamed.get(structure, structure),
            ship=ship,
            limits=limits,
        )
        return found.toDF(*[plain.get(name, name) for name in found.columns])
    if any(isinstance(each, IndexVersion) and each.extension for each in several_indexes(index)):
        raise StageError("documents are not routed by their structures: expected no network", code="options")
    column = StructureColumn.of(docs, structure)
    shards = shipped(index, ship, docs.sparkSession.sparkContext)
    fields = [MATCHES, OPEN, INDEX_VERSION, ERRORS]
    made = {field.name for field in fields}
    passing = [field for field in docs.schema.fields if field.name.lower() not in made]
    offsets = accumulate((shard.size for shard in shards), initial=0)
    for number, (shard, offset) in enumerate(zip(shards, offsets, strict=False)):
        stage = partial(
            _match_structures,
            shard=shard,
            offset=offset,
            further=number > 0,
            version=version_text(shards),
            limits=limits or index_limits(index),
            passing=[field.name for field in passing],
            column=column,
        )
        docs = docs.mapInArrow(stage, StructType([*passing, *fields]))
    return docs


@dataclass(frozen=True, slots=True)
class StructureColumn:
    """A column of structures, and the table of names that they were written with."""

    name: str
    names: NameTable | None

    @classmethod
    def of(cls, docs: DataFrame, name: str) -> StructureColumn:
        """The column of that name; raises ``StageError`` if there is none, or if it has no bytes."""
        require(docs, (name,), "structure")
        field = docs.schema[name]
        if not isinstance(field.dataType, BinaryType):
            kind = field.dataType.simpleString()
            raise StageError(f"expected structures, which are bytes, in {name}, found {kind}", code="columns")
        return cls(name, _table(field.metadata.get(_NAMES)))

    def choice(self, index: Index, keeping: Keeping) -> StructureChoice:
        """What decides documents by this column; it is made in a worker, once for each task."""
        return StructureChoice(index, self, keeping)


def _table_of(schema: ElementGraph) -> NameTable:
    """The names of the elements of a schema."""
    tests = {(each.namespace, each.local) for each in schema_automaton(schema).tests}
    return NameTable(tuple(sorted((space, local) for space, local in tests if space is not None and local)))


def _table(texts: Any) -> NameTable | None:
    """The table of names in the metadata of a column; none if there is none, or none that can be used."""
    try:
        pairs = [text.split("\f") for text in texts or ()]
        return NameTable(tuple((namespace, local) for namespace, local in pairs)) if pairs else None
    except (AttributeError, TypeError, ValueError):
        return None  # the metadata is not ours: the documents will be read


class StructureChoice:
    """Matches structures, and says which documents must be read.

    It is made in a worker, once for each task.  It stops looking at structures for a while if they leave most
    documents open, because then it is faster to read all of them.
    """

    def __init__(self, index: Index, column: StructureColumn, keeping: Keeping) -> None:
        self._index = index
        self._column = column
        self._keeping = keeping
        self._seen = self._decided = self._pause = 0

    def __call__(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.Array]:
        """The batch with the answers of its structures, and which bodies are needed."""
        began = time.perf_counter()
        found, is_open = self._answers(batch.column(self._column.name))
        if "error" in batch.schema.names and batch.column("error").null_count < batch.num_rows:
            is_open = pc.or_(is_open, batch.column("error").is_valid())
        needed = pc.or_(is_open, self._keeping.needed(batch, found))
        took = (time.perf_counter() - began) / (batch.num_rows or 1)
        columns = (found, is_open, pa.repeat(pa.scalar(took), batch.num_rows))
        for name, values in zip((FOUND, OPEN_ROW, STRUCTURE_SECONDS), columns, strict=True):
            batch = batch.append_column(name, values)
        return batch, needed

    def _answers(self, structures: pa.Array) -> tuple[pa.Array, pa.Array]:
        rows = len(structures)
        if self._pause > 0:
            self._pause -= rows
            return pa.nulls(rows, _POSITIONS), pa.repeat(pa.scalar(True), rows)
        answer = self._index.match_structures(structures, self._column.names)
        left = pc.fill_null(pc.greater(pc.list_value_length(answer.open), 0), True)
        self._seen += rows
        self._decided += rows - left.true_count
        if self._seen >= _PROBE:
            if self._decided < _PAYS * self._seen:
                self._pause = _PAUSE
            self._seen = self._decided = 0
        return answer.matches, left


_POSITIONS = pa.list_(pa.uint32())


@dataclass(frozen=True, slots=True)
class Keeping:
    """Which bodies hits will have, beside those of documents that must be read anyway.

    ``every`` is for a network in which documents travel over links without a match.
    """

    bodies: BodiesKept = "matching"
    every: bool = False

    def needed(self, batch: pa.RecordBatch, found: pa.Array) -> pa.Array:
        """Which bodies are needed, given the positions that the documents match."""
        if self.every:
            return pa.repeat(pa.scalar(True), batch.num_rows)
        needed = batch.column("doc_id").is_null()  # its id is a hash of the body
        return needed if self.bodies == "failed" else pc.or_(needed, _is_filled(found))


@dataclass(frozen=True, slots=True)
class StructureAnswers:
    """Which documents of a batch are decided by their structures, and the positions that they match."""

    rows: pa.Array
    found: pa.Array

    @classmethod
    def of(cls, batch: pa.RecordBatch, limits: DocumentLimits, bodies: BodiesKept | None) -> StructureAnswers:
        """The decided documents of a batch that a ``StructureChoice`` has seen.

        A document that is there is held to the limit of bytes, and one that matches must be there.
        """
        found, body = batch.column(FOUND), batch.column("body")
        undecided = pc.or_(
            batch.column(OPEN_ROW), pc.fill_null(pc.greater(pc.binary_length(body), limits.bytes), False)
        )
        if bodies != "failed":
            undecided = pc.or_(undecided, pc.and_(body.is_null(), _is_filled(found)))
        return cls(pc.invert(undecided), found)

    def completed(self, index: Index, bodies: pa.Array) -> BatchMatch:
        """The answer for all documents: those that are not decided are read."""
        if self.rows.true_count == len(bodies):
            return BatchMatch(self.found, [None] * len(bodies), ())
        answer = index.match_batch(pc.if_else(self.rows, pa.scalar(None, bodies.type), bodies))
        return replace(answer, matches=pc.if_else(self.rows, self.found, answer.matches))


def with_kept_bodies(
    batch: pa.RecordBatch,
    kept: BodiesKept,
    matches: pa.Array,
    failures: Sequence[object] | None,
    undecided: pa.Array,
    ways: Sequence[pa.Array],
) -> pa.RecordBatch:
    """The batch without the bodies that hits do not have; ``ways`` are the links that documents took."""
    needed = undecided.is_valid()
    if failures is not None:
        needed = pc.or_(needed, pa.array([each is not None for each in failures], pa.bool_()))
    for lists in (matches, *ways) if kept == "matching" else ():
        needed = pc.or_(needed, _is_filled(lists))
    body = batch.column("body")
    if needed.true_count < len(body):
        number = batch.schema.names.index("body")
        batch = batch.set_column(number, "body", pc.if_else(needed, body, pa.scalar(None, body.type)))
    return batch


def _is_filled(lists: pa.Array) -> pa.Array:
    return pc.fill_null(pc.greater(pc.list_value_length(lists), 0), False)


def _write(
    batches: Iterator[pa.RecordBatch],
    *,
    passing: list[str],
    column: str,
    names: NameTable | None,
    attributes: AttributeDetail,
    limits: DocumentLimits,
    inheriting: bool,
) -> Iterator[pa.RecordBatch]:
    """The stage of ``structures``, which workers run."""
    index = Index(limits=limits)
    for batch in batches:
        bodies = batch.column("body").to_pylist()
        prologs = batch.column("prolog").to_pylist() if inheriting else [None] * len(bodies)
        made: list[bytes | None] = []
        for body, prolog in zip(bodies, prologs, strict=True):
            structure = None
            if body is not None:
                with suppress(DocumentError, StructureError):
                    structure = index.structure(joined(prolog, body), names, attributes)
            made.append(structure)
        columns = [batch.column(name) for name in passing]
        yield pa.RecordBatch.from_arrays([*columns, pa.array(made, pa.binary())], [*passing, column])


_NO_STRUCTURE = error_without_position("the document has no structure", code="structure")


def _match_structures(
    batches: Iterator[pa.RecordBatch],
    *,
    shard: Shipped,
    offset: int,
    further: bool,
    version: str,
    limits: DocumentLimits,
    passing: list[str],
    column: StructureColumn,
) -> Iterator[pa.RecordBatch]:
    """The stage of ``match_structures`` for one shard, which workers run."""
    index = shard.open_index(limits)
    for batch in batches:
        answer = index.match_structures(batch.column(column.name), column.names)
        lists = [positions(answer.matches, offset), positions(answer.open, offset)]
        if further:
            lists = [united(batch.column(name), after) for name, after in zip(_LISTS, lists, strict=True)]
        present = lists[0].is_valid().to_pylist()
        known = [None if there else _NO_STRUCTURE for there in present]
        for row, error in enumerate(answer.errors):
            if error is not None:
                known[row] = error_without_position(error.message, code=error.code)
        versions = pa.repeat(pa.scalar(version, pa.string()), batch.num_rows)
        columns = [batch.column(name) for name in passing]
        columns += [*lists, versions, pa.array(known, ARROW_ERROR)]
        yield pa.RecordBatch.from_arrays(columns, [*passing, *_LISTS, "index_version", "error"])


_LISTS = ("matches", "open")

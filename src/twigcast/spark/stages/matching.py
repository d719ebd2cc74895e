"""Matches documents against an index: one stage, one row in and one row out.

Spark hands a batch of documents to a worker as Arrow memory, the kernel reads the bodies in place, and the
other columns are returned unchanged.  The index is not broadcast: each worker process maps its file once.  If
workers can read the documents themselves, they do so in the same stage; see ``sources.documents``.

Shards are consecutive stages, each in worker processes of its own: a document passes through all of them, and
no process holds more than one shard.  Rejected: documents × shards as rows, grouped again by document, which
moves every body once for each shard and cannot be a stream.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from twigcast.document import DocumentLimits, joined, relocated
from twigcast.errors import DocumentError, StageError
from twigcast.filtering import BatchMatch, Index
from twigcast.spark.columns import (
    ARROW_ERROR,
    CACHED_BYTES,
    ERRORS,
    FALSE_POSITIVES,
    HOPS,
    INDEX_VERSION,
    MAPPING,
    MATCHES,
    NAMED_MAPPING,
    PROLOG,
    PUBLISHER,
    SECONDS,
    STRANGERS,
    UNDECIDED,
    ErrorRow,
    error_row,
    has,
    require,
)
from twigcast.spark.jvm.workers import prepare_workers
from twigcast.spark.sources.documents import Documents, as_dataframe
from twigcast.spark.stages.mediating import AnyMediation, MappingChoice, Mediation
from twigcast.spark.stages.shipping import AnyIndexes, Ship, Shipped, shipped, version_text
from twigcast.subscriptions import IndexVersion

if TYPE_CHECKING:
    from twigcast.spark.stages.network import ShippedNetwork


def match(
    docs: DataFrame | Documents,
    index: AnyIndexes,
    *,
    ship: Ship = "path",
    limits: DocumentLimits | None = None,
    seconds: str | None = None,
    mediation: AnyMediation | None = None,
) -> DataFrame:
    """Match documents; adds the columns ``matches`` (positions in the index), ``index_version``, ``error``.

    A fourth column, ``undecided``, has the positions of subscriptions that took too much work to decide; it
    is null for nearly all documents, and ``refused_deliveries`` makes dead letters from it.
    Columns of these names are replaced, and all others stay.  A document without an id gets the hash of its
    body as id.
    ``docs`` is any DataFrame with ``doc_id`` and ``body``, or the result of ``read``, which workers read
    themselves if they can; the rows are the same.
    ``index`` is an ``IndexVersion``, an ``Index``, or several of them as shards; positions continue from
    shard to shard.  ``ship="files"`` is for clusters that do not share the folder of the index.
    ``seconds`` names a column for the time of parsing and matching; the time of a batch is divided equally
    among its rows.
    If the version has a network, the same stage also routes the documents: ``matches`` has only those that
    reach their subscribers, and the columns ``hops`` and ``false_positives`` have numbers of links.
    With ``mediation``, which is a ``Mappings`` or a ``Mediation``, documents are matched as if they had been
    written in the global schema.  The column ``mapping`` has the reference of the mapping that was applied,
    ``strangers`` the number of elements that its source schema does not have, and ``cached_bytes`` what was
    kept back.  A document may name its mapping itself, in a column ``mapping``.
    """
    reading = docs.worker_reading() if isinstance(docs, Documents) else None
    docs = as_dataframe(docs)
    prepare_workers(docs.sparkSession)
    require(docs, ("doc_id", "body"), "match")
    names = {_plain(name, number): name for number, name in enumerate(docs.columns)}
    if docs.columns != list(names):
        plain = docs.toDF(*names)
        hits = match(plain, index, ship=ship, limits=limits, seconds=seconds, mediation=mediation)
        return hits.toDF(*[names.get(name, name) for name in hits.columns])
    docs = _of_right_types(docs)
    if limits is None:
        limits = index.limits if isinstance(index, Index) else DocumentLimits()
    shards = shipped(index, ship, docs.sparkSession.sparkContext)
    version = version_text(shards)
    fields = [MATCHES, INDEX_VERSION, ERRORS, UNDECIDED]
    routed = _network(index, ship, docs.sparkSession.sparkContext)
    if routed is not None:
        fields += [HOPS, FALSE_POSITIVES]
    mediating, naming = None, None
    if mediation is not None:
        mediating = Mediation.of(mediation)
        naming = _naming_column(docs, mediating)
        fields += [MAPPING, STRANGERS, CACHED_BYTES]
        if naming is not None:
            fields.append(NAMED_MAPPING)
    if seconds is not None:
        fields.append(StructField(seconds, SECONDS))
    made = {field.name.lower() for field in fields}
    passing = [field for field in docs.schema.fields if field.name.lower() not in made]
    schema = StructType([*passing, *fields])
    offsets = accumulate((shard.size for shard in shards), initial=0)
    for number, (shard, offset) in enumerate(zip(shards, offsets, strict=False)):
        stage = partial(
            _match,
            shard=shard,
            routed=routed,
            offset=offset,
            further=number > 0,
            version=version,
            limits=limits,
            passing=[field.name for field in passing],
            inheriting=has(docs, PROLOG),
            failed=number > 0 or has(docs, ERRORS),
            seconds=seconds,
            mediation=mediating,
            naming=NAMED_MAPPING.name if number > 0 and naming is not None else naming,
        )
        if reading is not None and number == 0:
            docs = reading.places.mapInArrow(reading.followed_by(stage), schema)
        else:
            docs = docs.mapInArrow(stage, schema)
    return docs


def _network(index: AnyIndexes, ship: Ship, context: Any) -> ShippedNetwork | None:
    """The network of an index version, prepared for the workers; none if there is no network."""
    versions = list(index) if isinstance(index, Iterable) else [index]
    if not any(isinstance(each, IndexVersion) and each.extension for each in versions):
        return None
    from twigcast.spark.stages.network import ShippedNetwork  # imports the routers

    (version,) = versions
    assert isinstance(version, IndexVersion)
    return ShippedNetwork.of(version, ship, context)


def _naming_column(docs: DataFrame, mediation: Mediation) -> str | None:
    """The column in which documents name their mappings themselves; none if there is no such column.

    Documents that were matched before keep their names in a column of ours, since ``mapping`` is then that
    which was applied.
    """
    if mediation.by == "publisher":
        require(docs, ("publisher",), 'mediation by "publisher"')
        if not has(docs, PUBLISHER):
            kind = docs.schema["publisher"].dataType.simpleString()
            raise StageError(f"expected text in the column publisher, found {kind}", code="columns")
    return next((field.name for field in (NAMED_MAPPING, MAPPING) if has(docs, field)), None)


def _plain(name: str, number: int) -> str:
    """A column's name, or a replacement if ``mapInArrow`` would take it for the path of a nested field."""
    return f"column {number}" if set(name) & {".", "`"} else name


def _of_right_types(docs: DataFrame) -> DataFrame:
    """The documents with ids as text and bodies as bytes."""
    body, doc_id = docs.schema["body"].dataType, docs.schema["doc_id"].dataType
    if not isinstance(body, BinaryType | StringType):
        raise StageError(f"expected bytes or text as body, found {body.simpleString()}", code="columns")
    if isinstance(body, StringType):
        docs = docs.withColumn("body", F.col("body").cast("binary"))
    if not isinstance(doc_id, StringType):
        docs = docs.withColumn("doc_id", F.col("doc_id").cast("string"))
    return docs


def measures(seconds: str | None = None) -> list[Column]:
    """Aggregates over hits: documents, bytes, matches, errors, and seconds if that is one of their columns.

    ``undecided`` counts the documents with subscriptions that took too much work to decide.

    For ``hits.agg(*measures(…))`` or, without a Spark job of its own, ``hits.observe(name, *measures(…))``.
    Rows are counted, so a task that is retried counts once.
    """
    columns = [
        F.count(F.lit(1)).alias("documents"),
        F.coalesce(F.sum(F.octet_length("body")), F.lit(0)).alias("bytes"),
        F.coalesce(F.sum(F.when(F.col("matches").isNotNull(), F.size("matches"))), F.lit(0)).alias("matches"),
        F.count("error").alias("errors"),
        F.count("undecided").alias("undecided"),
    ]
    if seconds is not None:
        columns.append(F.coalesce(F.sum(seconds), F.lit(0.0)).alias("seconds"))
    return columns


def _match(
    batches: Iterator[pa.RecordBatch],
    *,
    shard: Shipped,
    routed: ShippedNetwork | None,
    offset: int,
    further: bool,
    version: str,
    limits: DocumentLimits,
    passing: list[str],
    inheriting: bool,
    failed: bool,
    seconds: str | None,
    mediation: Mediation | None,
    naming: str | None,
) -> Iterator[pa.RecordBatch]:
    """The stage of one shard, which workers run."""
    index = shard.open_index(limits)
    for batch in batches:
        began = time.perf_counter()
        batch = _identified(batch)
        bodies = batch.column("body")
        prologs = batch.column("prolog") if inheriting else None
        given = batch.column("error") if failed else None
        known = given if given is not None and given.null_count < len(given) else None
        choice = None
        if mediation is not None:
            publishers = batch.column("publisher") if mediation.by == "publisher" else None
            choice = mediation.choose(publishers, batch.column(naming) if naming is not None else None)
            known = _with_failures(known, choice.failures, len(bodies))
        answer, failures = _answer(index, bodies, prologs, known, choice)
        undecided = _undecided(answer, offset)
        ways: list[pa.Array] = []
        if routed is None:
            matches = _positions(answer.matches, offset)
        else:
            matches, *ways = routed.carry(batch, answer.matches, undecided)
            undecided = routed.of_subscribers(undecided)
        if further:
            matches = _united(batch.column("matches"), matches)
            undecided = _united_or_null(batch.column("undecided"), undecided)
        took = time.perf_counter() - began
        rows = batch.num_rows
        columns = [batch.column(name) for name in passing]
        columns.append(matches)
        columns.append(pa.repeat(pa.scalar(version, pa.string()), rows))
        columns.append(pa.array(failures, ARROW_ERROR) if failures else pa.nulls(rows, ARROW_ERROR))
        columns.append(undecided)
        fields = [*passing, "matches", "index_version", "error", "undecided"]
        if routed is not None:
            columns += ways
            fields += ["hops", "false_positives"]
        if mediation is not None:
            columns += [
                pa.array(answer.mappings, pa.string()),
                pa.array(answer.strangers, pa.int32()),
                pa.array(answer.cached_bytes, pa.int64()),
            ]
            fields += ["mapping", "strangers", "cached_bytes"]
            if naming is not None:
                columns.append(batch.column(naming))
                fields.append(NAMED_MAPPING.name)
        if seconds is not None:
            share = pa.repeat(pa.scalar(took / rows if rows else 0.0), rows)
            columns.append(pc.add(share, batch.column(seconds)) if further else share)
            fields.append(seconds)
        yield pa.RecordBatch.from_arrays(columns, fields)


def _identified(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The documents with ids: a null id is replaced by the hash of the body, as in a table without ids."""
    ids, bodies = batch.column("doc_id"), batch.column("body")
    if not ids.null_count:
        return batch
    made = [
        sha256(body.as_buffer()).hexdigest() if id is None and body.is_valid else id
        for id, body in zip(ids.to_pylist(), bodies, strict=True)
    ]
    return batch.set_column(batch.schema.names.index("doc_id"), "doc_id", pa.array(made, pa.string()))


_NO_BODY = error_row(DocumentError("the document has no body", code="empty"))


def _with_failures(known: pa.Array | None, failures: Mapping[int, ErrorRow], rows: int) -> pa.Array | None:
    """The errors that are known before a batch is matched, with those of documents without a mapping."""
    if not failures:
        return known
    before = [None] * rows if known is None else known.to_pylist()
    return pa.array([error or failures.get(row) for row, error in enumerate(before)], ARROW_ERROR)


def _answer(
    index: Index,
    bodies: pa.Array,
    prologs: pa.Array | None,
    known: pa.Array | None,
    choice: MappingChoice | None = None,
) -> tuple[BatchMatch, list[ErrorRow | None] | None]:
    """The answer of the index, and the list of errors; none if no row has an error."""
    read_as = bodies
    if prologs is not None and prologs.null_count < len(prologs):
        read_as = pa.array(
            [
                None if body is None else joined(prolog, body)
                for prolog, body in zip(prologs.to_pylist(), bodies.to_pylist(), strict=True)
            ],
            pa.large_binary(),
        )
    if known is not None:
        read_as = pc.if_else(known.is_null(), read_as, pa.scalar(None, read_as.type))
    answer = index.match_batch(read_as) if choice is None else choice.match(index, read_as)
    if answer.matches.null_count == 0:
        return answer, None
    failures: list[ErrorRow | None] = []
    present = answer.matches.is_valid().to_pylist()
    for row, error in enumerate(answer.errors):
        if known is not None and known[row].is_valid:
            failures.append(known[row].as_py())
        elif error is not None:
            prolog = prologs[row].as_py() if prologs is not None else None
            failures.append(error_row(relocated(error, prolog, bodies[row].as_py()) if prolog else error))
        else:
            failures.append(None if present[row] else _NO_BODY)
    return answer, failures


_LISTS = pa.list_(pa.int32())


def _undecided(answer: BatchMatch, offset: int) -> pa.Array:
    """The positions that could not be decided, counted from ``offset``; null for rows without any."""
    if not answer.undecided:
        return pa.nulls(len(answer), _LISTS)
    found = [
        [offset + each.position for each in answer.undecided[row]] if row in answer.undecided else None
        for row in range(len(answer))
    ]
    return pa.array(found, _LISTS)


def _positions(found: Any, offset: int) -> pa.Array:
    """The positions as 32-bit integers, counted from ``offset``."""
    found = found.cast(pa.list_(pa.int32()))
    if not offset:
        return found
    values = pc.add(found.values, pa.scalar(offset, pa.int32()))
    mask = found.is_null() if found.null_count else None
    return pa.ListArray.from_arrays(found.offsets, values, mask=mask)


def _united(before: pa.Array, after: pa.Array) -> pa.Array:
    """The concatenated lists of two arrays, row by row; null if either is."""
    rows = zip(before.to_pylist(), after.to_pylist(), strict=True)
    return pa.array([None if x is None or y is None else x + y for x, y in rows], _LISTS)


def _united_or_null(before: pa.Array, after: pa.Array) -> pa.Array:
    """The concatenated lists of two arrays, row by row; null if both are."""
    if before.null_count == len(before):
        return after
    rows = zip(before.to_pylist(), after.to_pylist(), strict=True)
    return pa.array([(x or []) + (y or []) or None for x, y in rows], _LISTS)

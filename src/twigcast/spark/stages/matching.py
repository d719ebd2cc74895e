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
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from twigcast.document import DocumentLimits, joined, relocated
from twigcast.errors import DocumentError, StageError, TwigcastError
from twigcast.filtering import BatchMatch, Index
from twigcast.spark.columns import (
    ARROW_ERROR,
    ARROW_NAMES,
    ARROW_NUMBERS,
    CACHED_BYTES,
    ERRORS,
    FALSE_POSITIVES,
    HOPS,
    INDEX_VERSION,
    MAPPING,
    MATCHES,
    NAMED_MAPPING,
    NAMES,
    PROLOG,
    PUBLISHER,
    SECONDS,
    STRANGERS,
    UNDECIDED,
    UNREAD,
    ErrorRow,
    error_row,
    has,
    internal_error,
    of_document_types,
    plain_names,
    positions,
    require,
    united,
)
from twigcast.spark.jvm.workers import prepare_workers
from twigcast.spark.sources.documents import Documents, as_dataframe
from twigcast.spark.stages.annotations import AnnotationColumn
from twigcast.spark.stages.mediating import AnyMediation, MappingChoice, Mediation
from twigcast.spark.stages.shipping import (
    AnyIndexes,
    Ship,
    Shipped,
    index_limits,
    several_indexes,
    shipped,
    version_text,
)
from twigcast.spark.stages.structures import (
    BODIES_KEPT,
    FOUND,
    STRUCTURE_SECONDS,
    BodiesKept,
    Keeping,
    StructureAnswers,
    StructureChoice,
    StructureColumn,
    with_kept_bodies,
)
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
    structure: str | None = None,
    bodies: BodiesKept = "matching",
    annotations: AnnotationColumn | None = None,
    ids: str | None = None,
) -> DataFrame:
    """Match documents; adds the columns ``matches`` (positions in the index), ``index_version``, ``error``.

    A fourth column, ``undecided``, has the positions of subscriptions that took too much work to decide; it
    is null for nearly all documents, and ``refused_deliveries`` makes dead letters from it.
    Columns of these names are replaced, and all others stay.  A document without an id gets the hash of its
    body as id.
    ``docs`` is any DataFrame with ``doc_id`` and ``body``, or what ``read`` gives; workers read it
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
    ``structure`` names a column that ``structures`` has made.  Documents are matched by their structures, and
    only those are read that have none, or whose structures leave a subscription open; the answers are the
    same.  The ``body`` of a document that matches nothing is then null, because it may not have been read;
    with ``bodies="failed"`` only documents that could not be read have one.
    ``ids`` names a column for the ids of the subscriptions that match, as text, beside their positions.
    ``annotations`` is a column that another pipeline has written; the column ``unread`` then says which
    documents it decided.
    """
    reading = docs.worker_reading() if isinstance(docs, Documents) else None
    docs = as_dataframe(docs)
    prepare_workers(docs.sparkSession)
    require(docs, ("doc_id", "body"), "match")
    if (names := plain_names(docs)) is not None:
        renamed = {name: plain for plain, name in names.items()}
        hits = match(
            docs.toDF(*names),
            index,
            ship=ship,
            limits=limits,
            seconds=seconds,
            mediation=mediation,
            structure=None if structure is None else renamed.get(structure, structure),
            bodies=bodies,
            annotations=annotations
            and replace(annotations, name=renamed.get(annotations.name, annotations.name)),
            ids=ids,
        )
        return hits.toDF(*[names.get(name, name) for name in hits.columns])
    docs = of_document_types(docs)
    if limits is None:
        limits = index_limits(index)
    shards = shipped(index, ship, docs.sparkSession.sparkContext)
    version = version_text(shards)
    structured = None
    if structure is not None:
        structured = StructureColumn.of(docs, structure)
        if mediation is not None:
            raise StageError(
                "structures are those of the documents, not of what a mapping makes of them: expected either"
                " structure or mediation",
                code="options",
            )
        if bodies not in BODIES_KEPT:
            raise StageError(
                f"expected bodies to be {' or '.join(BODIES_KEPT)}, got {bodies!r}", code="options"
            )
    if annotations is not None:
        annotations.check(docs)
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
    if annotations is not None:
        fields.append(UNREAD)
    if ids is not None:
        if ids.lower() in {"doc_id", "body", *(field.name.lower() for field in fields)}:
            raise StageError(f"expected another name for the column of ids, got {ids!r}", code="options")
        fields.append(StructField(ids, NAMES))
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
            column=structured or annotations,
            bodies=bodies if structured is not None and number == len(shards) - 1 else None,
            ids=ids,
        )
        if structured is not None and reading is not None and len(shards) == 1:
            keeping = Keeping(bodies, every=routed is not None and routed.schema is not None)
            choice = partial(_choice, shard=shard, limits=limits, structure=structured, keeping=keeping)
            reading = reading.choosing(choice) or reading
        if reading is not None and number == 0:
            docs = reading.places.mapInArrow(reading.followed_by(stage), schema)
        else:
            docs = docs.mapInArrow(stage, schema)
    return docs


def _network(index: AnyIndexes, ship: Ship, context: Any) -> ShippedNetwork | None:
    """The network of an index version, prepared for the workers; none if there is no network."""
    versions = several_indexes(index)
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
    column: StructureColumn | AnnotationColumn | None,
    bodies: BodiesKept | None,
    ids: str | None,
) -> Iterator[pa.RecordBatch]:
    """The stage of one shard, which workers run; ``bodies`` says which of them it passes on, None for all."""
    index = shard.open_index(limits)
    choose = column.choice(index, Keeping()) if column is not None else None
    names = index.rows().column("subscription").combine_chunks().cast(pa.string()) if ids else None
    for batch in batches:
        began = time.perf_counter()
        earlier = None
        if FOUND in batch.schema.names:
            earlier = batch.column(STRUCTURE_SECONDS)
        elif choose is not None:
            batch, _ = choose(batch)
        batch = _identified(batch)
        documents = batch.column("body")
        prologs = batch.column("prolog") if inheriting else None
        given = batch.column("error") if failed else None
        known = given if given is not None and given.null_count < len(given) else None
        choice = None
        if mediation is not None:
            publishers = batch.column("publisher") if mediation.by == "publisher" else None
            choice = mediation.choose(publishers, batch.column(naming) if naming is not None else None)
            known = _with_failures(known, choice.failures, len(documents))
        decided = None if column is None else StructureAnswers.of(batch, limits, bodies)
        answer, failures = _answer(index, documents, prologs, known, choice, decided)
        undecided = _undecided(answer, offset)
        ways: list[pa.Array] = []
        if routed is None:
            matches = positions(answer.matches, offset)
        else:
            matches, *ways = routed.carry(batch, answer.matches, undecided)
            undecided = routed.of_subscribers(undecided)
        matched = _named(matches, offset, names) if names is not None else None
        if further:
            matches = united(batch.column("matches"), matches)
            undecided = _united_or_null(batch.column("undecided"), undecided)
        if bodies is not None:
            batch = with_kept_bodies(batch, bodies, matches, failures, undecided, ways)
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
        if isinstance(column, AnnotationColumn):
            assert decided is not None
            columns.append(decided.rows)
            fields.append(UNREAD.name)
        if ids is not None:
            assert matched is not None
            columns.append(united(batch.column(ids), matched, ARROW_NAMES) if further else matched)
            fields.append(ids)
        if seconds is not None:
            share = pa.repeat(pa.scalar(took / rows if rows else 0.0), rows)
            share = share if earlier is None else pc.add(share, earlier)
            columns.append(pc.add(share, batch.column(seconds)) if further else share)
            fields.append(seconds)
        yield pa.RecordBatch.from_arrays(columns, fields)


def _named(matches: pa.Array, offset: int, names: pa.Array) -> pa.Array:
    """The ids of matching subscriptions, given their positions, counted from ``offset``."""
    lengths = pc.fill_null(pc.list_value_length(matches), 0)
    ends = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths).cast(pa.int32())])
    found = names.take(pc.subtract(matches.flatten(), pa.scalar(offset, pa.int32())))
    return pa.ListArray.from_arrays(ends, found, mask=matches.is_null() if matches.null_count else None)


def _choice(
    *, shard: Shipped, limits: DocumentLimits, structure: StructureColumn, keeping: Keeping
) -> StructureChoice:
    return structure.choice(shard.open_index(limits), keeping)


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


_SKIPPED = error_row(DocumentError("another document is tried", code="internal"))


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
    decided: StructureAnswers | None = None,
) -> tuple[BatchMatch, list[ErrorRow | None] | None]:
    """The answer of the index, and the list of errors; none if no row has an error.

    A document on which the index itself fails has an error; it is found by halving the batch.
    """

    def of(errors: pa.Array | None) -> tuple[BatchMatch, list[ErrorRow | None] | None]:
        return _answer_of_all(index, bodies, prologs, errors, choice, decided)

    def failing(rows: range) -> dict[int, ErrorRow]:
        others = {row: _SKIPPED for row in range(len(bodies)) if row not in rows}
        try:
            of(_with_failures(known, others, len(bodies)))
        except TwigcastError:
            raise
        except Exception as error:
            if len(rows) == 1:
                return {rows[0]: internal_error(error)}
            middle = len(rows) // 2
            return failing(rows[:middle]) | failing(rows[middle:])
        return {}

    try:
        return of(known)
    except TwigcastError:
        raise
    except Exception:
        return of(_with_failures(known, failing(range(len(bodies))), len(bodies)))


def _answer_of_all(
    index: Index,
    bodies: pa.Array,
    prologs: pa.Array | None,
    known: pa.Array | None,
    choice: MappingChoice | None,
    decided: StructureAnswers | None,
) -> tuple[BatchMatch, list[ErrorRow | None] | None]:
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
    if decided is not None:
        answer = decided.completed(index, read_as)
    else:
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


def _undecided(answer: BatchMatch, offset: int) -> pa.Array:
    """The positions that could not be decided, counted from ``offset``; null for rows without any."""
    if not answer.undecided:
        return pa.nulls(len(answer), ARROW_NUMBERS)
    found = [
        [offset + each.position for each in answer.undecided[row]] if row in answer.undecided else None
        for row in range(len(answer))
    ]
    return pa.array(found, ARROW_NUMBERS)


def _united_or_null(before: pa.Array, after: pa.Array) -> pa.Array:
    """The concatenated lists of two arrays, row by row; null if both are."""
    if before.null_count == len(before):
        return after
    rows = zip(before.to_pylist(), after.to_pylist(), strict=True)
    return pa.array([(x or []) + (y or []) or None for x, y in rows], ARROW_NUMBERS)

"""Makes deliveries from hits: one row for each subscriber, with its content and a delivery id.

The segment files of the index version, which workers map, have the subscriber of each position, so no join is
needed: a worker takes the rows of the matched positions.  Content is copied once for each delivery, in
batches of a bounded size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from twigcast.document import PART_FORMS, DocumentLimits, Node, PartForm
from twigcast.errors import StageError
from twigcast.filtering import Index
from twigcast.pattern import too_costly
from twigcast.spark.columns import (
    ARROW_ATTEMPTS,
    ARROW_REFUSAL,
    ATTEMPTS,
    CACHED_BYTES,
    CARRIED,
    DELIVERIES,
    DIGEST,
    ERROR,
    FRAGMENT,
    MAPPING,
    NAMED_MAPPING,
    ONLY,
    OWNER,
    PROLOG,
    PUBLISHER,
    STRANGERS,
    UNDECIDED,
    column_named,
    has,
    require,
)
from twigcast.spark.jvm.workers import prepare_workers
from twigcast.spark.stages.delivery_ids import document_keys, identify, subscriber_key
from twigcast.spark.stages.document_parts import (
    DocumentParts,
    costly_refusal,
    document_origin,
    parsed_pattern,
)
from twigcast.spark.stages.mediating import AnyMediation, Mediation
from twigcast.spark.stages.shipping import (
    AnyIndexes,
    Ship,
    Shipped,
    index_limits,
    several_indexes,
    shipped,
    version_text,
)

ContentMode: TypeAlias = Literal["inline", "reference"]
Copies: TypeAlias = Literal["subscription", "subscriber"]

_Stage: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
_Attempts: TypeAlias = tuple[pa.Array, pa.RecordBatch]  # the rows of the documents, and the attempts

NodeChoice: TypeAlias = Callable[[str, int, list[Node]], list[Node]]
"""Takes the column ``OWNER``, the position of a subscription and nodes; returns those to deliver."""

DELIVERY_BATCH_BYTES = 8 << 20
DELIVERY_BATCH_ROWS = 10_000


def deliveries(
    hits: DataFrame,
    index: AnyIndexes,
    *,
    ship: Ship = "path",
    content: ContentMode = "inline",
    parts: PartForm = "document",
    limits: DocumentLimits | None = None,
    mediation: AnyMediation | None = None,
    columns: Sequence[str] = (),
    copies: Copies = "subscription",
) -> DataFrame:
    """One row for each delivery of the hits; ``index`` is the one that they were matched against.

    ``content`` is the document, or with a ``part`` (0, 1, 2, …) a node that the subscription selected.  A
    part is a document of its own, with the namespaces that it uses; with ``parts="range"`` it is the bare
    range of bytes.  A subscription whose parts exceed ``limits`` gets none of that document: see
    ``refused_deliveries``.
    A document with hundreds of subscribers is copied hundreds of times; with ``content="reference"`` whole
    documents are null and can be looked up by their ``doc_id``.
    ``mediation`` are the mappings that the hits were matched with.  A document is delivered as its publisher
    wrote it, and so is a part: it is what the selected node of the image was made from.
    ``columns`` are columns of the hits that the deliveries carry after their own.
    With ``copies="subscriber"``, a subscriber receives a whole document once, however many of its
    subscriptions match; ``subscription`` is then the first of them, and the id does not depend on it.
    """
    stage = _stage(hits, index, ship, content, parts, limits, mediation, columns, copies)
    made = _matched(hits, columns).mapInArrow(
        partial(_delivered, stage=stage), _schema(DELIVERIES, hits, columns)
    )
    return _named(made, DELIVERIES, columns)


def refused_deliveries(
    hits: DataFrame,
    index: AnyIndexes,
    *,
    ship: Ship = "path",
    parts: PartForm = "document",
    limits: DocumentLimits | None = None,
    mediation: AnyMediation | None = None,
) -> DataFrame:
    """One row for each document and subscription that exceed a limit together: a dead letter.

    The parts that the subscription selects are too large, or it takes too much work to decide.  The columns
    are those of ``dead_letters``, and ``subscription``.
    """
    made = attempts(
        hits, index, ship=ship, content="reference", parts=parts, limits=limits, mediation=mediation
    )
    return refused(made)


def attempts(
    hits: DataFrame,
    index: AnyIndexes,
    *,
    ship: Ship = "path",
    content: ContentMode = "inline",
    parts: PartForm = "document",
    limits: DocumentLimits | None = None,
    mediation: AnyMediation | None = None,
    columns: Sequence[str] = (),
    copies: Copies = "subscription",
    owned: NodeChoice | None = None,
) -> DataFrame:
    """Deliveries and refused deliveries in one table, so that both are computed in one pass.

    If the hits are parts of chunks, ``owned`` says which of the selected nodes belong to the part.
    """
    stage = _stage(hits, index, ship, content, parts, limits, mediation, columns, copies, owned)
    made = _matched(hits, columns).mapInArrow(stage, _schema(ATTEMPTS, hits, columns))
    return _named(made, ATTEMPTS, columns)


def delivers_parts(index: AnyIndexes) -> bool:
    """Whether a subscription of the index receives parts; if none does, no delivery can be refused."""
    opened = (each if isinstance(each, Index) else each.open_index() for each in several_indexes(index))
    return any(table.null_count < len(table) for table in (each.rows().column("pattern") for each in opened))


def _schema(own: StructType, hits: DataFrame, columns: Sequence[str]) -> StructType:
    """The columns of deliveries or attempts, and those that they carry under plain names."""
    carried = [StructField(f"{_CARRIED}{n}", hits.schema[name].dataType) for n, name in enumerate(columns)]
    return StructType([*own.fields, *carried])


def _named(made: DataFrame, own: StructType, columns: Sequence[str]) -> DataFrame:
    return made.toDF(*own.names, *columns) if columns else made


_CARRIED = "twigcast_carried_"  # a name of the source may have dots, which mapInArrow takes for nested fields


def _matched(hits: DataFrame, columns: Sequence[str]) -> DataFrame:
    """The documents that match, with the columns that their deliveries need."""
    needed = ["doc_id", "body", "matches", "index_version"]
    optional = (PROLOG, ONLY, UNDECIDED, PUBLISHER, MAPPING, NAMED_MAPPING, DIGEST, OWNER)
    needed += [field.name for field in optional if has(hits, field)]
    wanted = F.col("matches").isNotNull() & (F.size("matches") > 0)
    if has(hits, UNDECIDED):
        wanted |= F.col("undecided").isNotNull()
    carried = [column_named(name).alias(f"{_CARRIED}{number}") for number, name in enumerate(columns)]
    return hits.where(wanted).select(*needed, *carried)


def _stage(
    hits: DataFrame,
    index: AnyIndexes,
    ship: Ship,
    content: ContentMode,
    parts: PartForm,
    limits: DocumentLimits | None,
    mediation: AnyMediation | None,
    columns: Sequence[str],
    copies: Copies,
    owned: NodeChoice | None = None,
) -> _Stage:
    """The function that workers run on batches of documents that match."""
    prepare_workers(hits.sparkSession)
    require(hits, ("doc_id", "body", "matches", "index_version"), "deliveries")
    if isinstance(columns, str):
        raise StageError("expected a list of columns, got one name", code="options")
    require(hits, columns, "deliveries")
    own = {*ATTEMPTS.names, "batch"}
    for number, name in enumerate(columns):
        if name.lower() in own or name in columns[:number]:
            raise StageError(f"deliveries have a column {name} already", code="columns")
    if copies not in get_args(Copies):
        expected = " or ".join(get_args(Copies))
        raise StageError(f"expected copies to be {expected}, got {copies!r}", code="options")
    if parts not in PART_FORMS:
        raise StageError(f"expected parts to be {' or '.join(PART_FORMS)}, got {parts!r}", code="options")
    if mediation is not None:
        require(hits, ("mapping",), "deliveries with mediation")
    rewritten = all(has(hits, field) for field in (MAPPING, STRANGERS, CACHED_BYTES))
    if mediation is None and rewritten and delivers_parts(index):
        raise StageError(
            "the documents were matched with mappings, and parts are selected in their images: give the"
            " mappings to deliveries too, as mediation",
            code="unknown-mapping",
        )
    if limits is None:
        limits = index_limits(index)
    shards = shipped(index, ship, hits.sparkSession.sparkContext)
    version = version_text(shards)
    return partial(
        _deliver,
        shards=shards,
        version=version,
        content=content,
        parts=parts,
        limits=limits,
        mediation=None if mediation is None else Mediation.of(mediation),
        carried=[f"{_CARRIED}{number}" for number in range(len(columns))],
        copies=copies,
        owned=owned,
    )


def delivered(attempts: DataFrame) -> DataFrame:
    """The deliveries among the attempts."""
    return attempts.where(F.col("refusal").isNull()).drop("refusal")


def refused(attempts: DataFrame) -> DataFrame:
    """The refused deliveries among the attempts, as dead letters with a ``subscription``."""
    reason = [f"refusal.{name}" for name in ERROR.names]
    failed = attempts.where(F.col("refusal").isNotNull())
    body = F.col("content").alias("body")
    origin = [f"refusal.{name}" for name in ("prolog", "publisher", "mapping")]
    carried = [F.col(CARRIED.name).alias("columns")] if has(attempts, CARRIED) else []
    return failed.select("doc_id", body, *reason, "index_version", *origin, "subscription", *carried)


def dead_letters(hits: DataFrame) -> DataFrame:
    """One row for each document that could not be read: its bytes, and code, line and column of the error."""
    require(hits, ("doc_id", "body", "error", "index_version"), "dead_letters")
    kept = ["doc_id", "body"]
    reason = [f"error.{name}" for name in ("code", "message", "line", "column", "offset")]
    more = [F.col(field.name) for field in (PROLOG, PUBLISHER, FRAGMENT) if has(hits, field)]
    if has(hits, NAMED_MAPPING):
        more.append(F.col(NAMED_MAPPING.name).alias("mapping"))
    if has(hits, ONLY):
        more.append(F.col(ONLY.name).alias("subscription"))
    if has(hits, CARRIED):
        more.append(F.col(CARRIED.name).alias("columns"))
    return hits.where(F.col("error").isNotNull()).select(*kept, *reason, "index_version", *more)


def _deliver(
    batches: Iterator[pa.RecordBatch],
    *,
    shards: tuple[Shipped, ...],
    version: str,
    content: ContentMode,
    parts: PartForm,
    limits: DocumentLimits,
    mediation: Mediation | None,
    carried: list[str],
    copies: Copies,
    owned: NodeChoice | None,
) -> Iterator[pa.RecordBatch]:
    """The stage that workers run."""
    table = pa.concat_tables([shard.open_subscribers() for shard in shards])
    for batch in batches:
        for other in batch.column("index_version").unique().to_pylist():
            if other != version:
                message = f"the documents were matched against index version {other}, not {version}"
                raise StageError(message, code="index-version")
        documents = _Wanted.of(batch, table, _wants_document)
        if copies == "subscriber":
            documents = documents.one_for_each_subscriber()
        made = _whole(batch, documents, version, content)
        wanted = _Wanted.of(batch, table, _wants_part)
        if len(wanted):
            made = chain(made, _parts(batch, wanted, version, parts, limits, mediation, owned))
        if "undecided" in batch.schema.names and batch.column("undecided").null_count < batch.num_rows:
            made = chain(made, _undecided(batch, table, version, limits))
        others = [batch.column(name) for name in carried]
        for rows, attempts in made:
            for name, column in zip(carried, others, strict=True):
                attempts = attempts.append_column(name, column.take(rows))
            yield attempts


def _delivered(batches: Iterator[pa.RecordBatch], *, stage: _Stage) -> Iterator[pa.RecordBatch]:
    """The deliveries of a stage, without refused ones.

    Spark could filter its rows as well, but copies the content of each delivery once more for that.
    """
    for batch in stage(batches):
        refusals = batch.column("refusal")
        if refusals.null_count < len(refusals):
            batch = batch.filter(refusals.is_null())
        yield batch.select([name for name in batch.schema.names if name != "refusal"])


class _Wanted:
    """The deliveries to make from a batch: for each, the row of the document, and the subscriber."""

    def __init__(
        self, rows: pa.Array, positions: pa.Array, who: pa.Table, *, keyed_by_subscription: bool = True
    ) -> None:
        self.rows = rows
        self.positions = positions
        self._who = who
        self.subscriptions = who.column("subscription").combine_chunks().cast(pa.string())
        self.subscribers = who.column("subscriber").combine_chunks().cast(pa.string())
        self.patterns = who.column("pattern").combine_chunks()
        owners, names = self.subscribers.to_pylist(), self.subscriptions.to_pylist()
        if not keyed_by_subscription:
            names = [None] * len(owners)
        self.keys = [subscriber_key(owner, name) for owner, name in zip(owners, names, strict=True)]

    @classmethod
    def of(cls, batch: pa.RecordBatch, table: pa.Table, wanted: Callable[[Any], Any]) -> _Wanted:
        """The deliveries of a batch for which ``wanted`` is true of the pattern column."""
        positions = batch.column("matches").flatten()
        who = table.take(positions)
        rows = pc.list_parent_indices(batch.column("matches"))
        mask = wanted(who.column("pattern")).combine_chunks()
        if ONLY.name in batch.schema.names:
            only = batch.column(ONLY.name).take(rows)
            named = who.column("subscription").combine_chunks().cast(pa.string())
            mask = pc.and_(mask, pc.fill_null(pc.equal(only, named), True))
        return cls(rows.filter(mask), positions.filter(mask), who.filter(mask))

    def one_for_each_subscriber(self) -> _Wanted:
        """One delivery for each document and subscriber, that of the first subscription by its id."""
        owners = self.subscribers.dictionary_encode().indices
        wanted = pa.table({"row": self.rows, "owner": owners, "subscription": self.subscriptions})
        order = pc.sort_indices(wanted, [(name, "ascending") for name in wanted.column_names])
        pairs = np.stack([self.rows.take(order).to_numpy(), owners.take(order).to_numpy()])
        first = np.ones(len(order), dtype=bool)
        first[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
        kept = order.filter(pa.array(first))
        made = (column.take(kept) for column in (self.rows, self.positions, self._who))
        return _Wanted(*made, keyed_by_subscription=False)

    def __len__(self) -> int:
        return len(self.keys)


def _wants_document(patterns: Any) -> Any:
    return patterns.is_null()


def _wants_part(patterns: Any) -> Any:
    return patterns.is_valid()


def _whole(batch: pa.RecordBatch, wanted: _Wanted, version: str, content: ContentMode) -> Iterator[_Attempts]:
    """The deliveries of whole documents."""
    bodies, doc_ids = batch.column("body"), batch.column("doc_id")
    documents = document_keys(batch)
    rows = wanted.rows
    ids = pa.array(
        [identify(documents[row], key) for row, key in zip(rows.to_pylist(), wanted.keys, strict=True)],
        pa.string(),
    )
    if content == "reference":
        bodies = pa.nulls(len(bodies), pa.binary())
    for start, end in _slices(pc.fill_null(pc.binary_length(bodies), 0).take(rows)):
        some = rows.slice(start, end - start)
        yield (
            some,
            pa.RecordBatch.from_arrays(
                [
                    ids.slice(start, end - start),
                    wanted.subscribers.slice(start, end - start),
                    wanted.subscriptions.slice(start, end - start),
                    doc_ids.take(some),
                    pa.nulls(end - start, pa.int32()),
                    bodies.take(some),
                    pa.repeat(pa.scalar(version, pa.string()), end - start),
                    pa.nulls(end - start, ARROW_REFUSAL),
                ],
                schema=ARROW_ATTEMPTS,
            ),
        )


def _slices(lengths: pa.Array) -> Iterator[tuple[int, int]]:
    """Ranges of rows; each has a bounded number of rows and bytes, or is one row."""
    ends = np.cumsum(lengths.to_numpy(zero_copy_only=False), dtype=np.int64)
    start = 0
    while start < len(ends):
        before = int(ends[start - 1]) if start else 0
        end = int(np.searchsorted(ends, before + DELIVERY_BATCH_BYTES, side="right"))
        end = min(max(end, start + 1), start + DELIVERY_BATCH_ROWS)
        yield start, end
        start = end


def _parts(
    batch: pa.RecordBatch,
    wanted: _Wanted,
    version: str,
    form: PartForm,
    limits: DocumentLimits,
    mediation: Mediation | None,
    owned: NodeChoice | None,
) -> Iterator[_Attempts]:
    """The deliveries of selected nodes; a document is parsed once for all of its deliveries."""
    rows: list[tuple[Any, ...]] = []
    of: list[int] = []
    size = 0
    last = -1
    for number, row in enumerate(wanted.rows.to_pylist()):
        if row != last:
            last = row
            doc_id, body = batch.column("doc_id")[row].as_py(), batch.column("body")[row].as_py()
            mapping = None
            if mediation is not None:
                mapping = mediation.applied(batch.column("mapping")[row].as_py())
            key = document_keys(batch.slice(row, 1))[0]
            parts = DocumentParts(body, document_origin(batch, row), form, limits, mapping)
        owner, name = wanted.subscribers[number].as_py(), wanted.subscriptions[number].as_py()
        own = None
        if owned is not None:
            own = partial(owned, batch.column(OWNER.name)[row].as_py(), wanted.positions[number].as_py())
        for part, content, refusal in parts.of(parsed_pattern(wanted.patterns[number].as_py()), name, own):
            id = None if refusal else identify(key, wanted.keys[number], part)
            rows.append((id, owner, name, doc_id, part, content, version, refusal))
            of.append(row)
            size += len(content)
            if size >= DELIVERY_BATCH_BYTES or len(rows) >= DELIVERY_BATCH_ROWS:
                yield _attempts(of, rows)
                rows, of, size = [], [], 0
    if rows:
        yield _attempts(of, rows)


def _undecided(
    batch: pa.RecordBatch, table: pa.Table, version: str, limits: DocumentLimits
) -> Iterator[_Attempts]:
    """The refusals of subscriptions that took too much work to decide."""
    has_only = ONLY.name in batch.schema.names
    for row, positions in enumerate(batch.column("undecided").to_pylist()):
        if not positions:
            continue
        doc_id, body = batch.column("doc_id")[row].as_py(), batch.column("body")[row].as_py()
        only = batch.column(ONLY.name)[row].as_py() if has_only else None
        for who in table.take(positions).select(["subscriber", "subscription"]).to_pylist():
            if only is None or only == who["subscription"]:
                error = too_costly(limits.steps(len(body)))
                refusal = costly_refusal(error, who["subscription"], document_origin(batch, row))
                yield _attempts([row], [(None, *who.values(), doc_id, None, body, version, refusal)])


def _attempts(of: list[int], rows: list[tuple[Any, ...]]) -> _Attempts:
    columns = [
        pa.array(column, field.type)
        for column, field in zip(zip(*rows, strict=True), ARROW_ATTEMPTS, strict=True)
    ]
    return pa.array(of, pa.int64()), pa.RecordBatch.from_arrays(columns, schema=ARROW_ATTEMPTS)

"""The columns of the tables that stages pass on.

documents   doc_id, body, and the other columns of the source; from some sources also
            prolog  the namespaces and entities that a record inherits, see ``document.prolog``
            error   why there is no body
            publisher  who published it: its router in a network, and its mapping with mediation by publisher
            mapping    the mapping that it names itself, by name or reference
hits        documents with matches, index_version, error, and
            undecided          the subscriptions that took too much work to decide, by position, or null
            with a network also
            hops               the numbers of the links that the document took
            false_positives    the numbers of those among them behind which no subscriber received it
            with mediation also
            mapping            the reference of the mapping that was applied, or null
            strangers          how many topmost elements the source schema of the mapping does not have
            cached_bytes       how much of the document the rewriter had to keep back
            twigcast_mapping   the mapping that the document names itself, if the documents had that column
            with annotations
            unread             whether the document was not parsed, because its annotations decide it
            with structures
            body               null if the document matches nothing, because it is not read then
            of documents in fragments
            body               null if no delivery needs the document
            twigcast_digest    a hash of the digests of the fragments, if deliveries are references
            fragment           the number of the fragment with the error
            of parts of chunks
            twigcast_owner     the chunk, and the pairs of names of a second pass
deliveries  delivery_id, subscriber, subscription, doc_id, part, content, index_version, and carried columns
attempts    deliveries with
            refusal  why a subscription gets no parts of a document, which is then the content
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from twigcast.errors import DocumentError, StageError

ERROR = StructType(
    [
        StructField("code", StringType()),
        StructField("message", StringType()),
        StructField("line", IntegerType()),
        StructField("column", IntegerType()),
        StructField("offset", LongType()),
    ]
)
"""The column of the error of a document that could not be read, with its position."""

ERRORS = StructField("error", ERROR)
PROLOG = StructField("prolog", BinaryType())
ONLY = StructField("twigcast_subscription", StringType())
"""The column of the only subscription to deliver a document to; null for all that match."""

DIGEST = StructField("twigcast_digest", BinaryType())
"""The column of what delivery ids have in place of the hash of the body, where the body may not be there."""

CARRIED = StructField("twigcast_columns", StringType())
"""The column of what the deliveries of a dead letter carry, as JSON."""

OWNER = StructField("twigcast_owner", StringType())
"""The column of the chunk that a document is a part of: only nodes that belong to the chunk are delivered."""

FRAGMENT = StructField("fragment", IntegerType())
"""The column of the number of the fragment in which the error of a document is; null if it is in none."""

SOURCED = StructType(
    [
        StructField("doc_id", StringType()),
        StructField("body", BinaryType()),
        PROLOG,
        ERRORS,
    ]
)
"""The columns of documents that workers have read: each row has a body or an error."""

PUBLISHER = StructField("publisher", StringType())
MAPPING = StructField("mapping", StringType())
NAMED_MAPPING = StructField("twigcast_mapping", StringType())
STRANGERS = StructField("strangers", IntegerType())
CACHED_BYTES = StructField("cached_bytes", LongType())

NUMBERS = ArrayType(IntegerType(), containsNull=False)  # saves the null checks: 1 µs for each document
NAMES = ArrayType(StringType(), containsNull=False)
MATCHES, UNDECIDED, HOPS, FALSE_POSITIVES = (
    StructField(name, NUMBERS) for name in ("matches", "undecided", "hops", "false_positives")
)
OPEN = StructField("open", NUMBERS)
"""The column of the positions that a structure leaves open."""
UNREAD = StructField("unread", BooleanType())
INDEX_VERSION = StructField("index_version", StringType())
SECONDS = DoubleType()

DELIVERIES = StructType(
    [
        StructField("delivery_id", StringType()),
        StructField("subscriber", StringType()),
        StructField("subscription", StringType()),
        StructField("doc_id", StringType()),
        StructField("part", IntegerType()),
        StructField("content", BinaryType()),
        INDEX_VERSION,
    ]
)

REFUSAL = StructType([*ERROR.fields, PROLOG, PUBLISHER, MAPPING])
ATTEMPTS = StructType([*DELIVERIES.fields, StructField("refusal", REFUSAL)])

_ARROW_ERROR_FIELDS = [
    ("code", pa.string()),
    ("message", pa.string()),
    ("line", pa.int32()),
    ("column", pa.int32()),
    ("offset", pa.int64()),
]
ARROW_ERROR = pa.struct(_ARROW_ERROR_FIELDS)
ARROW_REFUSAL = pa.struct(
    [*_ARROW_ERROR_FIELDS, ("prolog", pa.binary()), ("publisher", pa.string()), ("mapping", pa.string())]
)
ARROW_SOURCED = pa.schema(
    [("doc_id", pa.string()), ("body", pa.binary()), ("prolog", pa.binary()), ("error", ARROW_ERROR)]
)
ARROW_ATTEMPTS = pa.schema(
    [
        ("delivery_id", pa.string()),
        ("subscriber", pa.string()),
        ("subscription", pa.string()),
        ("doc_id", pa.string()),
        ("part", pa.int32()),
        ("content", pa.binary()),
        ("index_version", pa.string()),
        ("refusal", ARROW_REFUSAL),
    ]
)

ARROW_NUMBERS = pa.list_(pa.int32())
ARROW_NAMES = pa.list_(pa.string())

ErrorRow: TypeAlias = dict[str, Any]


def error_row(error: DocumentError) -> ErrorRow:
    """An error as the row of a table."""
    return {
        "code": error.code,
        "message": error.message,
        "line": error.line,
        "column": error.column,
        "offset": error.offset,
    }


def error_without_position(message: str, *, code: str) -> ErrorRow:
    """An error that has no position in a document, as the row of a table."""
    return {"code": code, "message": message, "line": None, "column": None, "offset": None}


def internal_error(error: Exception) -> ErrorRow:
    """An exception that nobody expected, as the error of the one item on which it was raised."""
    *_, last = traceback.extract_tb(error.__traceback__) or [None]
    place = "" if last is None else f", {Path(last.filename).name}, line {last.lineno}"
    text = " ".join(str(error).split())[:LONGEST]
    message = f"twigcast failed on it ({type(error).__name__}: {text}{place}): please report this"
    return error_without_position(message, code="internal")


LONGEST = 300  # characters of the text of an unexpected exception


SourcedRow: TypeAlias = tuple[str, bytes | None, bytes | None, ErrorRow | None]
DOCUMENT_BATCH_BYTES = 4 << 20
DOCUMENT_BATCH_ROWS = 2000


def batched(rows: Iterable[SourcedRow]) -> Iterator[pa.RecordBatch]:
    """Collect documents into Arrow batches of a bounded size."""
    waiting: list[SourcedRow] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += len(row[0]) + len(row[1] or b"") + len(row[2] or b"")
        if size >= DOCUMENT_BATCH_BYTES or len(waiting) >= DOCUMENT_BATCH_ROWS:
            yield _batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield _batch(waiting)


def _batch(rows: list[SourcedRow]) -> pa.RecordBatch:
    columns = zip(zip(*rows, strict=True), ARROW_SOURCED, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in columns], schema=ARROW_SOURCED
    )


def has(table: DataFrame, field: StructField) -> bool:
    """Whether a table has a column of this name and type; a column of another type belongs to the user."""
    kind = field.dataType.simpleString()
    return any(
        other.name == field.name and other.dataType.simpleString() == kind for other in table.schema.fields
    )


def column_named(name: str) -> Column:
    """The column of exactly that name, dots and quotes included."""
    quoted = name.replace("`", "``")
    return F.col(f"`{quoted}`")


def require(table: DataFrame, columns: Sequence[str], where: str) -> None:
    """Raise ``StageError`` if a table lacks columns that a stage needs."""
    missing = [name for name in columns if name not in table.columns]
    if missing:
        message = f"{where} needs the columns {', '.join(columns)}; {', '.join(missing)} is missing from "
        raise StageError(message + (", ".join(table.columns) or "none"), code="columns")


def plain_names(table: DataFrame) -> dict[str, str] | None:
    """Replacements for the names of columns, with these names; none if no name needs one.

    A name needs one if ``mapInArrow`` would take it for the path of a nested field.
    """
    names = {
        f"column {number}" if set(name) & {".", "`"} else name: name
        for number, name in enumerate(table.columns)
    }
    return None if table.columns == list(names) else names


def of_document_types(docs: DataFrame) -> DataFrame:
    """The documents with ids as text and bodies as bytes; raises ``StageError`` if that cannot be."""
    body, doc_id = docs.schema["body"].dataType, docs.schema["doc_id"].dataType
    if not isinstance(body, BinaryType | StringType):
        raise StageError(f"expected bytes or text as body, found {body.simpleString()}", code="columns")
    if isinstance(body, StringType):
        docs = docs.withColumn("body", F.col("body").cast("binary"))
    if not isinstance(doc_id, StringType):
        docs = docs.withColumn("doc_id", F.col("doc_id").cast("string"))
    return docs


def positions(found: Any, offset: int) -> pa.Array:
    """The positions as 32-bit integers, counted from ``offset``."""
    found = found.cast(pa.list_(pa.int32()))
    if not offset:
        return found
    values = pc.add(found.values, pa.scalar(offset, pa.int32()))
    mask = found.is_null() if found.null_count else None
    return pa.ListArray.from_arrays(found.offsets, values, mask=mask)


def united(before: pa.Array, after: pa.Array, kind: pa.DataType = ARROW_NUMBERS) -> pa.Array:
    """The concatenated lists of two arrays, row by row; null if either is."""
    rows = zip(before.to_pylist(), after.to_pylist(), strict=True)
    return pa.array([None if x is None or y is None else x + y for x, y in rows], kind)


def error_condition(error: PySparkException) -> str | None:
    """The name of an error of Spark, such as ``PATH_NOT_FOUND``, with PySpark 3 and 4."""
    condition: Callable[[], str | None] = getattr(error, "getCondition", error.getErrorClass)
    return condition()

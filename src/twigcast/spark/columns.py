"""The columns that stages agree on.

documents   doc_id, body, and whatever else the source has; from some sources also
            prolog  what the body inherits from where it was cut out, see ``inheriting``
            error   why there is no body
hits        documents, and matches, index_version, error; where they went through a network, also
            hops    the numbers of the links that the document took
            vain    of these, the ones behind which nobody got it
deliveries  delivery_id, subscriber, subscription, doc_id, part, content, index_version
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
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
"""Why a document could not be read, and where."""

ERRORS = StructField("error", ERROR)
PROLOG = StructField("prolog", BinaryType())

SOURCED = StructType(
    [
        StructField("doc_id", StringType()),
        StructField("body", BinaryType()),
        PROLOG,
        ERRORS,
    ]
)
"""What is cut out of larger files: documents, or why there is none."""

NUMBERS = ArrayType(IntegerType(), containsNull=False)  # else Spark asks of each, 1 µs a document
MATCHES, HOPS, VAIN = (StructField(name, NUMBERS) for name in ("matches", "hops", "vain"))
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

ARROW_ERROR = pa.struct(
    [
        ("code", pa.string()),
        ("message", pa.string()),
        ("line", pa.int32()),
        ("column", pa.int32()),
        ("offset", pa.int64()),
    ]
)
ARROW_SOURCED = pa.schema(
    [("doc_id", pa.string()), ("body", pa.binary()), ("prolog", pa.binary()), ("error", ARROW_ERROR)]
)
ARROW_DELIVERIES = pa.schema(
    [
        ("delivery_id", pa.string()),
        ("subscriber", pa.string()),
        ("subscription", pa.string()),
        ("doc_id", pa.string()),
        ("part", pa.int32()),
        ("content", pa.binary()),
        ("index_version", pa.string()),
    ]
)

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


def placeless(message: str, *, code: str) -> ErrorRow:
    """An error without a place in a document, as the row of a table."""
    return {"code": code, "message": message, "line": None, "column": None, "offset": None}


SourcedRow: TypeAlias = tuple[str, bytes | None, bytes | None, ErrorRow | None]
BATCH_BYTES = 4 << 20
BATCH_ROWS = 2000


def batched(rows: Iterable[SourcedRow]) -> Iterator[pa.RecordBatch]:
    """Documents as batches of a bounded size, as they come."""
    waiting: list[SourcedRow] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += len(row[1] or b"")
        if size >= BATCH_BYTES or len(waiting) >= BATCH_ROWS:
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
    """Whether a table has a column as stages mean it: one of another type is somebody's own."""
    kind = field.dataType.simpleString()
    return any(
        other.name == field.name and other.dataType.simpleString() == kind for other in table.schema.fields
    )


def require(table: DataFrame, columns: Sequence[str], where: str) -> None:
    """Refuses a table that lacks columns a stage needs."""
    missing = [name for name in columns if name not in table.columns]
    if missing:
        message = f"{where} needs the columns {', '.join(columns)}; {', '.join(missing)} is not among "
        raise StageError(message + (", ".join(table.columns) or "none"), code="columns")

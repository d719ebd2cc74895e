"""The columns of the tables between the stages for fragments.

fragments   doc_id, number, header, body; without a header the body is a whole ``.tcf`` file
evaluated   some fragments of one document and what they show: facts and a partial, or a fragment that waits
            for another one, or an error; states of open documents are kept in the same columns
joined      one row for each document, and for each dead letter
            status       complete, broken, incomplete, open: of a document, which is open in a stream only
                         early: subscriptions that are certain for an open document
                         waiting: a fragment of an open document that waits for another one
                         fault: a fragment that is not counted; refused: a subscription that gets nothing
            whole        whether the document itself is needed to make its deliveries
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from twigcast.spark.columns import (
    ARROW_ERROR,
    ARROW_NUMBERS,
    DIGEST,
    ERRORS,
    FRAGMENT,
    INDEX_VERSION,
    MATCHES,
    ONLY,
    UNDECIDED,
)

EVALUATED = StructType(
    [
        StructField("doc_id", StringType()),
        StructField("number", IntegerType()),
        INDEX_VERSION,
        StructField("facts", StringType()),
        StructField("partial", BinaryType()),
        StructField("fragment", BinaryType()),
        ERRORS,
        StructField("seconds", DoubleType()),
    ]
)

ARROW_EVALUATED = pa.schema(
    [
        ("doc_id", pa.string()),
        ("number", pa.int32()),
        ("index_version", pa.string()),
        ("facts", pa.string()),
        ("partial", pa.binary()),
        ("fragment", pa.binary()),
        ("error", ARROW_ERROR),
        ("seconds", pa.float64()),
    ]
)

JOINED = StructType(
    [
        *EVALUATED.fields,
        StructField("status", StringType()),
        MATCHES,
        StructField("whole", BooleanType()),
        StructField("size", LongType()),
        StructField("digest", BinaryType()),
        StructField("subscription", StringType()),
    ]
)

ARROW_JOINED = pa.schema(
    [
        *ARROW_EVALUATED,
        ("status", pa.string()),
        ("matches", ARROW_NUMBERS),
        ("whole", pa.bool_()),
        ("size", pa.int64()),
        ("digest", pa.binary()),
        ("subscription", pa.string()),
    ]
)

WHOLE = StructType(
    [
        StructField("doc_id", StringType()),
        StructField("body", BinaryType()),
        MATCHES,
        INDEX_VERSION,
        ERRORS,
        UNDECIDED,
        DIGEST,
        StructField("size", LongType()),
        StructField("seconds", DoubleType()),
        FRAGMENT,
        ONLY,
    ]
)
"""The columns of hits of documents in fragments."""

ARROW_WHOLE = pa.schema(
    [
        ("doc_id", pa.string()),
        ("body", pa.binary()),
        ("matches", ARROW_NUMBERS),
        ("index_version", pa.string()),
        ("error", ARROW_ERROR),
        ("undecided", ARROW_NUMBERS),
        ("twigcast_digest", pa.binary()),
        ("size", pa.int64()),
        ("seconds", pa.float64()),
        ("fragment", pa.int32()),
        ("twigcast_subscription", pa.string()),
    ]
)

_BATCH_BYTES = 4 << 20
_BATCH_ROWS = 1000


def in_batches(rows: Iterable[dict[str, Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Collect rows into Arrow batches of a bounded size; what a row lacks is null."""
    waiting: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += sum(len(value) for value in row.values() if isinstance(value, bytes | str))
        if size >= _BATCH_BYTES or len(waiting) >= _BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(waiting, schema=schema)
            waiting, size = [], 0
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, schema=schema)

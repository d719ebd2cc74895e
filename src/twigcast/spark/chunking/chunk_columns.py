"""The columns of chunks and of answers.

chunks    doc_id         the path of the document, ``#``, and the offset of the first record of the part
          chunk, part    their numbers; parts of a chunk rise in document order
          queries        the ids of the queries that run on the part
          body           the part, which is a document
          source_map     where its bytes come from, see ``SourceMap``
          is_partial     whether the document broke off, and what follows could have changed answers
          foreign        of a second pass: the pairs of names, as JSON, that the scheme does not have
          error          why there is no body
answers   query, doc_id, start, end, kind, content, chunk, part, is_partial, error
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
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
    INDEX_VERSION,
    MATCHES,
    ONLY,
    OWNER,
    SECONDS,
    UNDECIDED,
)

CHUNKS = StructType(
    [
        StructField("doc_id", StringType()),
        StructField("chunk", IntegerType()),
        StructField("part", LongType()),
        StructField("queries", ArrayType(StringType())),
        StructField("body", BinaryType()),
        StructField("source_map", BinaryType()),
        StructField("is_partial", BooleanType()),
        StructField("foreign", StringType()),
        ERRORS,
    ]
)
ARROW_CHUNKS = pa.schema(
    [
        ("doc_id", pa.string()),
        ("chunk", pa.int32()),
        ("part", pa.int64()),
        ("queries", pa.list_(pa.string())),
        ("body", pa.binary()),
        ("source_map", pa.binary()),
        ("is_partial", pa.bool_()),
        ("foreign", pa.string()),
        ("error", ARROW_ERROR),
    ]
)

ANSWERS = StructType(
    [
        StructField("query", StringType()),
        StructField("doc_id", StringType()),
        StructField("start", LongType()),
        StructField("end", LongType()),
        StructField("kind", StringType()),
        StructField("content", BinaryType()),
        StructField("chunk", IntegerType()),
        StructField("part", LongType()),
        StructField("is_partial", BooleanType()),
        ERRORS,
    ]
)
ARROW_ANSWERS = pa.schema(
    [
        ("query", pa.string()),
        ("doc_id", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("kind", pa.string()),
        ("content", pa.binary()),
        ("chunk", pa.int32()),
        ("part", pa.int64()),
        ("is_partial", pa.bool_()),
        ("error", ARROW_ERROR),
    ]
)

SECONDS_COLUMN = StructField("twigcast_seconds", SECONDS)
CHUNK_HITS = StructType(
    [
        StructField("doc_id", StringType()),
        StructField("body", BinaryType()),
        MATCHES,
        INDEX_VERSION,
        ERRORS,
        UNDECIDED,
        DIGEST,
        ONLY,
        OWNER,
        SECONDS_COLUMN,
    ]
)
"""The columns of parts that were matched against the subscriptions of a pipeline."""
ARROW_CHUNK_HITS = pa.schema(
    [
        ("doc_id", pa.string()),
        ("body", pa.binary()),
        ("matches", ARROW_NUMBERS),
        ("index_version", pa.string()),
        ("error", ARROW_ERROR),
        ("undecided", ARROW_NUMBERS),
        (DIGEST.name, pa.binary()),
        (ONLY.name, pa.string()),
        (OWNER.name, pa.string()),
        (SECONDS_COLUMN.name, pa.float64()),
    ]
)

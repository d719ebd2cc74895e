"""Documents from any source that Spark has, and some that it has not.

    binaryFile   a folder of files, one document each                      doc_id: the path
    archives     a folder of archives, one document for each member        doc_id: path!member
    records      a folder of files with many records each                  doc_id: path#offset
    table        a table of the catalogue                                  doc_id: a column
    parquet …    any format of Spark, with its options                     doc_id: a column

All of them give ``doc_id`` and ``body``; what a source could not read is a row with an ``error``, on its way
to the dead letters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, DataType, StringType

from twigcast.document import DocumentLimits
from twigcast.errors import StageError
from twigcast.spark.archives import archives
from twigcast.spark.opening import files, plain_path
from twigcast.spark.records import records
from twigcast.spark.shapes import ERROR


def read(
    spark: SparkSession,
    source: str | None = None,
    *,
    format: str = "binaryFile",
    doc_id: str | None = None,
    body: str | None = None,
    options: Mapping[str, str] | None = None,
    streaming: bool = False,
) -> DataFrame:
    """The documents of a source, as a batch or as a stream; its other columns stay beside them.

    ``doc_id`` and ``body`` name the columns of a table.  Without them, the body is its column ``body``,
    ``value`` or ``content``, or the only one that is binary or text, and the id is its column ``doc_id``, the
    place in Kafka, or else the hash of the body.
    ``options`` go to Spark, but for those of ``archives`` and ``records``, and ``maxBytes`` of files.
    """
    given = {name: str(value) for name, value in (options or {}).items()}
    if format == "records":
        return records(spark, _place(source, format), given, streaming=streaming)
    if format == "archives":
        return archives(spark, _place(source, format), given, streaming=streaming)
    if format == "binaryFile":
        return _whole_files(spark, _place(source, format), given, streaming=streaming)
    return _as_documents(_table(spark, source, format, given, streaming=streaming), doc_id, body)


def _whole_files(spark: SparkSession, source: str, options: dict[str, str], *, streaming: bool) -> DataFrame:
    """Each file as a document; one that is too large is an error, and not read at all.

    Spark looks at the length before it opens a file, but only where a filter says so: hence two branches.
    """
    limit = int(options.pop("maxBytes", DocumentLimits().bytes))
    found = files(spark, source, options, streaming=streaming)
    doc_id = plain_path(F.col("path")).alias("doc_id")
    small = found.where(F.col("length") <= limit).select(
        doc_id, F.col("content").alias("body"), F.lit(None).cast(ERROR).alias("error")
    )
    large = found.where(F.col("length") > limit).select(
        doc_id, F.lit(None).cast("binary").alias("body"), _too_large(limit).cast(ERROR).alias("error")
    )
    return small.unionByName(large)


def _too_large(limit: int) -> Column:
    return F.struct(
        F.lit("too-large").alias("code"),
        F.concat(F.lit("the document has "), F.col("length"), F.lit(f" bytes, more than {limit}")).alias(
            "message"
        ),
        F.lit(1).alias("line"),
        F.lit(1).alias("column"),
        F.lit(limit).cast("long").alias("offset"),
    )


_FILE_FORMATS = ("parquet", "orc", "json", "csv", "text", "xml", "avro")


def _table(
    spark: SparkSession, source: str | None, format: str, options: dict[str, str], *, streaming: bool
) -> DataFrame:
    schema: Any = options.pop("schema", None)
    reader: Any = spark.readStream if streaming else spark.read
    if format == "table":
        return reader.options(**options).table(_place(source, format))  # type: ignore[no-any-return]
    if streaming and schema is None and format.lower() in _FILE_FORMATS:
        # A stream of files must know its columns before the first file; those that are there tell.
        schema = spark.read.format(format).options(**options).load(source).schema
    if schema is not None:
        reader = reader.schema(schema)
    reader = reader.format(format).options(**options)
    return reader.load() if source is None else reader.load(source)  # type: ignore[no-any-return]


def _as_documents(table: DataFrame, doc_id: str | None, body: str | None) -> DataFrame:
    body_column = _body_column(table, body)
    content = F.col(f"`{body_column}`").cast("binary")
    used = {body_column}
    if doc_id is not None and doc_id in table.columns:
        identity = F.col(f"`{doc_id}`").cast("string")
        used.add(doc_id)
    elif doc_id not in (None, "doc_id"):
        raise StageError(_missing("doc_id", str(doc_id), table), code="columns")
    elif "doc_id" in table.columns:
        identity = F.col("doc_id").cast("string")
        used.add("doc_id")
    elif {"topic", "partition", "offset"} <= set(table.columns):
        identity = F.concat_ws("/", "topic", "partition", "offset")
    else:
        identity = F.sha2(content, 256)
    rest = [F.col(f"`{name}`") for name in table.columns if name not in {*used, "doc_id", "body"}]
    return table.select(identity.alias("doc_id"), content.alias("body"), *rest)


def _body_column(table: DataFrame, body: str | None) -> str:
    if body is not None and body in table.columns:
        return body
    if body not in (None, "body"):
        raise StageError(_missing("body", str(body), table), code="columns")
    for name in ("body", "value", "content"):
        if name in table.columns and _is_content(table.schema[name].dataType):
            return name
    possible = [field.name for field in table.schema.fields if _is_content(field.dataType)]
    possible = [name for name in possible if name != "doc_id"]
    if len(possible) != 1:
        raise StageError(_missing("body", "body", table), code="columns")
    return possible[0]


def _is_content(kind: DataType) -> bool:
    return isinstance(kind, BinaryType | StringType)


def _missing(what: str, name: str, table: DataFrame) -> str:
    return f"expected a column {name} for {what}, found {', '.join(table.columns) or 'none'}"


def _place(source: str | None, format: str) -> str:
    if not source:
        raise StageError(f"{format} needs a source: a path, or the name of a table", code="options")
    return source

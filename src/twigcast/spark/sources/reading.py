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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.errors import AnalysisException, PySparkException, UnsupportedOperationException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, DataType, StringType

from twigcast.errors import StageError
from twigcast.spark.jvm.empty_files import empty_files_of_batch
from twigcast.spark.jvm.filesystem import is_file, is_on_this_machine
from twigcast.spark.sources.archives import archives
from twigcast.spark.sources.files import Opener, files
from twigcast.spark.sources.formats import is_of_files
from twigcast.spark.sources.parquet import Column as ParquetColumn
from twigcast.spark.sources.parquet import parquet_opening
from twigcast.spark.sources.records import records
from twigcast.spark.sources.whole_files import whole_files
from twigcast.spark.sources.worker_reading import Opening, remember


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
    As a stream, files of no bytes are not in the table, but ``left_out`` has those of a batch.
    Raises ``StageError``, with the code ``no-stream`` where a source can be read as a batch only.
    """
    given = {name: str(value) for name, value in (options or {}).items()}
    if format in _OPENERS:
        opened = _opener(spark, source, format, given)
        return opened(files(spark, _place(source, format), given, streaming=streaming))
    asked = dict(given)
    table = _table(spark, source, format, given, streaming=streaming)
    columns = _document_columns(table, doc_id, body)
    documents = table.select(*[column.expression.alias(column.name) for column in columns])
    if format.lower() == "parquet" and not streaming:
        remember(documents, lambda: _parquet_opening(table, table.inputFiles(), columns, asked))
    return documents


def left_out(
    spark: SparkSession, batch: DataFrame, *, format: str = "binaryFile", options: Mapping[str, str]
) -> DataFrame | None:
    """What belongs to a batch of such a stream and Spark has left out, read likewise; often none.

    ``spark`` is the session that ``read`` had, ``batch`` what Spark gives to ``foreachBatch``.
    """
    if format not in _OPENERS:
        return None
    found = empty_files_of_batch(spark, batch)
    return None if found is None else _OPENERS[format](dict(options))(found)


def opened_by_workers(spark: SparkSession, source: str | None, *, format: str) -> bool:
    """Whether a stream has the places of files only: its batches are opened where they are matched."""
    if format == "binaryFile":
        return is_on_this_machine(spark, _place(source, format))
    return format in _OPENERS


def places(spark: SparkSession, source: str | None, *, format: str, options: Mapping[str, str]) -> DataFrame:
    """The files of such a source as a stream, each with ``path`` and ``length``; raises ``StageError``."""
    given = {name: str(value) for name, value in options.items()}
    _opener(spark, source, format, given)
    found = files(spark, _place(source, format), given, streaming=True)
    return found.select(*_PLACE)


def open_places(
    spark: SparkSession, batch: DataFrame, source: str | None, *, format: str, options: Mapping[str, str]
) -> DataFrame:
    """The documents in a batch of ``places``, and in those that Spark has left out of it."""
    more = empty_files_of_batch(spark, batch)
    if more is not None:
        batch = batch.unionByName(more.select(*_PLACE))
    return _opener(spark, source, format, {name: str(value) for name, value in options.items()})(batch)


_PLACE = ("path", "length")


_OPENERS: Mapping[str, Callable[[dict[str, str]], Opener]] = {
    "binaryFile": partial(whole_files, by_workers=False),
    "archives": archives,
    "records": records,
}


def _opener(spark: SparkSession, source: str | None, format: str, options: dict[str, str]) -> Opener:
    """What opens the files of a format; takes its own options out of those of Spark."""
    if format == "binaryFile" and opened_by_workers(spark, source, format=format):
        return whole_files(options, by_workers=True)
    return _OPENERS[format](options)


def _table(
    spark: SparkSession, source: str | None, format: str, options: dict[str, str], *, streaming: bool
) -> DataFrame:
    schema: Any = options.pop("schema", None)
    if streaming and is_of_files(format):
        if is_file(spark, _place(source, format)):
            options["recursiveFileLookup"] = "true"  # else Spark wants a folder, to find columns in its path
        if schema is None:
            # A stream of files must know its columns before the first file; those that are there tell.
            schema = _columns_of_files(spark, _place(source, format), format, options)
    reader: Any = spark.readStream if streaming else spark.read
    if schema is not None:
        reader = reader.schema(schema)
    reader = reader.options(**options)
    try:
        if format == "table":
            return reader.table(_place(source, format))  # type: ignore[no-any-return]
        reader = reader.format(format)
        return reader.load() if source is None else reader.load(source)  # type: ignore[no-any-return]
    except PySparkException as error:
        if streaming and (
            isinstance(error, UnsupportedOperationException) or error.getCondition() == _VIEW_OF_A_BATCH
        ):
            what = f"the table {source}" if format == "table" else format
            raise StageError(f"{what} can be read as a batch only", code="no-stream") from error
        raise


_VIEW_OF_A_BATCH = "_LEGACY_ERROR_TEMP_1008"


def _columns_of_files(spark: SparkSession, source: str, format: str, options: dict[str, str]) -> Any:
    try:
        return spark.read.format(format).options(**options).load(source).schema
    except AnalysisException as error:
        if error.getCondition() != "UNABLE_TO_INFER_SCHEMA":
            raise
        message = f"{source} has no {format} file yet that tells the columns of a stream"
        hint = 'put one there, or give the option "schema", such as "doc_id string, body binary"'
        raise StageError(f"{message}: {hint}", code="options") from None


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of documents: what it is in the table, and of which column of that it is only a cast."""

    name: str
    expression: Column
    source: str | None


def _document_columns(table: DataFrame, doc_id: str | None, body: str | None) -> list[_Column]:
    body_column = _body_column(table, body)
    content = _column(body_column).cast("binary")
    used = {body_column}
    id_column: str | None = None
    if doc_id is not None and doc_id in table.columns:
        id_column = doc_id
    elif doc_id not in (None, "doc_id"):
        raise StageError(_missing("doc_id", str(doc_id), table), code="columns")
    elif "doc_id" in table.columns:
        id_column = "doc_id"
    elif {"topic", "partition", "offset"} <= set(table.columns):
        identity = F.concat_ws("/", "topic", "partition", "offset")
    else:
        identity = F.sha2(content, 256)
    if id_column is not None:
        identity = _column(id_column).cast("string")
        used.add(id_column)
    rest = [name for name in table.columns if name not in {*used, "doc_id", "body"}]
    return [
        _Column("doc_id", identity, id_column),
        _Column("body", content, body_column),
        *[_Column(name, _column(name), name) for name in rest],
    ]


def _column(name: str) -> Column:
    """The column of exactly that name, dots and quotes included."""
    quoted = name.replace("`", "``")
    return F.col(f"`{quoted}`")


def _parquet_opening(
    table: DataFrame, uris: list[str], columns: list[_Column], options: Mapping[str, str]
) -> Opening | None:
    """How workers read what was selected from a table of Parquet files; none where Spark must."""
    kinds = {field.name: type(field.dataType) for field in table.schema.fields}
    sources = [
        ParquetColumn(column.name, column.source, kinds[column.source])
        for column in columns
        if column.source is not None
    ]
    if len(sources) < len(columns) or sources[0].kind is not StringType:
        return None
    return parquet_opening(table.sparkSession, uris, sources, options)


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

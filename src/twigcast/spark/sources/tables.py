"""Tables whose rows are documents: any format that Spark reads, or a table of its catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException, PySparkException, UnsupportedOperationException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, DataType, StringType

from twigcast.errors import StageError
from twigcast.spark.columns import column_named, error_condition
from twigcast.spark.jvm.checkpoint_files import batch_files
from twigcast.spark.jvm.filesystem import is_file, literal_path
from twigcast.spark.pipeline import is_file_format
from twigcast.spark.sources.documents import Documents, WorkerReading
from twigcast.spark.sources.listing.place_stream import PlaceStream, SparkPlaceStream
from twigcast.spark.sources.listing.places import PastFiles, Place
from twigcast.spark.sources.parquet import ParquetColumn, parquet_reading
from twigcast.system import name_text, path_of

CATALOGUE = "table"
"""The format that stands for a table of the catalogue."""


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table of any format of Spark, at ``path`` or wherever its options say.

    ``doc_id`` and ``body`` name its columns.  Without them, the body is the column ``body``, ``value`` or
    ``content``, or the only column of bytes or text; the id is the column ``doc_id``, else topic, partition
    and offset of Kafka, else the hash of the body.
    """

    format: str
    path: str | None = None
    doc_id: str | None = None
    body: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    stream_options: Mapping[str, str] = field(default_factory=dict)

    def list(self, spark: SparkSession, *, streaming: bool) -> DataFrame:
        """The rows of the table as they are; raises ``StageError`` if it has no column for the body."""
        options = dict(self.options)
        schema = options.pop("schema", None)
        table = self._stream(spark, options, schema) if streaming else self._load(spark.read, options, schema)
        _document_columns(table, self.doc_id, self.body)
        return table

    def stream(self, spark: SparkSession, work: Path) -> PlaceStream:
        """The rows as a stream; a micro-batch stays as it is: an empty file is a table without rows."""
        return SparkPlaceStream(self.list(spark, streaming=True), lambda batch, number: batch)

    def past(self, spark: SparkSession, work: Path, checkpoint: str) -> PastFiles:
        """The files of the table that each batch of a stream has had."""
        if not self.path or not is_file_format(self.format):
            what = f"the table {self.path}" if self.format == CATALOGUE else self.format
            raise StageError(f"a stream of {what} does not say which rows its batches had", code="no-replay")
        return {
            batch: [Place(name_text(path), 0) for path in paths]
            for batch, paths in batch_files(spark, checkpoint).items()
        }

    def at(self, spark: SparkSession, places: Sequence[Place]) -> DataFrame:
        """The rows of some files of the table."""
        options = dict(self.options)
        schema = options.pop("schema", None)
        if self.path and not is_file(spark, self.path):
            options.setdefault("basePath", self.path)  # so that the names of folders stay columns
        paths = [literal_path(path_of(place.path)) for place in places]
        return self._load(spark.read, options, schema, paths)

    def open(self, places: DataFrame) -> Documents:
        """One document for each row; other columns stay beside ``doc_id`` and ``body``."""
        columns = _document_columns(places, self.doc_id, self.body)
        documents = places.select(*[column.expression.alias(column.name) for column in columns])
        if self.format.lower() != "parquet" or places.isStreaming:
            return Documents(documents)
        return Documents(documents, lambda: _parquet_reading(places, columns, self.options))

    def _stream(self, spark: SparkSession, options: dict[str, str], schema: str | None) -> DataFrame:
        columns: Any = schema
        if self.path and is_file_format(self.format):
            if is_file(spark, self.path):
                options["recursiveFileLookup"] = "true"  # otherwise Spark expects a folder
            if columns is None:
                columns = self._columns_of_existing_files(spark, options)
        try:
            return self._load(spark.readStream, {**self.stream_options, **options}, columns)
        except PySparkException as error:
            if isinstance(error, UnsupportedOperationException) or self._is_view(spark):
                what = f"the table {self.path}" if self.format == CATALOGUE else self.format
                raise StageError(f"{what} can be read as a batch only", code="no-stream") from error
            raise

    def _load(
        self, reader: Any, options: Mapping[str, str], schema: Any, paths: Sequence[str] | None = None
    ) -> DataFrame:
        if schema is not None:
            reader = reader.schema(schema)
        reader = reader.options(**options)
        if self.format == CATALOGUE:
            return reader.table(self.path)  # type: ignore[no-any-return]
        reader = reader.format(self.format)
        found = paths or self.path
        return reader.load() if found is None else reader.load(found)  # type: ignore[no-any-return]

    def _is_view(self, spark: SparkSession) -> bool:
        """Whether the table is a view of the catalogue; only a view of a stream can be a stream."""
        if self.format != CATALOGUE or self.path is None:
            return False
        try:
            return spark.catalog.getTable(self.path).tableType in ("TEMPORARY", "VIEW")
        except AnalysisException:
            return False

    def _columns_of_existing_files(self, spark: SparkSession, options: Mapping[str, str]) -> Any:
        """The schema of the existing files, because a stream of files needs a schema before it starts."""
        try:
            return self._load(spark.read, options, None).schema
        except AnalysisException as error:
            if error_condition(error) != "UNABLE_TO_INFER_SCHEMA":
                raise
            message = (
                f"{self.path} has no {self.format} file yet from which to take the columns of the stream"
            )
            hint = 'add a file, or set the option "schema", such as "doc_id string, body binary"'
            raise StageError(f"{message}: {hint}", code="options") from None


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the documents: its expression, and the column of the table if it is only a cast of that."""

    name: str
    expression: Column
    source: str | None


def _document_columns(table: DataFrame, doc_id: str | None, body: str | None) -> list[_Column]:
    body_column = _body_column(table, body)
    content = column_named(body_column).cast("binary")
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
        identity = column_named(id_column).cast("string")
        used.add(id_column)
    rest = [name for name in table.columns if name not in {*used, "doc_id", "body"}]
    return [
        _Column("doc_id", identity, id_column),
        _Column("body", content, body_column),
        *[_Column(name, column_named(name), name) for name in rest],
    ]


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


def _parquet_reading(
    table: DataFrame, columns: list[_Column], options: Mapping[str, str]
) -> WorkerReading | None:
    """How workers read these columns of a table of Parquet files; none if Spark must read them."""
    kinds = {field.name: type(field.dataType) for field in table.schema.fields}
    sources = [
        ParquetColumn(column.name, column.source, kinds[column.source])
        for column in columns
        if column.source is not None
    ]
    if len(sources) < len(columns) or sources[0].kind is not StringType:
        return None
    return parquet_reading(table.sparkSession, table.inputFiles(), sources, options)

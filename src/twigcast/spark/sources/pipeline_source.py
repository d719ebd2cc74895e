"""What the source of a pipeline asks of ``read``: where, in which format, with which options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from twigcast.spark.pipeline import Pipeline, Source
from twigcast.spark.sources.formats import is_of_files
from twigcast.spark.sources.reading import left_out, open_places, opened_by_workers, places, read

FOREVER = "36500d"
BATCH_BYTES = str(512 << 20)


@dataclass(frozen=True, slots=True)
class Request:
    """How the documents that a pipeline names are read."""

    source: Source
    place: str | None
    format: str
    options: Mapping[str, str]

    @classmethod
    def of(cls, pipeline: Pipeline) -> Request:
        source = pipeline.source
        if source.table:
            return cls(source, source.table, "table", source.options)
        formats = {"directory": "binaryFile", "archives": "archives", "records": "records"}
        options = dict(source.options)
        if source.kind in formats:
            options = {"maxBytes": str(pipeline.limits.bytes), **options}
        if source.record:
            options["record"] = source.record
        return cls(source, source.path, formats.get(source.kind) or source.format or "parquet", options)

    def stream(self, spark: SparkSession) -> DataFrame:
        """What there is, as a stream in batches of a bounded size; raises ``StageError`` if it is none.

        ``documents`` makes documents of its batches.
        """
        options = {**_bounds(self.source), **self.options}
        if opened_by_workers(spark, self.place, format=self.format):
            return places(spark, self.place, format=self.format, options=options)
        return self._read(spark, options, streaming=True)

    def documents(self, spark: SparkSession, batch: DataFrame) -> DataFrame:
        """The documents of a batch of the stream, with those that Spark has left out of it."""
        if opened_by_workers(spark, self.place, format=self.format):
            return open_places(spark, batch, self.place, format=self.format, options=self.options)
        more = left_out(spark, batch, format=self.format, options=self.options)
        return batch if more is None else batch.unionByName(more)

    def batch(self, spark: SparkSession) -> DataFrame:
        """The documents that are there now."""
        return self._read(spark, self.options, streaming=False)

    def _read(self, spark: SparkSession, options: Mapping[str, str], *, streaming: bool) -> DataFrame:
        return read(
            spark,
            self.place,
            format=self.format,
            doc_id=self.source.doc_id,
            body=self.source.body,
            options=options,
            streaming=streaming,
        )


def _bounds(source: Source) -> dict[str, str]:
    """How much one batch takes, in the words of the source; what the options of the file say stands above it.

    Files have no age at which they are passed over: Spark would ignore one that is a week older than the
    newest, such as one that was moved in from elsewhere.
    """
    if source.kind == "format" and not is_of_files(str(source.format)):
        return {"maxOffsetsPerTrigger": str(source.max_per_batch)} if source.format == "kafka" else {}
    bounds = {"maxFileAge": FOREVER}
    if not {"maxFilesPerTrigger", "maxBytesPerTrigger"} & set(source.options):
        if source.kind == "directory":
            bounds["maxFilesPerTrigger"] = str(source.max_per_batch)
        else:  # files of many documents
            bounds["maxBytesPerTrigger"] = BATCH_BYTES
    return bounds

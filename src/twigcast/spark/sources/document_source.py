"""The interface of a source of documents: it lists places, and opens the documents at them."""

from __future__ import annotations

from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from twigcast.spark.sources.documents import Documents
from twigcast.spark.sources.empty_file_log import EmptyFileLog


class DocumentSource(Protocol):
    """Lists where documents are, and opens them.

        spark ── list ──► places ── open ──► documents            as a batch
        spark ── list ──► stream of places
                            └─ each micro-batch ── complete ──► places ── open ──► documents

    A place is a row that says where documents are, such as the path of a file.  If Spark must read them, as
    from a table, the row already has the documents.
    """

    def list(self, spark: SparkSession, *, streaming: bool) -> DataFrame:
        """The places of the source, as a batch or as a stream.

        Raises ``StageError``, with the code ``no-stream`` for a source that can only be read as a batch.
        """
        ...

    def complete(self, spark: SparkSession, batch: DataFrame, number: int, log: EmptyFileLog) -> DataFrame:
        """Add to a micro-batch the places that Spark leaves out; to be called in ``foreachBatch``."""
        ...

    def open(self, places: DataFrame) -> Documents:
        """The documents at these places."""
        ...

"""The interface of a source of documents: it lists places, and opens the documents at them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import SparkSession

from twigcast.spark.sources.documents import Documents
from twigcast.spark.sources.listing.place_stream import PlaceStream
from twigcast.spark.sources.listing.places import PastFiles, Place


class DocumentSource(Protocol):
    """Lists where documents are, and opens them.

        spark ── list ──► places ── open ──► documents            as a batch
        spark ── stream ──► stream of places
                              └─ each micro-batch ──► places ── open ──► documents

    A place says where documents are, such as the path of a file.  If Spark must read them, as from a table,
    it already has the documents.  What the places of a source are, only the source itself knows.
    """

    def list(self, spark: SparkSession, *, streaming: bool) -> Any:
        """The places of the source, as a batch or as a stream without any state of twigcast.

        Raises ``StageError``, with the code ``no-stream`` for a source that can only be read as a batch.
        """
        ...

    def stream(self, spark: SparkSession, work: Path) -> PlaceStream:
        """The places of the source as a stream of a pipeline; raises ``StageError`` as ``list`` does."""
        ...

    def past(self, spark: SparkSession, work: Path, checkpoint: str) -> PastFiles:
        """The files that each batch of a stream has had, by its number; they may be gone.

        Raises ``StageError``, with the code ``no-replay`` if the source does not consist of files, and
        ``MissingApi`` if Spark has listed the files and its log cannot be read.
        """
        ...

    def at(self, spark: SparkSession, places: Sequence[Place]) -> Any:
        """The places of some files, for ``open``; all of them exist."""
        ...

    def open(self, places: Any) -> Documents:
        """The documents at these places."""
        ...

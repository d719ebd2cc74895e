"""Lists the files of a source: in the driver on one machine, else with Spark.

Spark leaves empty files out; they are added to what it lists.  Small files are grouped into few tasks: with
the default settings of a session, Spark puts 31 of them into a task, which takes longer to start than to
match them; 5,000 files took eight times as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from twigcast.spark.jvm.checkpoint_files import batch_files
from twigcast.spark.jvm.empty_files import empty_files, empty_files_of_micro_batch, listed_size
from twigcast.spark.jvm.filesystem import is_file, is_readable_by_workers, literal_path
from twigcast.spark.sources.listing.empty_file_log import EmptyFileLog
from twigcast.spark.sources.listing.feed_log import taken_places
from twigcast.spark.sources.listing.local_listing import GLOB, LocalListing
from twigcast.spark.sources.listing.place_stream import LocalPlaceStream, PlaceStream, SparkPlaceStream
from twigcast.spark.sources.listing.places import (
    FilePlaces,
    PastFiles,
    Place,
    listed_by_spark,
    listed_here,
    task_count,
)
from twigcast.system import DOCUMENT_GLOB, Links, name_text, path_of, without_scheme

FILE_COLUMNS = "path string, modificationTime timestamp, length long, content binary"
"""The columns of Spark's format ``binaryFile``."""


@dataclass(frozen=True, slots=True)
class FileListing:
    """The files below ``path``, which is a file, a folder, or a glob pattern of either.

    ``options`` are those of Spark's format ``binaryFile``, and ``stream_options`` those for streams only.
    ``links`` says which links are followed; where Spark lists, it follows all of them.
    With ``documents``, the files of a folder are chosen by the rule of ``system.document_files``, unless an
    option or a pattern chooses them.
    """

    path: str
    options: Mapping[str, str] = field(default_factory=dict)
    stream_options: Mapping[str, str] = field(default_factory=dict)
    links: Links = "skip"
    documents: bool = False

    def local(self, spark: SparkSession) -> LocalListing | None:
        """How the driver lists the files; none if Spark must list them."""
        if not is_readable_by_workers(spark, self.path):
            return None
        return LocalListing.of(self.path, self.options, self.links, documents=self._by_rule)

    def places(self, spark: SparkSession, *, streaming: bool) -> FilePlaces:
        """The places of the files; as a stream without ``work``, Spark lists them, without the empty ones."""
        local = None if streaming else self.local(spark)
        if local is not None:
            return listed_here(spark, local.places())
        return listed_by_spark(self.listed_by_spark(spark, streaming=streaming))

    def stream(self, spark: SparkSession, work: Path) -> PlaceStream:
        """The stream of places of a pipeline, whose state is in the folder ``work``."""
        local = self.local(spark)
        if local is not None:
            return LocalPlaceStream(spark, local, work / "feed", {**self.stream_options, **self.options})
        log = EmptyFileLog(work / "empty-files.json")
        return SparkPlaceStream(
            self.listed_by_spark(spark, streaming=True).select("path", "length"),
            lambda batch, number: listed_by_spark(self.complete(spark, batch, number, log)),
        )

    def past(self, spark: SparkSession, work: Path, checkpoint: str) -> PastFiles:
        """The files that each batch of a stream has had; raises ``MissingApi`` if Spark's log is unknown."""
        if self.local(spark) is not None:
            return taken_places(work / "feed")
        found = {
            batch: [Place(name_text(path), 0) for path in paths]
            for batch, paths in batch_files(spark, checkpoint).items()
        }
        for batch, paths in EmptyFileLog(work / "empty-files.json").batches().items():
            plain = (without_scheme(path) for path in paths)
            found.setdefault(batch, []).extend(Place(name_text(path), 0) for path in plain)
        return found

    def contents(self, spark: SparkSession, places: Sequence[Place]) -> DataFrame:
        """Files as Spark reads them, in the columns of ``binaryFile``."""
        paths = [literal_path(path_of(place.path)) for place in places]
        return spark.read.format("binaryFile").schema(FILE_COLUMNS).load(paths)

    def listed_by_spark(self, spark: SparkSession, *, streaming: bool) -> DataFrame:
        """The files, in the columns of ``binaryFile``; a stream does not have the empty files."""
        cores = spark.sparkContext.defaultParallelism
        if streaming:
            stream = self._load(spark, spark.readStream, {**self.stream_options, **self.options})
            return stream.coalesce(cores) if str(spark.sparkContext.master).startswith("local") else stream
        listed = self._load(spark, spark.read, self.options)
        empty = empty_files(listed)
        files = listed.coalesce(task_count(*listed_size(listed), cores))
        return files.unionByName(_as_table(spark, empty)) if empty else files

    def empty_files(
        self, spark: SparkSession, batch: DataFrame, number: int, log: EmptyFileLog
    ) -> DataFrame | None:
        """The empty files of a micro-batch, in the columns of ``binaryFile``; none if there are none."""

        def relist() -> DataFrame:
            return self._load(spark, spark.read, self.options)

        paths = log.take(number, lambda taken: empty_files_of_micro_batch(spark, batch, relist, taken))
        return _as_table(batch.sparkSession, paths) if paths else None

    def complete(self, spark: SparkSession, batch: DataFrame, number: int, log: EmptyFileLog) -> DataFrame:
        """Add the empty files that Spark leaves out to a micro-batch of ``path`` and ``length``."""
        empty = self.empty_files(spark, batch, number, log)
        return batch if empty is None else batch.unionByName(empty.select("path", "length"))

    def _load(self, spark: SparkSession, reader: Any, options: Mapping[str, str]) -> DataFrame:
        reader = reader.format("binaryFile").schema(FILE_COLUMNS)
        usual = {"recursiveFileLookup": "true"}
        if self._by_rule and not is_file(spark, self.path):
            usual["pathGlobFilter"] = DOCUMENT_GLOB
        loaded: DataFrame = reader.options(**{**usual, **options}).load(self.path)
        return loaded

    @property
    def _by_rule(self) -> bool:
        chosen = any(name.lower() == "pathglobfilter" for name in self.options)
        return self.documents and not chosen and not GLOB.search(self.path)


def _as_table(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    return spark.createDataFrame([(path, None, 0, b"") for path in paths], FILE_COLUMNS).coalesce(1)

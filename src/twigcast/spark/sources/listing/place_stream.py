"""Streams of places: what a query of Structured Streaming reads, and the places of each of its batches."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession

from twigcast.errors import StageError
from twigcast.spark.sources.listing.feed_log import FeedLog
from twigcast.spark.sources.listing.local_listing import LocalListing
from twigcast.spark.sources.listing.places import listed_here

UNLIMITED_FILE_AGE = "36500d"


class PlaceStream(Protocol):
    """A stream that Spark reads, and how its micro-batches become places."""

    frame: DataFrame

    def look(self) -> bool:
        """Look for new places, where Spark does not do that itself; returns whether there are any."""
        ...

    def places(self, batch: DataFrame, number: int) -> Any:
        """The places of a micro-batch, for ``open`` of the source; to be called in ``foreachBatch``."""
        ...


class SparkPlaceStream:
    """A stream whose places Spark finds; ``complete`` adds to a micro-batch what Spark leaves out."""

    def __init__(self, frame: DataFrame, complete: Callable[[DataFrame, int], Any]) -> None:
        self.frame = frame
        self._complete = complete

    def look(self) -> bool:
        return False

    def places(self, batch: DataFrame, number: int) -> Any:
        return self._complete(batch, number)


class LocalPlaceStream:
    """A stream of lists of files, which ``look`` writes; a micro-batch is one list.

    Spark numbers the batches and records which list each of them has.
    """

    def __init__(
        self, spark: SparkSession, listing: LocalListing, folder: Path, bounds: Mapping[str, str]
    ) -> None:
        self._spark = spark
        self._listing = listing
        self._most_files = _bound(bounds, "maxFilesPerTrigger")
        self._most_bytes = _bound(bounds, "maxBytesPerTrigger")
        self._folder = folder
        self._log: FeedLog | None = None
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        reader = spark.readStream.format("text").option("maxFilesPerTrigger", "1")
        self.frame = reader.option("maxFileAge", UNLIMITED_FILE_AGE).load(folder.absolute().as_uri())

    def look(self) -> bool:
        with self._lock:
            added = self._opened().add(
                self._listing.places(), most_files=self._most_files, most_bytes=self._most_bytes
            )
        return bool(added)

    def places(self, batch: DataFrame, number: int) -> Any:
        lists = sorted(int(row["value"]) for row in batch.collect())
        with self._lock:
            log = self._opened()
            places = [place for each in lists for place in log.places(each)]
            if lists:
                log.note(number, lists)
                log.settle(lists[0])
        return listed_here(batch.sparkSession, places)

    def _opened(self) -> FeedLog:
        if self._log is None:
            self._log = FeedLog(self._folder)
        return self._log


def _bound(bounds: Mapping[str, str], name: str) -> int | None:
    given = {key.lower(): value for key, value in bounds.items()}.get(name.lower())
    if given is None:
        return None
    found = re.fullmatch(r"\s*(\d+)\s*([kmgt]?)b?\s*", given.lower())
    if found is None or int(found[1]) < 1:
        raise StageError(f"the option {name} must be a positive number, got {given!r}", code="options")
    return int(found[1]) << 10 * " kmgt".index(found[2] or " ")

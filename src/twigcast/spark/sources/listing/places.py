"""Places of documents: files, as a table whose rows workers turn into documents.

    listed by Spark        a table of path and length
    listed by twigcast     a table of numbers; each stands for the files of one task

Files that twigcast lists are divided among tasks by their size, and travel to the workers with the stage.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.columns import DOCUMENT_BATCH_ROWS
from twigcast.spark.jvm.filesystem import exists, is_local
from twigcast.spark.sources.documents import ArrowStage, WorkerReading
from twigcast.system import LOCAL_URI, path_of, without_scheme

PLACE_COLUMNS = ("path", "length", "refusal")
"""A file's name as text (see ``system.name_text``), its length, and why it is not to be read, if so."""

OPEN_COST_BYTES = 64 << 10  # what opening a file costs, in bytes that could be read instead
TASK_BYTES = 128 << 20

_ARROW_PLACES = pa.schema([("path", pa.string()), ("length", pa.int64()), ("refusal", pa.string())])


@dataclass(frozen=True, slots=True)
class Place:
    """A file by the text of its path; ``refusal`` says why it is not to be read."""

    path: str
    length: int
    refusal: str | None = None

    @property
    def key(self) -> str:
        """What tells places apart: a link that is followed later is another place than one that is not."""
        return self.path if self.refusal is None else f"{self.refusal}:{self.path}"


PastFiles: TypeAlias = Mapping[int, Sequence[Place]]
"""The files that each batch of a stream has had, by the number of the batch."""


@dataclass(frozen=True, slots=True)
class FilePlaces:
    """A table, and the stage that makes rows of ``PLACE_COLUMNS`` of it; none if it has them already."""

    frame: DataFrame
    stage: ArrowStage | None = None

    def reading(self, stage: ArrowStage) -> WorkerReading:
        """How workers make documents of the places, given the stage that takes ``PLACE_COLUMNS``."""
        if self.stage is None:
            return WorkerReading(self.frame, stage)
        return WorkerReading(self.frame, WorkerReading(self.frame, self.stage).followed_by(stage))


def listed_by_spark(files: DataFrame) -> FilePlaces:
    """The places of files that Spark has listed, with at least the columns ``path`` and ``length``."""
    plain = F.regexp_replace(plain_path(F.col("path")), r"\\", r"\\\\\\\\")
    return FilePlaces(
        files.select(plain.alias("path"), "length", F.lit(None).cast("string").alias("refusal"))
    )


def plain_path(path: Column) -> Column:
    """The path of a file, without the scheme ``file:`` that Spark puts before a local path."""
    return F.regexp_replace(path, LOCAL_URI, "/")


def listed_here(spark: SparkSession, places: Sequence[Place]) -> FilePlaces:
    """The places of files that this process has listed, divided into tasks of about the same size."""
    tasks = divided(places, spark.sparkContext.defaultParallelism)
    frame = spark.range(0, len(tasks), 1, max(1, len(tasks)))
    return FilePlaces(frame, partial(_place_rows, tasks=tasks))


def present(spark: SparkSession, places: Sequence[Place]) -> list[Place]:
    """The files that exist now, with their lengths; those that are not to be read are left out."""
    found: list[Place] = []
    for place in places:
        if place.refusal is None and is_local(spark, place.path):
            length = current_length(place)
            if length is not None:
                found.append(Place(place.path, length))
        elif place.refusal is None and exists(spark, place.path):
            found.append(place)
    return found


def current_length(place: Place) -> int | None:
    """The size of a local file now; none if it is gone, or no file."""
    try:
        found = os.stat(path_of(without_scheme(place.path)))
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def task_count(files: int, total_bytes: int, cores: int) -> int:
    """The number of tasks that read files: one for each core, or as many as have ``TASK_BYTES`` each."""
    return max(cores, -(-(total_bytes + files * OPEN_COST_BYTES) // TASK_BYTES))


def divided(places: Sequence[Place], cores: int) -> list[list[Place]]:
    """Divide places among the tasks of ``task_count``.

    Large files are dealt out first, each to the task that has the least.
    """
    count = min(len(places), task_count(len(places), sum(place.length for place in places), cores))
    tasks: list[list[Place]] = [[] for _ in range(count)]
    ordered = sorted(places, key=lambda place: (-place.length, place.path))
    for number, place in enumerate(ordered):
        row, column = divmod(number, count)
        tasks[column if row % 2 == 0 else count - 1 - column].append(place)
    return tasks


def _place_rows(batches: Iterator[pa.RecordBatch], *, tasks: list[list[Place]]) -> Iterator[pa.RecordBatch]:
    """The stage that workers run: the places of tasks by their numbers."""
    for batch in batches:
        for number in batch.column("id").to_pylist():
            places = tasks[number]
            for start in range(0, len(places), DOCUMENT_BATCH_ROWS):
                some = places[start : start + DOCUMENT_BATCH_ROWS]
                columns = [
                    [place.path for place in some],
                    [place.length for place in some],
                    [place.refusal for place in some],
                ]
                yield pa.RecordBatch.from_arrays(
                    [pa.array(each, field.type) for each, field in zip(columns, _ARROW_PLACES, strict=True)],
                    schema=_ARROW_PLACES,
                )

"""The documents of a stream of which some fragments have come, after each batch.

    work/open-documents/12.json            the documents that are open after batch 12, and those that ended
    checkpoint-fragments/states/batch=12   what the fragments of such a document show, joined: kilobytes
    checkpoint-fragments/bodies/batch=12   the fragments themselves, if documents may be needed as a whole

Invariant: batch k reads the file of the batch before and what that file names, and writes only files of its
own; so it can be run again at any time, with the same result.  Files that neither the last batch nor the one
before names are removed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, StructField, StructType

from twigcast.errors import RunError
from twigcast.spark.fragments.completing import KEPT
from twigcast.spark.fragments.fragment_columns import EVALUATED
from twigcast.spark.jvm.private_api import MissingApi
from twigcast.spark.outputs.batch_folders import remove_batch
from twigcast.spark.pipeline import Pipeline
from twigcast.system import write_atomically

REMEMBERED = 10_000
"""The number of documents whose end is remembered, so that a fragment that comes late is recognised."""

REMEMBERED_CHARACTERS = 1 << 23
"""The characters of their ids: of long ids fewer are remembered."""


@dataclass(frozen=True, slots=True)
class OpenEntry:
    """An open document: the index version of its first fragment, and the batches that had fragments of it."""

    version: str
    batches: tuple[int, ...]

    @property
    def last(self) -> int:
        """The batch that has its state."""
        return self.batches[-1]


@dataclass(frozen=True, slots=True)
class OpenDocuments:
    """The documents that are open after a batch, the oldest first, and those that ended."""

    entries: Mapping[str, OpenEntry] = field(default_factory=dict)
    ended: tuple[str, ...] = ()

    def versions(self) -> set[str]:
        """The index versions that open documents need."""
        return {entry.version for entry in self.entries.values()}

    def batches(self) -> set[int]:
        """The batches whose states and bodies are needed."""
        return {batch for entry in self.entries.values() for batch in entry.batches}

    def expiring(self, batch: int, max_age: int, max_open: int) -> dict[str, str]:
        """The documents to give up in a batch unless it has fragments of them, and why."""
        found = {
            doc_id: f"none came in {batch - entry.last} batches"
            for doc_id, entry in self.entries.items()
            if batch - entry.last > max_age
        }
        for doc_id in list(self.entries)[: max(0, len(self.entries) - max_open)]:
            found.setdefault(doc_id, f"limit: more than {max_open} documents are open")
        return found

    def after(self, batch: int, opened: Mapping[str, str], ended: Iterable[str]) -> OpenDocuments:
        """The open documents after a batch: ``opened`` got fragments and are open, with their versions."""
        over = dict.fromkeys(ended)
        entries = {doc_id: entry for doc_id, entry in self.entries.items() if doc_id not in over}
        for doc_id, version in sorted(opened.items()):
            before = entries[doc_id].batches if doc_id in entries else ()
            entries[doc_id] = OpenEntry(version, (*before, batch))
        return OpenDocuments(entries, _remembered((*self.ended, *sorted(over))[-REMEMBERED:]))


def _remembered(ended: tuple[str, ...]) -> tuple[str, ...]:
    """The newest of these ids, as far as their characters are remembered."""
    size = 0
    for at in range(len(ended), 0, -1):
        size += len(ended[at - 1])
        if size > REMEMBERED_CHARACTERS:
            return ended[at:]
    return ended


class OpenDocumentLog:
    """The files of open documents in the work folder of a pipeline."""

    def __init__(self, spark: SparkSession, pipeline: Pipeline) -> None:
        self.states = f"{pipeline.work.checkpoint.rstrip('/')}-fragments/states"
        self.bodies = f"{pipeline.work.checkpoint.rstrip('/')}-fragments/bodies"
        self._spark = spark
        self._folder = Path(pipeline.work.path, "open-documents")

    def before(self, batch: int) -> OpenDocuments:
        """The documents that were open before a batch."""
        earlier = [number for number in self._numbers() if number < batch]
        return self._read(max(earlier)) if earlier else OpenDocuments()

    def newest(self) -> OpenDocuments:
        """The documents that are open after the last batch."""
        numbers = self._numbers()
        return self._read(max(numbers)) if numbers else OpenDocuments()

    def write(self, batch: int, documents: OpenDocuments) -> None:
        """Write the documents that are open after a batch, and remove what no batch needs any more."""
        self._folder.mkdir(parents=True, exist_ok=True)
        content = {
            "open": {doc_id: [each.version, *each.batches] for doc_id, each in documents.entries.items()},
            "ended": documents.ended,
        }
        before = self.before(batch)
        write_atomically(self._file(batch), json.dumps(content).encode())
        needed = documents.batches() | before.batches()
        numbers = [number for number in self._numbers() if number < batch]
        for number in numbers[:-1]:
            for gone in self._read(number).batches() - needed:
                self._remove(gone)
            self._file(number).unlink()

    def read_states(self, wanted: Mapping[str, int]) -> DataFrame:
        """The states of documents, each from the batch that has it."""
        folders = [f"{self.states}/batch={batch}" for batch in sorted(set(wanted.values()))]
        schema = StructType([*EVALUATED.fields, StructField("batch", IntegerType())])
        read = self._spark.read.option("basePath", self.states).schema(schema)
        stage = partial(_wanted, wanted=dict(wanted))
        return read.parquet(*folders).mapInArrow(stage, EVALUATED)

    def read_bodies(self, batches: Iterable[int]) -> DataFrame | None:
        """The fragments that were kept in batches; none if there are no batches."""
        folders = [f"{self.bodies}/batch={batch}" for batch in sorted(set(batches))]
        return self._spark.read.schema(KEPT).parquet(*folders) if folders else None

    def _remove(self, batch: int) -> None:
        try:
            remove_batch(self._spark, self.states, batch)
            remove_batch(self._spark, self.bodies, batch)
        except MissingApi:
            pass  # a remote folder: it is left behind

    def _numbers(self) -> list[int]:
        return sorted(int(file.stem) for file in self._folder.glob("*.json") if file.stem.isdecimal())

    def _file(self, batch: int) -> Path:
        return self._folder / f"{batch}.json"

    def _read(self, batch: int) -> OpenDocuments:
        file = self._file(batch)
        try:
            found = json.loads(file.read_bytes())
            entries = {
                doc_id: OpenEntry(str(version), tuple(map(int, batches)))
                for doc_id, (version, *batches) in found["open"].items()
            }
            return OpenDocuments(entries, tuple(found["ended"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunError(
                f"{file}: the open documents after batch {batch} cannot be read ({error}): restore the file,"
                " because it has the index versions of documents that are not complete"
            ) from None


def _wanted(batches: Iterator[pa.RecordBatch], *, wanted: dict[str, int]) -> Iterator[pa.RecordBatch]:
    """The states of the wanted documents only; an older state of a document is in an older batch."""
    for batch in batches:
        ids, numbers = batch.column("doc_id").to_pylist(), batch.column("batch").to_pylist()
        mask = pa.array(
            [wanted.get(id) == number for id, number in zip(ids, numbers, strict=True)], pa.bool_()
        )
        yield batch.filter(pc.fill_null(mask, False)).select(EVALUATED.names)

"""Writes deliveries to sinks; a batch that is written again leaves what one attempt would have left.

    format      <path>/batch=12/…                       the batch's folder is overwritten
                without a path: JDBC, Kafka, …          at least once: the rows have batch and delivery_id
    files       <path>/<subscriber>/<name>-<id>.xml     the same delivery is the same file
    jsonl       <path>/batch=12.jsonl                   the batch's file is replaced
    callable    module:function(table)                  at least once: the table has batch and delivery_id

Invariant: a file of ``files`` and ``jsonl`` is complete when it has its final name.  It is written below
``.unfinished`` in the folder of the sink, which readers skip, and renamed; files that a kill leaves there are
removed when the batch is written again.
Executors write the content, which never comes to the driver; the driver only counts.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import textwrap
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from twigcast.errors import RunError
from twigcast.spark.outputs.batch_folders import write_batch
from twigcast.spark.outputs.file_names import FileNameTemplate
from twigcast.spark.outputs.subscriber_folders import partition_folder

if TYPE_CHECKING:
    from twigcast.spark.pipeline import SinkSection

Batches: TypeAlias = Iterable[Any]  # Arrow record batches

UNFINISHED = ".unfinished"
COPY_BYTES = 1 << 20
CAUSE_LENGTH = 400  # characters of the message of an exception


def write_deliveries(deliveries: DataFrame, sink: SinkSection, batch: int) -> int:
    """Write the deliveries of a batch, for the first time or again, and return their number."""
    return _WRITERS[sink.kind](deliveries, sink, batch)


def reports_observations(sink: SinkSection) -> bool:
    """Whether Spark reports what is observed during a write to this sink.

    A connector may write outside of the query that is observed, as JDBC does in Spark 3.5, and then
    ``Observation.get`` would wait for ever.
    """
    from twigcast.spark.pipeline import is_file_format  # here: workers import this module without pydantic

    return sink.kind != "format" or is_file_format(sink.format) or sink.format == "noop"


def _write_format(deliveries: DataFrame, sink: SinkSection, batch: int) -> int:
    if not reports_observations(sink):
        count = deliveries.count()  # first: a replay leaves out what the sink has
        _save(deliveries, sink, batch)
        return count
    counted = Observation()
    _save(deliveries.observe(counted, F.count("*").alias("deliveries")), sink, batch)
    return int(counted.get["deliveries"])


def _save(rows: DataFrame, sink: SinkSection, batch: int) -> None:
    if sink.path:
        columns = sink.partition_columns
        write_batch(rows, sink.path, batch, format=sink.format, partition_by=columns, options=sink.options)
    else:
        stamped = rows.withColumn("batch", F.lit(batch).cast("long"))
        if sink.format == "kafka":
            stamped = as_messages(stamped)
        writer = stamped.write.format(sink.format).options(**sink.options).mode("append")
        (writer.partitionBy(*sink.partition_columns) if sink.partition_columns else writer).save()


def as_messages(deliveries: DataFrame) -> DataFrame:
    """Deliveries in the columns of Kafka messages: the id is the key, the other columns are headers."""
    others = [name for name in deliveries.columns if name not in ("delivery_id", "content")]
    headers = [
        F.struct(F.lit(name).alias("key"), F.col(name).cast("string").cast("binary").alias("value"))
        for name in others
    ]
    return deliveries.select(
        F.col("delivery_id").alias("key"), F.col("content").alias("value"), F.array(*headers).alias("headers")
    )


def _write_files(deliveries: DataFrame, sink: SinkSection, batch: int) -> int:
    folder = _folder(sink)
    with _Unfinished(folder, batch) as unfinished:
        layout = _Layout(str(folder), sink.partition_columns, sink.file_names)
        return _run(deliveries, partial(_files, layout, str(unfinished)))


def _write_jsonl(deliveries: DataFrame, sink: SinkSection, batch: int) -> int:
    """Every partition writes its lines to a file; the driver concatenates them, a buffer at a time."""
    folder = _folder(sink)
    with _Unfinished(folder, batch) as unfinished:
        count = _run(deliveries, partial(_lines, str(unfinished)))
        whole = unfinished / "whole"
        with whole.open("wb") as target:
            for piece in sorted(unfinished.glob("*.piece")):
                with piece.open("rb") as source:
                    shutil.copyfileobj(source, target, COPY_BYTES)
            target.flush()
            os.fsync(target.fileno())
        whole.replace(folder / f"batch={batch}.jsonl")
    return count


def _write_callable(deliveries: DataFrame, sink: SinkSection, batch: int) -> int:
    """An exception of the function is returned as a row, because Spark would log a failed task at length."""
    assert sink.function is not None
    attempts = _attempts(deliveries.sparkSession)
    calls = deliveries.mapInArrow(
        partial(_calls, sink.function, batch, attempts), "count long, failure string"
    )
    rows = calls.collect()
    failures = [row["failure"] for row in rows if row["failure"] is not None]
    if failures:
        first = f"; the first of {len(failures)} failures" if failures[1:] else ""
        raise RunError(f"the function {sink.function} failed in batch {batch}: {failures[0]}{first}")
    return sum(row["count"] for row in rows)


def _attempts(spark: SparkSession) -> int:
    """How often Spark attempts a task."""
    local = re.fullmatch(r"local(?:\[[^,\]]*(?:,\s*(\d+)\s*)?\])?", str(spark.sparkContext.master))
    if local is not None:
        return int(local[1] or 1)
    return int(spark.sparkContext.getConf().get("spark.task.maxFailures") or 4)


_WRITERS: dict[str, Callable[[DataFrame, SinkSection, int], int]] = {
    "format": _write_format,
    "files": _write_files,
    "jsonl": _write_jsonl,
    "callable": _write_callable,
}


def _run(deliveries: DataFrame, work: Callable[[Batches], Iterator[int]]) -> int:
    """Run ``work`` on every partition and return the sum of the counts that it yields."""
    counts = deliveries.mapInArrow(partial(_counting, work), "count long")
    return sum(row["count"] for row in counts.collect())


def _counting(work: Callable[[Batches], Iterator[int]], batches: Batches) -> Iterator[Any]:
    count = sum(work(batches))
    yield pa.RecordBatch.from_pydict({"count": pa.array([count], pa.int64())})


# On the executors


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the files of a sink are: the columns whose values are folders, and the names of the files."""

    folder: str
    partitions: tuple[str, ...]
    names: FileNameTemplate

    @property
    def columns(self) -> list[str]:
        return sorted({"delivery_id", *self.partitions, *self.names.columns})

    def place(self, delivery: dict[str, Any]) -> Path:
        """The folder of the file of a delivery."""
        return Path(self.folder, *[partition_folder(delivery[name]) for name in self.partitions])


def _files(layout: _Layout, unfinished: str, batches: Batches) -> Iterator[int]:
    attempt = _task().taskAttemptId()
    made: set[Path] = set()
    for batch in batches:
        rows = batch.select(layout.columns).to_pylist()
        for row, content in zip(rows, batch.column("content"), strict=True):
            target = layout.place(row)
            if target not in made:
                target.mkdir(parents=True, exist_ok=True)
                made.add(target)
            temporary = Path(unfinished, f"{row['delivery_id']}.{attempt}")
            with temporary.open("wb") as stream:
                stream.write(content.as_buffer())
            temporary.replace(target / layout.names.name(row))
        yield batch.num_rows


def _lines(unfinished: str, batches: Batches) -> Iterator[int]:
    task = _task()
    temporary = Path(unfinished, f"{task.partitionId():06d}.{task.taskAttemptId()}")
    with temporary.open("w", encoding="utf-8") as stream:
        for batch in batches:
            for row in batch.to_pylist():
                stream.write(json.dumps(_line(row), ensure_ascii=False, default=_json) + "\n")
            yield batch.num_rows
    temporary.replace(Path(unfinished, f"{task.partitionId():06d}.piece"))


def _line(row: dict[str, Any]) -> dict[str, Any]:
    """A delivery as JSON: content as text, or where it is not UTF-8 as ``content_base64``.

    The content of a reference is null.
    """
    content = row.pop("content")
    if content is None:
        return {**row, "content": None}
    try:
        return {**row, "content": content.decode("utf-8")}
    except UnicodeDecodeError:
        return {**row, "content_base64": b64encode(content).decode("ascii")}


def _json(value: object) -> object:
    """A value of a carried column that JSON does not have."""
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    return value.isoformat() if isinstance(value, date) else str(value)


def _calls(function: str, number: int, attempts: int, batches: Batches) -> Iterator[Any]:
    """Call the function with each batch; only the last attempt of a task returns its failure as a row."""
    count, failure = 0, None
    try:
        called = _found(function)
        for batch in batches:
            if batch.num_rows:
                stamp = pa.array([number] * batch.num_rows, pa.int64())
                called(pa.Table.from_batches([batch]).append_column("batch", stamp))
            count += batch.num_rows
    except Exception as error:
        if _task().attemptNumber() + 1 < attempts:
            raise
        failure = _cause(error)
    yield pa.RecordBatch.from_pydict(
        {"count": pa.array([count], pa.int64()), "failure": pa.array([failure], pa.string())}
    )


def _found(function: str) -> Callable[[Any], object]:
    """The function of ``module:name``."""
    module, _, name = function.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    called: Callable[[Any], object] = found
    return called


def _cause(error: Exception) -> str:
    """An exception in one line, with the last line of the traceback that is not in this file."""
    text = " ".join(str(error).split())
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    calling = {__file__, importlib.__file__}
    places = [frame for frame in frames if frame.filename not in calling and Path(frame.filename).exists()]
    where = f" ({Path(places[-1].filename).name}, line {places[-1].lineno})" if places else ""
    return textwrap.shorten(said, CAUSE_LENGTH, placeholder=" …") + where


def _task() -> TaskContext:
    task = TaskContext.get()
    assert task is not None, "only an executor writes"
    return task


# In the driver


def _folder(sink: SinkSection) -> Path:
    assert sink.path is not None
    return Path(sink.path)


class _Unfinished:
    """A folder for the unfinished files of a batch: it is emptied at the start and removed at the end."""

    def __init__(self, folder: Path, batch: int) -> None:
        self._path = folder / UNFINISHED / f"batch={batch}"

    def __enter__(self) -> Path:
        shutil.rmtree(self._path, ignore_errors=True)
        self._path.mkdir(parents=True)
        return self._path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._path, ignore_errors=True)

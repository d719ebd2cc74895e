"""Runs dead letters through a pipeline again, as a batch of their own.

    1   write the list of letters          has no effect before step 2
    2   write the entry of the journal     now the letters are settled; retries are numbered -1, -2, …
    3   run the batch                      like any other: sinks, dead letters, metrics
    4   mark it as finished

The bytes are those that the source has now, if the document is still there, else those of the letter.
If a retry is interrupted after step 2, the next retry finishes it first, with the same letters and the same
index version; if it is interrupted before, it has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.errors import RunError
from twigcast.spark.columns import CARRIED, ONLY
from twigcast.spark.jvm.lock import lock
from twigcast.spark.jvm.workers import prepare_workers
from twigcast.spark.outputs.batch_folders import write_batch
from twigcast.spark.outputs.dead_letters import (
    letters_of_retry,
    open_letters,
    settled_path,
    with_unpacked_columns,
)
from twigcast.spark.outputs.delivery_scope import DeliveryScope, says_what_it_has
from twigcast.spark.outputs.letter_ids import letter_id
from twigcast.spark.outputs.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.batch import RunState, cached, run_batch
from twigcast.spark.runs.letter_sources import ORIGIN, LetterFiles, documents_again, documents_at
from twigcast.spark.runs.replay_plans import ReplayPlans

Replacement = bytes | str | PathLike[str]


@dataclass(frozen=True, slots=True)
class RetryMetrics(BatchMetrics):
    """The metrics of a retry, and which bytes it used for each document.

    These are ``source`` if the document was read again, ``stored`` if it is gone and the bytes of the letter
    were used, ``replacement`` if others were given, and ``none`` if there are none.
    """

    origins: tuple[tuple[str, str], ...] = ()


def retry(
    spark: SparkSession,
    pipeline: Pipeline,
    select: str | Column | None = None,
    *,
    replace: Mapping[str, Replacement] | None = None,
    on_batch: Callable[[BatchMetrics], None] | None = None,
) -> list[RetryMetrics]:
    """Run open dead letters again; returns the metrics of the retries, an empty list if no letter was open.

    ``select`` is a condition on their columns, such as ``code = 'too-large'``.  A document that is still in
    the source is read again, so that one that was repaired there is taken; else the bytes of its letter are.
    ``replace`` has other bytes, or the path of a file, by the id of a letter; only these letters are taken.
    A letter of a broken archive is retried when all sinks can say which deliveries they have.
    """
    prepare_workers(spark)
    lock(spark, pipeline.work.path / "retry.lock")
    state = RunState.of(spark, pipeline)
    replacements = _replacements(spark, pipeline, replace) if replace else {}
    done = [
        _finish(spark, state, batch, on_batch)
        for batch in state.journal.retries()
        if not state.journal.is_finished(batch)
    ]
    batch = ReplayPlans(pipeline.work.path).next_number(state.journal)
    if _take(spark, pipeline, select, replacements, batch):
        state.begin(batch)
        done.append(_finish(spark, state, batch, on_batch))
    return done


def _replacements(
    spark: SparkSession, pipeline: Pipeline, replace: Mapping[str, Replacement]
) -> dict[str, bytes]:
    """The bytes by the full id of each letter; raises ``SourceError`` if there is no such letter."""
    kind = pipeline.source.kind
    if kind in ("fragments", "huge", "chunks"):
        raise RunError("a document in parts cannot be replaced: repair it in the source, and retry")
    rows = open_letters(spark, pipeline).select("doc_id", "code").collect()
    codes = {row["doc_id"]: row["code"] for row in rows}
    found: dict[str, bytes] = {}
    for asked, given in replace.items():
        id = letter_id(codes, asked)
        if kind in ("archives", "records") and id in LetterFiles.of(spark, pipeline, [id]).containers:
            raise RunError(f"{id} has many documents: replace the file itself, and retry")
        found[id] = given if isinstance(given, bytes) else Path(given).read_bytes()
    return found


def _take(
    spark: SparkSession,
    pipeline: Pipeline,
    select: str | Column | None,
    replacements: Mapping[str, bytes],
    batch: int,
) -> bool:
    """Write the list of letters that the retry takes; false if there are none."""
    letters = open_letters(spark, pipeline)
    if select is not None:
        letters = letters.where(select)
    if replacements:
        letters = letters.where(F.col("doc_id").isin(list(replacements)))
    else:
        letters = letters.where(_can_be_read(spark, pipeline, letters))
    taken = letters.select(F.col("batch").alias("letter_batch"), "doc_id").distinct()
    bodies = spark.createDataFrame(
        [(id, bytearray(body)) for id, body in replacements.items()], "doc_id string, replacement binary"
    )
    taken = taken.join(bodies, "doc_id", "left")
    write_batch(taken.coalesce(1), settled_path(pipeline), batch)
    return not letters_of_retry(spark, pipeline, batch).isEmpty()


def _can_be_read(spark: SparkSession, pipeline: Pipeline, letters: DataFrame) -> Column:
    """Whether there are bytes for a letter: its own, or perhaps those of a file that was not read before."""
    kind = pipeline.source.kind
    if kind in ("fragments", "chunks"):
        return F.lit(False)
    has_body = F.col("body").isNotNull()
    if kind == "directory":
        return has_body | F.col("code").isin("too-large", "unreadable")
    if kind not in ("archives", "records", "huge"):
        return has_body
    alone = letters.where(~has_body & F.col("subscription").isNull()).select("doc_id").distinct()
    files = LetterFiles.of(spark, pipeline, [row["doc_id"] for row in alone.collect()])
    ids = set(files.by_id)
    if not all(says_what_it_has(spark, sink) for sink in pipeline.sink):
        ids -= ids if kind == "huge" else files.containers
    return (F.lit(kind != "huge") & has_body) | F.col("doc_id").isin(sorted(ids))


def _finish(
    spark: SparkSession, state: RunState, batch: int, on_batch: Callable[[BatchMetrics], None] | None
) -> RetryMetrics:
    pipeline = state.pipeline
    letters = letters_of_retry(spark, pipeline, batch).withColumnsRenamed(
        {"subscription": ONLY.name, "columns": CARRIED.name}
    )
    # A replay may have delivered what was repaired, and an archive that is read again has documents that were
    # delivered before, and other open letters.
    once = DeliveryScope(pipeline.sink, once=True, letters=open_letters(spark, pipeline))
    if pipeline.source.kind == "huge":
        ids = [row["doc_id"] for row in letters.select("doc_id").distinct().collect()]
        places = list(LetterFiles.of(spark, pipeline, ids).by_id.values())
        figures = run_batch(state, documents_at(spark, pipeline, places), batch, ends=True, scope=once)
        origins = tuple((place.path, "source") for place in places)
    else:
        again = documents_again(spark, pipeline, letters)
        again = with_unpacked_columns(again, pipeline.deliveries.columns)
        with cached(again):
            rows = again.select("doc_id", ORIGIN).distinct().collect()
            origins = tuple(sorted((str(row["doc_id"]), row[ORIGIN]) for row in rows))
            figures = run_batch(state, again.drop(ORIGIN, "batch"), batch, scope=once)
    state.journal.finish(batch)
    if on_batch is not None:
        on_batch(figures)
    known = {each.name: getattr(figures, each.name) for each in fields(figures)}
    return RetryMetrics(**known, origins=origins)

"""Makes hits of joined documents; those that are needed as a whole are read in a second pass.

    joined ──┬── no delivery needs the document ─────────────────────────────────┬──► hits
             └── whole ──► fragments of these documents, put together in a task ─┘

The whole document is needed for deliveries that have it as content, for parts, and for subscriptions that can
be decided only on its tree.  Bodies of other documents do not move.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from twigcast.errors import FragmentError
from twigcast.fragmenting import EvaluatedFragments, assemble, decode, decode_with_header, encode
from twigcast.spark.columns import ERROR, NUMBERS, ErrorRow, error_row, error_without_position
from twigcast.spark.fragments.fragment_columns import ARROW_JOINED, ARROW_WHOLE, JOINED, WHOLE, in_batches
from twigcast.spark.fragments.joining import JoinRules
from twigcast.spark.sources.documents import Documents, as_dataframe
from twigcast.spark.sources.file_access import open_file, read_within
from twigcast.system import Links

KEPT = "doc_id string, number int, fragment binary"
"""The columns of fragments that are kept because their documents may be needed as a whole."""

_ARROW_KEPT = pa.schema([("doc_id", pa.string()), ("number", pa.int32()), ("fragment", pa.binary())])


def hits_without_bodies(joined: DataFrame, rules: JoinRules) -> DataFrame:
    """The hits of documents that are not needed as a whole, and the dead letters."""
    is_letter = F.col("status").isin("broken", "incomplete", "fault", "refused")
    digest = F.col("digest") if rules.content == "reference" else F.lit(None).cast("binary")
    early = F.col("status") == "early"
    chosen = joined.where(is_letter | early | ((F.col("status") == "complete") & ~F.col("whole")))
    return chosen.select(
        "doc_id",
        F.when(is_letter, F.col("fragment")).alias("body"),
        "matches",
        "index_version",
        F.when(is_letter, F.col("error")).cast(ERROR).alias("error"),
        F.lit(None).cast(NUMBERS).alias("undecided"),
        digest.alias("twigcast_digest"),
        "size",
        "seconds",
        F.when(is_letter & (F.col("number") > 0), F.col("number")).alias("fragment"),
        F.col("subscription").alias("twigcast_subscription"),
    )


def hits_with_bodies(whole: DataFrame, fragments: DataFrame, rules: JoinRules) -> DataFrame:
    """The hits of documents that are needed as a whole, from their ``fragments`` in the columns ``KEPT``."""
    bodies = fragments.join(whole.select("doc_id"), "doc_id", "left_semi")
    rows = whole.withColumn("number", F.lit(-1)).drop("fragment")
    both = rows.unionByName(bodies, allowMissingColumns=True).select(*JOINED.names)
    ordered = both.repartition(F.col("doc_id")).sortWithinPartitions("doc_id", "number")
    return ordered.mapInArrow(partial(_assembled, rules=rules), WHOLE)


def hits_of_files(joined: DataFrame, rules: JoinRules, links: Links) -> DataFrame:
    """The hits and dead letters of files; those that are needed as a whole are read by their ``doc_id``."""
    return joined.mapInArrow(partial(_read, rules=rules, links=links), WHOLE)


def kept_fragments(documents: DataFrame | Documents) -> DataFrame:
    """The fragments of a source that can be read, in the columns ``KEPT``."""
    reading = documents.worker_reading() if isinstance(documents, Documents) else None
    if reading is not None:
        return reading.places.mapInArrow(reading.followed_by(_kept), KEPT)
    return as_dataframe(documents).mapInArrow(_kept, KEPT)


def _kept(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from in_batches((row for batch in batches for row in _fragments(batch)), _ARROW_KEPT)


def _fragments(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    has_header = "header" in batch.schema.names
    for row in range(batch.num_rows):
        body = batch.column("body")[row].as_py()
        header = batch.column("header")[row].as_py() if has_header else None
        if isinstance(header, str):
            header = header.encode()
        try:
            fragment = decode(body) if header is None else decode_with_header(header, body)
        except (FragmentError, TypeError):  # a dead letter; a body that is null
            continue
        data = body if header is None else encode(fragment)
        yield {"doc_id": fragment.doc_id, "number": fragment.number, "fragment": data}


def _assembled(batches: Iterator[pa.RecordBatch], *, rules: JoinRules) -> Iterator[pa.RecordBatch]:
    """Put documents together; the row of a document comes before its fragments."""
    rows = (row for batch in batches for row in _rows(batch))
    for _, group in groupby(rows, itemgetter("doc_id")):
        ordered = iter(group)
        first = next(ordered)
        try:
            body = assemble(decode(row["fragment"]) for row in ordered)
        except FragmentError as error:
            yield _hit(first, None, error_without_position(error.message, code=error.code), rules)
            continue
        yield _hit(first, body, None, rules)


def _read(batches: Iterator[pa.RecordBatch], *, rules: JoinRules, links: Links) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for row in batch.to_pylist():
            if not row["whole"]:
                yield _hit(row, row["fragment"], row["error"], rules)
                continue
            try:
                with open_file(row["doc_id"], links=links) as file:
                    body = read_within(file, row["size"])
            except OSError as error:
                message = f"the file cannot be read: {error.strerror or error}"
                yield _hit(row, None, error_without_position(message, code="unreadable"), rules)
                continue
            yield _hit(row, body, None, rules)


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    assert batch.schema.names == ARROW_JOINED.names
    for row in range(batch.num_rows):
        yield batch.slice(row, 1).to_pylist()[0]


def _hit(row: dict[str, Any], body: bytes | None, error: ErrorRow | None, rules: JoinRules) -> pa.RecordBatch:
    """The hit of a document that is there as a whole; subscriptions that need its tree are decided."""
    matches, undecided = row["matches"], None
    if row["partial"] is not None and body is not None:
        matcher = rules.choice.open_index(row["index_version"], rules.limits).partials()
        match = matcher.match(matcher.decode(row["partial"]), body)
        told = set(EvaluatedFragments.of(row["facts"], None).told) if row["facts"] else set()
        matches = [position for position in match.positions if position not in told]
        undecided = [each.position for each in match.undecided] or None
        error = None if match.error is None else error_row(match.error)
    made = {
        "doc_id": row["doc_id"],
        "body": body,
        "matches": matches if error is None else None,
        "index_version": row["index_version"],
        "error": error,
        "undecided": undecided,
        "twigcast_digest": row["digest"] if rules.content == "reference" else None,
        "size": row["size"],
        "seconds": row["seconds"],
        "fragment": row["number"] if error is not None and row["number"] > 0 else None,
        "twigcast_subscription": row["subscription"],
    }
    return pa.RecordBatch.from_pylist([made], schema=ARROW_WHOLE)

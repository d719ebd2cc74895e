"""Joins the evaluated fragments of each document: one task for a document, a few kilobytes for a fragment.

Rows come sorted by document and by the number of the fragment; so a task holds one document at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from twigcast.document import DocumentLimits
from twigcast.errors import DocumentError
from twigcast.filtering import Index
from twigcast.fragmenting import DocumentJoin, EvaluatedFragments, decode, encode, printed_numbers
from twigcast.spark.columns import error_without_position
from twigcast.spark.fragments.evaluating import FRAGMENT_FAULTS, UNBOUNDED, VersionChoice, as_error_row
from twigcast.spark.fragments.fragment_columns import ARROW_JOINED, JOINED, in_batches
from twigcast.spark.stages.delivering import ContentMode


@dataclass(frozen=True, slots=True)
class JoinRules:
    """What becomes of documents that are joined.

    ``ends`` if no later batch can bring fragments: then every document gets its outcome.  Otherwise those in
    ``expiring`` do, with the reason, unless a fragment has just come.  ``largest_whole`` is the size of the
    largest document that is put together, and ``bounded`` says whether a larger one is an error.
    """

    choice: VersionChoice
    limits: DocumentLimits
    checked: bool
    content: ContentMode
    bounded: bool = True
    ends: bool = True
    early: bool = False
    expiring: tuple[tuple[str, str], ...] = ()

    @property
    def largest_whole(self) -> int:
        return self.limits.bytes

    def open_index(self, version: str) -> Index:
        """The index of a version, for parts of documents, whose bytes are those of the document."""
        return self.choice.open_index(version, replace(self.limits, bytes=UNBOUNDED))


def joined(evaluated: DataFrame, rules: JoinRules) -> DataFrame:
    """The documents of evaluated fragments, in the columns ``JOINED``."""

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from _join(batches, rules)

    ordered = evaluated.repartition(F.col("doc_id")).sortWithinPartitions("doc_id", "number", "facts")
    return ordered.mapInArrow(stage, JOINED)


def _join(batches: Iterator[pa.RecordBatch], rules: JoinRules) -> Iterator[pa.RecordBatch]:
    rows = (row for batch in batches for row in _rows(batch))
    made = (
        out
        for doc_id, group in groupby(rows, itemgetter("doc_id"))
        for out in _document_rows(doc_id, group, rules)
    )
    yield from in_batches(made, ARROW_JOINED)


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    for start in range(0, batch.num_rows, 100):
        yield from batch.slice(start, 100).to_pylist()


def _document_rows(doc_id: str, rows: Iterator[dict[str, Any]], rules: JoinRules) -> Iterator[dict[str, Any]]:
    """The rows of one document."""
    join: DocumentJoin | None = None
    version = rules.choice.of(doc_id)
    index = rules.open_index(version)
    seconds = 0.0
    has_new = False
    for row in rows:
        error = row["error"]
        if error is not None and error["code"] in FRAGMENT_FAULTS:
            yield {**row, "status": "fault"}
            continue
        if join is None:
            limits = rules.limits if rules.bounded else None
            join = DocumentJoin(doc_id, index, limits=limits, checked=rules.checked)
        seconds += row["seconds"] or 0.0
        has_new = has_new or row["number"] > 0
        if error is not None:
            join.fail(_recalled(error), row["number"])
            continue
        waiting = None if row["fragment"] is None else decode(row["fragment"])
        join.add(EvaluatedFragments.of(row["facts"], row["partial"], waiting))
    if join is not None:
        yield from _outcome(join, version, seconds, has_new, rules)


def _outcome(
    join: DocumentJoin, version: str, seconds: float, has_new: bool, rules: JoinRules
) -> Iterator[dict[str, Any]]:
    row: dict[str, Any] = {
        "doc_id": join.doc_id,
        "number": 0,
        "index_version": version,
        "seconds": seconds,
        "size": join.size,
        "digest": join.digest,
    }
    status = join.status()
    if status == "complete":
        yield from _complete(join, row, rules)
        return
    if status == "broken":
        assert join.error is not None
        error = as_error_row(join.error)
        yield row | {"number": join.error_number, "status": "broken", "error": error}
        yield from _notices(join, row, rules, "the document was broken")
        return
    reason = "ended" if rules.ends else None if has_new else dict(rules.expiring).get(join.doc_id)
    if reason is not None:
        message = f"fragments are missing ({reason}): {_missing(join)}"
        error = error_without_position(message, code="fragments-missing")
        yield row | {"status": "incomplete", "error": error}
        yield from _notices(join, row, rules, "the document was never complete")
        return
    if rules.early:
        certain = sorted(set(_without_parts(join.certain(), version, rules)) - join.told)
        if certain:
            yield row | {"status": "early", "matches": certain, "whole": False, "digest": b""}
            join.told.update(certain)
    state, *waiting = join.compacted()
    yield row | {"status": "open", "facts": state.facts(), "partial": state.partial}
    for found in waiting:
        assert found.waiting is not None
        yield row | {"status": "waiting", "facts": found.facts(), "fragment": encode(found.waiting)}


def _complete(join: DocumentJoin, row: dict[str, Any], rules: JoinRules) -> Iterator[dict[str, Any]]:
    version = row["index_version"]
    matcher = rules.open_index(version).partials()
    candidates = list(matcher.candidates(join.partial))
    matches = [each for each in matcher.certain_positions(join.partial) if each not in join.told]
    whole_ones = set(_without_parts(matches, version, rules))
    parts = [each for each in matches if each not in whole_ones]
    whole = bool(candidates or parts or (matches and rules.content == "inline"))
    if whole and join.size > rules.largest_whole:
        for position in (*candidates, *parts):
            yield row | {
                "status": "refused",
                "error": _too_large(join.size, rules),
                "subscription": _names(version, [position], rules)[0],
            }
        matches, candidates, whole = [each for each in matches if each in whole_ones], [], False
    partial = join.partial.encode() if candidates else None
    facts = EvaluatedFragments((), None, told=tuple(join.told)).facts() if join.told and candidates else None
    yield row | {
        "status": "complete",
        "matches": matches,
        "partial": partial,
        "facts": facts,
        "whole": whole,
    }


def _notices(join: DocumentJoin, row: dict[str, Any], rules: JoinRules, why: str) -> Iterator[dict[str, Any]]:
    """Dead letters for subscriptions that were told early about a document that did not become one."""
    for name in _names(row["index_version"], sorted(join.told), rules):
        message = f"subscription {name!r} was told about the document early, and {why}"
        code = "fragments-missing" if join.error is None else join.error.code
        error = error_without_position(message, code=code)
        yield row | {"status": "refused", "error": error, "subscription": name}


def _without_parts(positions: list[int], version: str, rules: JoinRules) -> list[int]:
    """The positions of subscriptions to whole documents."""
    patterns = rules.choice.versions[version].open_subscribers().column("pattern")
    if patterns.null_count == len(patterns):
        return positions
    null = patterns.is_null().to_numpy()
    found = np.asarray(positions, dtype=np.int64)
    return [int(each) for each in found[null[found]]]


def _names(version: str, positions: list[int], rules: JoinRules) -> list[str]:
    table = rules.choice.versions[version].open_subscribers()
    return [
        str(name) for name in table.column("subscription").take(pa.array(positions, pa.int64())).to_pylist()
    ]


def _too_large(size: int, rules: JoinRules) -> dict[str, Any]:
    message = (
        f"the subscription needs the whole document of {size:,} bytes, more than {rules.largest_whole:,}"
        " (limits.bytes): raise that limit, or subscribe without parts, counts and positions"
    )
    return error_without_position(message, code="too-large")


def _missing(join: DocumentJoin) -> str:
    missing = join.missing
    if not missing:
        return "those after the last that came"
    return printed_numbers(missing)


def _recalled(error: dict[str, Any]) -> DocumentError:
    """The error of a row; its code may also be one of a ``FragmentError``."""
    return DocumentError(
        error["message"],
        code=error["code"],
        line=error["line"],
        column=error["column"],
        offset=error["offset"],
    )

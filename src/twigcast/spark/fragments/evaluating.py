"""Evaluates fragments, each once for all subscriptions, in the workers that have them.

A row of the result has the partial of a fragment, a few kilobytes; bodies stay where they are.  Only a
fragment whose header does not say enough to evaluate it alone (the kind ``edge``, or an opening of more than
1 KB) is passed on as it is, to the task that joins its document.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from twigcast.document import NO_LIMIT, DocumentLimits
from twigcast.errors import DocumentError, FragmentError
from twigcast.filtering import Index
from twigcast.fragmenting import (
    DocumentJoin,
    EvaluatedFragments,
    Fragment,
    decode,
    decode_cut_header,
    decode_with_header,
    encode,
    evaluate_fragment,
)
from twigcast.spark.columns import ErrorRow, error_row, error_without_position, internal_error
from twigcast.spark.fragments.fragment_columns import ARROW_EVALUATED, in_batches
from twigcast.spark.stages.shipping import Shipped

FRAGMENT_FAULTS = ("fragment-file", "fragment-corrupt", "fragment-late")
"""The codes of fragments that are dead letters by themselves: their documents go on without them."""

UNBOUNDED = NO_LIMIT


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """The index version of each document: the one of its first fragment, or that of the batch if it is new.

    ``ended`` are documents that have their outcome already.
    """

    current: str
    versions: Mapping[str, Shipped]
    pinned: Mapping[str, str] = field(default_factory=dict)
    ended: frozenset[str] = frozenset()

    def of(self, doc_id: str) -> str:
        """The version for a document."""
        return self.pinned.get(doc_id, self.current)

    def open_index(self, version: str, limits: DocumentLimits) -> Index:
        """The index of a version, mapped once in each process."""
        return self.versions[version].open_index(limits)


def evaluate(
    batches: Iterator[pa.RecordBatch],
    *,
    choice: VersionChoice,
    limits: DocumentLimits,
    checked: bool,
    is_cut: bool,
) -> Iterator[pa.RecordBatch]:
    """The stage that workers run; ``is_cut`` if the fragments were cut by twigcast in the same run.

    Of such fragments no two are the same, so those of one document in one task are joined at once.
    """
    evaluation = _Evaluation(choice, limits, checked, is_cut)
    rows = (row for batch in batches for each in _inputs(batch) for row in evaluation.rows(each))
    yield from in_batches(rows, ARROW_EVALUATED)
    yield from in_batches(evaluation.joined_rows(), ARROW_EVALUATED)


def _inputs(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a table of fragments, one at a time."""
    known = ("doc_id", "number", "header", "opening", "body", "error")
    names = [name for name in known if name in batch.schema.names]
    for row in range(batch.num_rows):
        yield {name: batch.column(name)[row].as_py() for name in names}


class _Evaluation:
    """The evaluation of the fragments of one task."""

    def __init__(self, choice: VersionChoice, limits: DocumentLimits, checked: bool, is_cut: bool) -> None:
        self._choice = choice
        self._limits = replace(limits, bytes=UNBOUNDED)  # the bytes are those of the document
        self._checked = checked
        self._is_cut = is_cut
        self._joins: dict[str, DocumentJoin] = {}
        self._seconds: dict[str, float] = {}

    def rows(self, given: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The rows of one fragment."""
        began = time.perf_counter()
        if given.get("error") is not None:
            yield self._fault(given, given["error"], given["doc_id"], given.get("number") or 0)
            return
        try:
            fragment = self._fragment(given)
        except FragmentError as error:
            doc_id = error.doc_id or given["doc_id"]
            reason = error_without_position(error.message, code=error.code)
            yield self._fault(given, reason, doc_id, error.number or given.get("number") or 0)
            return
        except Exception as error:  # one fragment never stops the others
            yield self._fault(given, internal_error(error), given["doc_id"], given.get("number") or 0)
            return
        doc_id, number = fragment.doc_id, fragment.number
        if doc_id in self._choice.ended:
            message = f"fragment {number} of {doc_id!r} came after the outcome of the document"
            reason = error_without_position(message, code="fragment-late")
            yield self._fault(given, reason, doc_id, number)
            return
        version = self._choice.of(doc_id)
        row: dict[str, Any] = {"doc_id": doc_id, "number": number, "index_version": version}
        index = self._choice.open_index(version, self._limits)
        try:
            found = evaluate_fragment(
                index, index.partials(), fragment, checked=self._checked, is_own=self._is_cut
            )
        except (DocumentError, FragmentError) as error:
            yield row | {"error": as_error_row(error)}
            return
        except Exception as error:
            yield row | {"error": internal_error(error)}
            return
        took = time.perf_counter() - began
        if self._is_cut and found.waiting is None:
            self._join(doc_id, index, found, took)
            return
        waiting = None if found.waiting is None else encode(found.waiting)
        yield row | {
            "facts": found.facts(),
            "partial": found.partial,
            "fragment": waiting,
            "seconds": took,
        }

    def _join(self, doc_id: str, index: Index, found: EvaluatedFragments, took: float) -> None:
        join = self._joins.get(doc_id)
        if join is None:
            join = self._joins[doc_id] = DocumentJoin(doc_id, index, checked=self._checked)
        join.add(found)
        self._seconds[doc_id] = self._seconds.get(doc_id, 0.0) + took

    def joined_rows(self) -> Iterator[dict[str, Any]]:
        """The rows of documents whose fragments were joined in this task."""
        for doc_id, join in self._joins.items():
            row = {"doc_id": doc_id, "number": 0, "index_version": self._choice.of(doc_id)}
            if join.error is not None:
                yield row | {"number": join.error_number, "error": as_error_row(join.error)}
                continue
            for found in join.compacted():
                yield row | {
                    "facts": found.facts(),
                    "partial": found.partial,
                    "seconds": self._seconds[doc_id],
                }

    def _fragment(self, given: dict[str, Any]) -> Fragment:
        header, body = given.get("header"), given["body"]
        if body is None:
            raise FragmentError("there is no body", code="fragment-file")
        if header is None:
            return decode(body)
        if isinstance(header, str):
            header = header.encode()
        if self._is_cut:
            cut = decode_cut_header(header)
            if given.get("opening") is not None:
                cut = replace(cut, opening=replace(cut.opening, text=given["opening"]))
            return Fragment(cut, body)
        fragment = decode_with_header(header, body)
        stated = given.get("doc_id"), given.get("number")
        if stated[0] not in (None, fragment.doc_id) or stated[1] not in (None, fragment.number):
            raise FragmentError(
                f"the header is of fragment {fragment.number} of {fragment.doc_id!r}, the row of {stated[1]}"
                f" of {stated[0]!r}",
                code="fragment-file",
                doc_id=stated[0] or fragment.doc_id,
                number=stated[1] or fragment.number,
            )
        return fragment

    def _fault(self, given: dict[str, Any], error: ErrorRow, doc_id: str, number: int) -> dict[str, Any]:
        return {
            "doc_id": doc_id,
            "number": number,
            "index_version": self._choice.current,
            "fragment": None if self._is_cut else given.get("body"),
            "error": error,
        }


def as_error_row(error: DocumentError | FragmentError) -> ErrorRow:
    """The error of a document in fragments as the row of a table."""
    if isinstance(error, DocumentError):
        return error_row(error)
    return error_without_position(error.message, code=error.code)

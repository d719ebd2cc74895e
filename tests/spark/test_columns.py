"""Documents leave a worker in batches of a bounded size."""

from __future__ import annotations

from twigcast.spark.columns import (
    ARROW_SOURCED,
    DOCUMENT_BATCH_BYTES,
    DOCUMENT_BATCH_ROWS,
    batched,
    error_without_position,
)


def test_batches_are_bounded() -> None:
    """A batch ends when it is full, by rows or by bytes; the rest is the last batch."""
    many = list(batched((str(n), b"", None, None) for n in range(DOCUMENT_BATCH_ROWS + 1)))
    assert [batch.num_rows for batch in many] == [DOCUMENT_BATCH_ROWS, 1]
    big = b"x" * (DOCUMENT_BATCH_BYTES // 2)
    assert [batch.num_rows for batch in batched([("d", big, None, None)] * 5)] == [2, 2, 1]
    assert list(batched([])) == []


def test_rows_keep_what_they_carry() -> None:
    """A row is a document, or an error without a position."""
    error = error_without_position("broken", code="archive")
    (batch,) = batched([("d", b"<a/>", b"<r", None), ("e", None, None, error)])
    assert batch.schema == ARROW_SOURCED
    assert batch.to_pylist() == [
        {"doc_id": "d", "body": b"<a/>", "prolog": b"<r", "error": None},
        {"doc_id": "e", "body": None, "prolog": None, "error": error},
    ]

"""An item on which twigcast itself fails is a dead letter with the code ``internal``, and others go on.

No input is known that makes it fail; so a fault is put into the reading or matching of one of two items.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from twigcast import Index
from twigcast.document import DocumentLimits
from twigcast.errors import IndexFileError
from twigcast.fragmenting import encode, fragment
from twigcast.spark.fragments import evaluating, huge_files
from twigcast.spark.fragments.evaluating import VersionChoice, evaluate
from twigcast.spark.sources import archives, records, whole_files
from twigcast.spark.sources.archives import Unpacking, members
from twigcast.spark.sources.file_access import open_file
from twigcast.spark.sources.records import RecordCut, pieces, rows_of
from twigcast.spark.sources.whole_files import document
from twigcast.spark.stages.matching import _answer
from twigcast.spark.stages.shipping import shipped


class Fault(Exception):
    """Something that nobody expected."""


def failing_open(path: str, **options: Any) -> Any:
    """Open a file, but fail on one."""
    if "bad" in path:
        raise Fault("a\nb")
    return open_file(path, **options)


@pytest.mark.parametrize(
    ("room", "read"),
    [
        (whole_files, lambda path: [document(path, 4, None, 100, "follow")]),
        (archives, lambda path: members(path, Unpacking())),
        (records, lambda path: rows_of(path, 0, None, b"", RecordCut("r"))),
    ],
)
def test_a_file_that_cannot_be_read_for_an_unknown_reason_is_one_row(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, room: Any, read: Callable[[str], Any]
) -> None:
    """The error says what was raised and where."""
    for name in ("good.xml", "bad.xml"):
        (tmp_path / name).write_bytes(b"<r/>")
    monkeypatch.setattr(room, "open_file", failing_open)
    ((_, body, _, error),) = read(str(tmp_path / "good.xml"))
    assert (body, error) == (b"<r/>", None)
    ((path, body, _, error),) = read(str(tmp_path / "bad.xml"))
    assert (path, body, error["code"]) == (str(tmp_path / "bad.xml"), None, "internal")
    assert error["message"].startswith("twigcast failed on it (Fault: a b, test_internal_errors.py, line ")


def test_members_before_a_fault_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The archive is one error after them."""
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name in ("good.xml", "bad.xml"):
            (tmp_path / name).write_bytes(b"<r/>")
            tar.add(tmp_path / name, name)
    usual = archives._row

    def row(doc_id: str, *args: Any) -> Any:
        if "bad" in doc_id:
            raise Fault
        return usual(doc_id, *args)

    monkeypatch.setattr(archives, "_row", row)
    first, second = members(str(tmp_path / "a.tar"), Unpacking())
    assert first[1] == b"<r/>"
    assert second[3] is not None
    assert second[3]["code"] == "internal"


def test_a_file_whose_plan_fails_is_told_by_its_piece(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Planning a file of records, or a huge one, never stops the planning of others."""
    monkeypatch.setattr(records, "open_file", failing_open)
    monkeypatch.setattr(huge_files, "open_file", failing_open)
    assert [*pieces("bad", 1 << 30, RecordCut("r"))] == [(0, None, b"")]
    (span,) = huge_files._spans("bad", 100, 10, "follow")
    assert span["error"]["code"] == "internal"


class FailingIndex(Index):
    """An index that fails on a batch with a certain document."""

    fault: type[Exception] = Fault

    def match_batch(self, documents: Any, *args: Any, **options: Any) -> Any:
        if b"<bad/>" in documents.to_pylist():
            raise self.fault("no")
        return super().match_batch(documents, *args, **options)


def test_documents_of_a_batch_on_which_an_index_fails_are_found() -> None:
    """They have an error each, and the others their answers and their own errors."""
    bodies = [b"<bad/>", b"<a/>", b"<a>", b"<b/>", b"<bad/>", b"<a/>"]
    answer, errors = _answer(FailingIndex([("a", "/a"), ("b", "/b")]), pa.array(bodies), None, None)
    assert answer.matches.to_pylist() == [None, [0], None, [1], None, [0]]
    assert errors is not None
    assert [error and error["code"] for error in errors] == [
        "internal", None, "truncated", None, "internal", None
    ]  # fmt: skip


def test_a_bad_index_is_the_fault_of_no_document() -> None:
    """An error of twigcast that is not about a document fails the run."""
    index = FailingIndex([("a", "/a")])
    index.fault = lambda text: IndexFileError(text, code="index-file")  # type: ignore[assignment,misc]
    with pytest.raises(IndexFileError):
        _answer(index, pa.array([b"<bad/>", b"<a/>"]), None, None)


@pytest.mark.parametrize("name", ["decode", "evaluate_fragment"])
def test_a_fragment_that_fails_is_one_row(
    monkeypatch: pytest.MonkeyPatch, spark: Any, tmp_path: Path, name: str
) -> None:
    """Reading or evaluating it may fail; the other fragment is evaluated."""
    usual = getattr(evaluating, name)

    def fail(*args: Any, **options: Any) -> Any:
        if any("bad" in str(arg) for arg in args):
            raise Fault
        return usual(*args, **options)

    monkeypatch.setattr(evaluating, name, fail)
    made = [encode(each) for doc in ("good", "bad") for each in fragment(b"<a/>", doc_id=doc)]
    batch = pa.record_batch([["1", "2"], pa.array(made)], ["doc_id", "body"])
    versions = {"1": shipped(Index([("a", "/a")]), "path", spark.sparkContext)[0]}
    found = evaluate(
        iter([batch]),
        choice=VersionChoice("1", versions),
        limits=DocumentLimits(),
        checked=True,
        is_cut=False,
    )
    errors = [row["error"] and row["error"]["code"] for each in found for row in each.to_pylist()]
    assert errors == [None, "internal"]

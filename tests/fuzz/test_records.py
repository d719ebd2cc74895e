"""Records of hostile files: the fuzz target holds, and finds a splitter that is wrong."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.bounds import Unmetered
from tests.fuzz.checks import Mismatch
from tests.fuzz.records import RecordCase, check_records, record_case
from twigcast.document.record_outside import RecordOutside
from twigcast.errors import DocumentError


def test_generated_files_of_records_hold() -> None:
    """A short run of the fuzz target, always the same; most files have records."""
    done: Counter[str] = Counter()
    for seed in range(150):
        check_records(record_case(seed), Unmetered(), done)
    assert done["records"] > 100


@pytest.mark.parametrize(
    "body", [b"<f xmlns='u'><r/></f>", b"<!DOCTYPE f [<!ENTITY e 'x'>]><f><r>&e;</r></f>"]
)
def test_a_record_that_loses_what_it_inherits_is_found(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its namespace, or its entity."""
    case = RecordCase(body, "r", 1)
    check_records(case, Unmetered(), Counter())
    monkeypatch.setattr(RecordOutside, "prolog", lambda *_: None)
    with pytest.raises((Mismatch, DocumentError)):
        check_records(case, Unmetered(), Counter())

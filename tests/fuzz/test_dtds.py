"""The surface of DTDs: its texts are varied, and its checks notice a wrong answer."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz import dtds
from tests.fuzz.bounds import Unmetered
from tests.fuzz.checks import Mismatch
from tests.fuzz.dtds import DtdCase, check_dtd, dtd_case
from twigcast.errors import SchemaError
from twigcast.schema import read_dtd


def test_many_dtds_hold() -> None:
    """A good part of them is read, and some are compared with lxml."""
    done: Counter[str] = Counter()
    for seed in range(400):
        check_dtd(dtd_case(seed), Unmetered(), done)
    assert done["DTDs"] == 400
    assert done["DTDs read"] > 100
    assert done["DTDs compared with expat"] > 50
    assert done["DTDs compared with lxml"] > 50


def test_some_dtds_are_refused_for_each_reason() -> None:
    """Malformed text, limits, references without declarations, external entities, second declarations."""
    reasons: Counter[str] = Counter()
    for seed in range(400):
        try:
            read_dtd(dtd_case(seed).body)
        except SchemaError as error:
            wanted = ("is not a DTD", "too large", "no entity of this name", "external", "again")
            reasons[next((each for each in wanted if each in error.message), "other")] += 1
    assert len(reasons) >= 5, reasons


@pytest.mark.parametrize("wrong", [b"<!ELEMENT a (p:b)>", b"<!ELEMENT a (b)><!ATTLIST a k CDATA 'x'>"])
def test_a_wrong_answer_is_a_finding(monkeypatch: pytest.MonkeyPatch, wrong: bytes) -> None:
    """A prefix that is lost, an attribute that is not there."""
    graph = read_dtd(wrong)
    monkeypatch.setattr(dtds, "read_dtd", lambda body, root=None: graph)
    with pytest.raises(Mismatch):
        check_dtd(DtdCase(b"<!ELEMENT a (q:b)>"), Unmetered(), Counter())

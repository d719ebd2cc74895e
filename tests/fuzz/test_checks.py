"""The checks of the fuzz target: they hold for an index, and find one that is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.fuzz import checks
from tests.fuzz.bounds import Unmetered
from tests.fuzz.checks import Case, Mismatch, check, lxml_truths
from twigcast import Index
from twigcast.errors import DocumentError
from twigcast.pattern import parse

CASE = Case(
    ["/a/b", "//b[@k = 'x']", "/a[", "//c", "//b[2]"],
    [b"<a><b k='x'/><b/></a>", b"<a>", b"<c>\xff</c>", b"<!DOCTYPE a [<!ENTITY e '<b/>'>]><a>&e;</a>", b""],
    1 << 16,
    3,
)


def test_a_case_holds() -> None:
    """Everything that a check compares is counted."""
    done: Counter[str] = Counter()
    check(CASE, Unmetered(), done)
    assert done["documents"] == 5
    assert done["accepted"] == 2
    assert done["compared with lxml"] == 4
    assert done["selections"] == 8
    assert done["changes"]
    assert done["files refused"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 40))
def test_generated_cases_hold(seed: int) -> None:
    """A short run of the fuzz target, always the same."""
    made = checks.case(seed)
    small = [body for body in made.bodies if len(body) < 3000]
    check(Case(made.subscriptions, small, made.cache_bytes, seed), Unmetered(), Counter())


def wrong_ids(match: Any) -> Any:
    return type(match)(list(match.positions)[1:], match.error, match._names)


def wrong_code(match: Any) -> Any:
    error = match.error and DocumentError("wrong", code="too-deep", line=1, column=1, offset=0)
    return type(match)(match.positions, error, match._names)


@pytest.mark.parametrize(
    ("spoil", "what"),
    [(wrong_ids, "match (ids instead of ids)"), (wrong_code, "match (too-deep instead of truncated)")],
)
def test_a_wrong_match_is_found(
    spoil: Callable[[Any], Any], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index that loses an id, or gives another error, is found."""
    right = Index.match
    monkeypatch.setattr(Index, "match", lambda self, body: spoil(right(self, body)))
    with pytest.raises(Mismatch) as found:
        check(CASE, Unmetered(), Counter())
    assert found.value.what == what


def test_a_reader_that_refuses_too_much_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """If reader and kernel agree, expat still decides whether they are right."""

    def refuse(*_: object) -> None:
        raise DocumentError("no", code="malformed", line=1, column=1, offset=0)

    monkeypatch.setattr(checks, "read", refuse)
    with pytest.raises(Mismatch, match="deliberate refusal: malformed"):
        check(CASE, Unmetered(), Counter())


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        (b"<a><![CDATA[]]></a>", True),
        (b"<a><!-- <![CDATA[]]> --></a>", True),
        (b"<a><![CDATA[<![CDATA[]]></a>", True),
        (b"<!DOCTYPE a><a/>", False),
        (b"<a>1e5</a>", False),
        (b"<a>", False),
    ],
)
def test_lxml_is_asked_where_it_can_answer(body: bytes, asked: bool) -> None:
    """Lxml makes an empty text node of an empty CDATA section, so that it is left out."""
    text = "//a[text()]"
    truths = lxml_truths([text, "a"], {0: parse(text), 1: parse("a")}, body)
    assert truths == ({0: b"[<![" in body} if asked else {})

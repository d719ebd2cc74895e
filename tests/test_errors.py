"""Tests of what all errors have in common."""

from __future__ import annotations

import pickle

import pytest

from twigcast.errors import ChunkingError, DocumentError, ExtraError, PatternError, TwigcastError

ERRORS = [
    ExtraError("xmlschema", extra="xsd"),
    ChunkingError("no query", code="query", query="q"),
    PatternError("expected a step", code="syntax", text="//", column=3),
    DocumentError("mismatched tag", code="malformed", line=2, column=3, offset=9),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda each: type(each).__name__)
def test_an_error_travels_between_processes(error: TwigcastError) -> None:
    """With its message, its code and all that it says."""
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.code) == (str(error), error.code)
    assert vars(again) == vars(error)

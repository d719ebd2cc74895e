"""Queries of chunks: the fuzz target holds, and finds answers that are wrong."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.bounds import Unmetered
from tests.fuzz.checks import Mismatch
from tests.fuzz.chunk_queries import ChunkCase, check_chunks, chunk_case
from twigcast.chunking import PartRunner


def test_generated_queries_hold() -> None:
    """A short run of the fuzz target, always the same; many queries are answered by each engine."""
    done: Counter[str] = Counter()
    for seed in range(60):
        check_chunks(chunk_case(seed), Unmetered(), done)
    assert done["queries answered"] > 100
    assert done["queries answered by lxml"] > 20
    assert done["queries refused"] > 20


def test_answers_that_are_lost_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the evaluator, or by lxml."""
    for engine in ("auto", "lxml"):
        case = ChunkCase([("//b", engine)], b"<a><b/></a>", 1)
        check_chunks(case, Unmetered(), Counter())
        with monkeypatch.context() as patch:
            patch.setattr(PartRunner, "_owns", lambda *_: False)
            with pytest.raises(Mismatch):
                check_chunks(case, Unmetered(), Counter())

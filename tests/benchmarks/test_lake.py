"""The benchmarks of archives: one tiny run on Spark, and the documents of the large one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpus import corpus
from benchmarks.lake import Run, large_documents, measure
from benchmarks.sparking import index_version
from twigcast import Index


def test_all_ways_agree(spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Structures, with and without bodies, and bodies give the same matches; sizes are those of columns."""
    monkeypatch.setenv("TWIGCAST_BENCH_CACHE", str(tmp_path / "cache"))
    version = index_version("news", "branching", 50)
    outcome = measure(spark, lambda step: None, Run("tiny", 40, 0, 1), corpus("news", 40), version)
    assert outcome.wrong == ()
    assert min(outcome.figures.values()) > 0
    assert outcome.figures["structure_percent"] < 20


def test_large_documents_are_well_formed(data: Path) -> None:
    """Each is at least as large as asked for, and different from the others."""
    whole = (data / "dblp" / "dblp.xml").read_bytes()
    index = Index([("all", "/dblp/*")])
    made = list(large_documents(whole, 50, 100_000))
    assert len({*made}) == 50
    assert all(len(body) >= 100_000 and index.match(body).ids == ["all"] for body in made)

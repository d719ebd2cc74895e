"""The benchmark of mediation: one tiny run on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.mediation import Size, catalogues, check, feeds, measure, subscriptions
from twigcast import Index
from twigcast.spark import IndexVersion

TINY = Size(documents=5, subscriptions=60, warming=0, passes=1, checked=1, checked_subscriptions=60)


def test_a_tiny_run_has_figures_and_no_wrong_answer(
    spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Mediated documents have the matches of their images, and each way was timed."""
    monkeypatch.setenv("TWIGCAST_BENCH_CACHE", str(tmp_path / "cache"))
    mappings, texts = catalogues(), subscriptions(TINY)
    sources, images = feeds(mappings, TINY, lambda step: None)
    assert check(mappings, texts, sources, TINY, lambda step: None) == []
    version = IndexVersion.save(tmp_path, "1", Index((str(id), text) for id, text in enumerate(texts)))
    outcome = measure(spark, lambda step: None, sources, images, version, TINY)
    assert outcome.wrong == ()
    assert outcome.figures["matches_per_document"] > 0
    assert outcome.figures["documents_per_second"] > 0

"""The benchmarks of the pipeline: one tiny run on Spark, and what they are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks import default_names, named
from benchmarks.corpus import corpus
from benchmarks.own_session import own_session, small_files
from benchmarks.pipeline import Counts, Size, by_threads, in_halves, measure
from benchmarks.sparking import index_version
from benchmarks.workloads import subscriptions
from twigcast import Index

TINY = Size(
    documents=60,
    subscriptions=50,
    warming=0,
    passes=1,
    partitions=2,
    sample=5,
    sample_passes=1,
    by_xpath=3,
    by_lxml=10,
)


def test_a_tiny_run_has_figures_and_no_wrong_answer(
    spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Pipeline, threads and rivals agree on every document, and each was timed."""
    monkeypatch.setenv("TWIGCAST_BENCH_CACHE", str(tmp_path / "cache"))
    texts = subscriptions("news", "branching", TINY.subscriptions)
    version = index_version("news", "branching", TINY.subscriptions)
    paths = corpus("news", TINY.documents)
    outcome = measure(spark, lambda step: None, paths, version, texts, TINY)
    assert outcome.wrong == ()
    assert min(outcome.figures.values()) > 0
    assert outcome.figures["pairs_checked"] == 5 * (3 + 10)


@pytest.mark.spark
@pytest.mark.soak
def test_a_plain_session_finds_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A session without any setting of twigcast has the same answers, and both were timed."""
    monkeypatch.setenv("TWIGCAST_DATA", str(tmp_path))
    monkeypatch.setenv("TWIGCAST_BENCH_CACHE", str(tmp_path / "cache"))
    for benchmark in (own_session, small_files):
        outcome = benchmark(lambda step: None, TINY)
        assert outcome.wrong == ()
        assert min(outcome.figures.values()) > 0


def test_two_threads_count_what_one_index_finds() -> None:
    """Each document is matched once, whatever the batches, and one that is unreadable is counted as such."""
    index = Index([("a", "/a"), ("b", "//b")])
    arrays = [pa.array([b"<a/>", b"<a><b/></a>", b"<a>"], pa.binary()), pa.array([b"<b/>"], pa.binary())]
    assert by_threads(index, in_halves(arrays, 2)) == Counts(documents=4, matches=4, errors=1)


def test_the_pipeline_runs_only_when_named() -> None:
    """A group without default members stands for all of its members."""
    assert not any(name.startswith("pipeline-") for name in default_names())
    assert named(["pipeline"])[0] == "pipeline-throughput"
    assert "pipeline-records-1gb" in named(["pipeline"])

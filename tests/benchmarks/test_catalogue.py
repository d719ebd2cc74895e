"""The catalogue: names, bars, and what becomes of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import (
    BENCHMARKS,
    GROUPS,
    LABELS,
    Bar,
    Benchmark,
    Outcome,
    Result,
    default_names,
    named,
    run,
    workloads,
)


def benchmark(outcome: Outcome, bar: Bar | None = None) -> Benchmark:
    return Benchmark("it", "matching", "a test", lambda progress: outcome, "ratio", "×", bar)


@pytest.fixture
def _no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("TWIGCAST_DATA", str(tmp_path))
    workloads.feed.cache_clear()
    yield
    workloads.feed.cache_clear()


def test_every_benchmark_has_a_group_and_labels() -> None:
    """What people are shown has a name for people."""
    assert {each.group for each in BENCHMARKS.values()} == set(GROUPS)
    assert {figure for each in BENCHMARKS.values() for figure in each.beside} <= set(LABELS)


def test_the_largest_runs_only_when_named() -> None:
    """What takes minutes by itself is not among the usual ones."""
    assert "nitf-linear-1m" not in default_names()
    assert named(["nitf-linear-1m"]) == ["nitf-linear-1m"]


def test_a_group_stands_for_its_usual_members() -> None:
    """A word may be a group, and nothing runs twice."""
    assert named(["threads", "two-threads"]) == ["two-threads"]
    assert set(named(["rivals"])) == {name for name in BENCHMARKS if name.startswith("rival-")}


def test_an_unknown_name_is_an_error() -> None:
    """A name that is neither a benchmark nor a group is not passed over."""
    with pytest.raises(KeyError, match="nonsense"):
        named(["nonsense"])


@pytest.mark.parametrize(
    ("bar", "value", "met"),
    [(Bar("≤", 2), 2.0, True), (Bar("≤", 2), 2.1, False), (Bar("≥", 2), 1.9, False), (None, 1.0, None)],
)
def test_a_bar_is_met_or_missed(bar: Bar | None, value: float, met: bool | None) -> None:
    """A figure at the bar meets it; without a bar there is no verdict."""
    assert Result(benchmark(Outcome({}), bar), {"ratio": value}).met is met


def test_a_run_gives_figures_and_wrong_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a benchmark found wrong is in its result."""
    monkeypatch.setitem(BENCHMARKS, "it", benchmark(Outcome({"ratio": 1.5}, ("wrong",))))
    (result,) = run(["it"], lambda step: None)
    assert (result.name, result.value, result.wrong) == ("it", 1.5, ("wrong",))


@pytest.mark.usefixtures("_no_data")
def test_a_benchmark_without_its_data_says_so() -> None:
    """Missing data is no failure: the result names what is missing, and has no verdict."""
    (result,) = run(["medline-branching-10k"], lambda step: None)
    assert "medline" in (result.missing or "")
    assert (result.value, result.met) == (None, None)

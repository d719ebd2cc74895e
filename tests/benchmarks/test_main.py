"""``python -m benchmarks``: what it prints, and when it fails."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import benchmarks
from benchmarks.__main__ import app


@pytest.fixture
def run(invoke: Callable[..., Any]) -> Callable[..., Any]:
    """Run ``python -m benchmarks`` with the arguments."""
    return partial(invoke, app)


@pytest.fixture
def replace(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put a benchmark in the catalogue that measures nothing and gives these figures."""

    def put(ratio: float, wrong: tuple[str, ...] = ()) -> None:
        outcome = benchmarks.Outcome({"ratio": ratio, "memory_megabytes": 12.5}, wrong)
        made = benchmarks.Benchmark(
            "quick", "matching", "a test", lambda progress: outcome, "ratio", "×", benchmarks.Bar("≤", 2),
            ("memory_megabytes",),
        )  # fmt: skip
        monkeypatch.setitem(benchmarks.BENCHMARKS, "quick", made)

    return put


def test_the_list_has_every_name(run: Any) -> None:
    """``--list`` runs nothing and names all."""
    first_words = {line.split()[0] for line in run("--list").lines if line.strip()}
    assert first_words >= set(benchmarks.BENCHMARKS)


def test_a_missed_bar_is_shown_and_no_failure(run: Any, replace: Any) -> None:
    """The figure is printed beside its bar, with the verdict."""
    replace(ratio=3.25)
    done = run("quick")
    (row,) = (line for line in done.lines if line.startswith("quick"))
    assert row.split() == ["quick", "3.25", "×", "≤", "2", "MISSED", "12.5", "MB", "memory"]
    assert done.exit_code == 0


def test_a_wrong_answer_is_a_failure(run: Any, replace: Any) -> None:
    """The exit code is 1 and stderr says which answer was wrong."""
    replace(ratio=1.0, wrong=("document 1 differs",))
    done = run("quick")
    assert done.exit_code == 1
    assert "wrong answer: quick: document 1 differs" in done.stderr
    assert "WRONG" in done.stdout


def test_json_has_figures_bars_and_the_machine(run: Any, replace: Any) -> None:
    """Machines get everything that was measured, and nothing else is on stdout."""
    replace(ratio=1.5)
    report = json.loads(run("--json", "quick").stdout)
    (result,) = report["results"]
    assert (result["name"], result["value"], result["met"]) == ("quick", 1.5, True)
    assert result["bar"] == {"relation": "≤", "limit": 2}
    assert report["machine"]["cores"] >= 1


def test_an_unknown_name_cannot_run(run: Any) -> None:
    """The message names it and says where names are found."""
    done = run("nonsense")
    assert done.exit_code == 2
    assert "nonsense" in done.stderr


def test_missing_data_of_a_named_benchmark_is_an_error(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A benchmark that was named and cannot run is an error, and the message says which data is missing."""
    workloads = sys.modules["benchmarks.workloads"]
    monkeypatch.setenv("TWIGCAST_DATA", str(tmp_path))
    monkeypatch.setattr(workloads, "feed", workloads.feed.__wrapped__)
    done = run("medline-linear-10k")
    assert done.exit_code == 2
    assert "TWIGCAST_DATA" in done.stderr

"""``python -m experiments``: what it prints and writes, and when it fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import experiments
from experiments.__main__ import app


@pytest.fixture
def run(invoke: Callable[..., Any]) -> Callable[..., Any]:
    """Run ``python -m experiments`` with the arguments."""
    return partial(invoke, app)


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put an experiment in the catalogue that measures nothing and finds this."""

    def put(wrong: tuple[str, ...] = ()) -> None:
        findings = experiments.Findings(
            (experiments.Table("Rows", ("set", "rows", "paper"), (("A", 1234, 0.5),), ("It rains.",)),),
            (experiments.Chart("Rows", "x", "y", {"s": ((1, 2.0), (2, 3.0))}),),
            (experiments.Bar("rows", 3.0, "≤", 2.0),),
            wrong,
        )

        def measure(scale: float, watch: Any) -> Any:
            assert list(watch("counting", range(3), 3)) == [0, 1, 2]
            return findings

        made = experiments.Experiment("routing/quick", "A test", measure, minutes=1)
        monkeypatch.setitem(experiments.EXPERIMENTS, "routing/quick", made)

    return put


def test_the_list_has_every_name(run: Any) -> None:
    """``--list`` runs nothing and names all."""
    names = [line.split("\t")[0] for line in run("--list").lines if line]
    assert names == list(experiments.EXPERIMENTS)


def test_a_table_stands_with_its_reasons_and_bars(run: Any, put: Any) -> None:
    """The paper's figures beside ours, why they differ, and a missed bar that is no failure."""
    put()
    done = run("routing/quick")
    assert done.exit_code == 0
    rows = [line.split() for line in done.lines]
    assert ["A", "1,234", "0.5"] in rows
    assert ["It", "rains."] in rows
    assert ["rows", "3", "≤", "2", "MISSED"] in rows
    assert "counting" in done.stderr


def test_a_smaller_run_says_so(run: Any, put: Any) -> None:
    """The output says that the run is smaller, and no bar is judged."""
    put()
    done = run("routing/quick", "--scale", 0.5)
    assert "A run at 0.5 of the paper's size" in done.stdout
    assert "MISSED" not in done.stdout


def test_json_has_everything(run: Any, put: Any) -> None:
    """Nothing else is on stdout."""
    put()
    (result,) = json.loads(run("routing/quick", "--json").stdout)["results"]
    assert (result["name"], result["scale"]) == ("routing/quick", 1.0)
    assert result["tables"][0]["rows"] == [{"set": "A", "rows": 1234, "paper": 0.5}]


def test_files_are_written_on_demand(run: Any, put: Any, tmp_path: Path) -> None:
    """Markdown, JSON, PNG and SVG, in a folder that is made if need be."""
    pytest.importorskip("matplotlib")
    put()
    folder = tmp_path / "new" / "results"
    assert run("routing/quick", "--out", folder).exit_code == 0
    assert {path.name for path in folder.iterdir()} == {
        f"routing-quick.{suffix}" for suffix in ("md", "json", "png", "svg")
    }


def test_the_picture_of_a_scaled_run_says_so(
    run: Any, put: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A picture has its citation, and the remark if it is of a smaller run."""
    put()
    drawn: list[tuple[Any, ...]] = []
    monkeypatch.setattr("experiments.__main__.draw", lambda *told: drawn.append(told[2:]) or ())
    run("routing/quick", "--out", tmp_path)
    run("routing/quick", "--out", tmp_path, "--scale", "0.1")
    (citation, full), (_, smaller) = drawn
    assert citation.endswith("Routing of XML and XPath Queries in Data Dissemination Networks")
    assert full is None
    assert smaller.startswith("A run at 0.1 of the paper's size")


def test_a_wrong_answer_is_a_failure(run: Any, put: Any) -> None:
    """The exit code is 1 and stderr says what was wrong."""
    put(wrong=("a delivery is missing",))
    done = run("routing/quick")
    assert done.exit_code == 1
    assert "wrong answer: routing/quick: a delivery is missing" in done.stderr


@pytest.mark.parametrize("arguments", [(), ("nonsense",), ("routing/quick", "--scale", "0")])
def test_what_cannot_be_run_is_refused(run: Any, put: Any, arguments: tuple[str, ...]) -> None:
    """No name, an unknown name, nothing of an experiment."""
    put()
    assert run(*arguments).exit_code == 2


def test_missing_data_is_an_error(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The message names the environment variable to set."""
    pytest.importorskip("simpy")
    monkeypatch.setenv("TWIGCAST_DATA", str(tmp_path))
    done = run("routing/table-2", "--scale", "0.01")
    assert done.exit_code == 2
    assert "TWIGCAST_DATA" in done.stderr

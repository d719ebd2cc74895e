"""``twigcast bench``, with benchmarks that take no time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunCommand = Callable[..., Any]

SMALL = """
NAMES = {"one": "the first", "two": "the second"}

def run(names, report):
    for name in names:
        report({"benchmark": name, "ratio": 1.5})
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of benchmarks that give figures at once."""
    (tmp_path / "__init__.py").write_text(SMALL)
    monkeypatch.setattr("twigcast.cli.bench.FOLDER", tmp_path)


@pytest.mark.usefixtures("small")
def test_the_list_has_names_and_sentences(run: RunCommand) -> None:
    """One line for each benchmark."""
    assert run("bench", "--list").lines == ["one\tthe first", "two\tthe second"]


@pytest.mark.usefixtures("small")
def test_json_has_an_object_for_each_figure(run: RunCommand) -> None:
    """Machines get the rows as they are."""
    assert [json.loads(line) for line in run("bench", "--json").lines] == [
        {"benchmark": "one", "ratio": 1.5},
        {"benchmark": "two", "ratio": 1.5},
    ]


@pytest.mark.usefixtures("small")
def test_people_get_a_table_of_the_named_ones(run: RunCommand) -> None:
    """Only what was asked for is run."""
    assert [line.split() for line in run("bench", "two").lines] == [["benchmark", "ratio"], ["two", "1.50"]]


@pytest.mark.usefixtures("small")
def test_an_unknown_benchmark_is_an_error_of_usage(run: RunCommand) -> None:
    """Exit code 2 before anything is run."""
    assert run("bench", "three").exit_code == 2


def test_without_the_source_tree_it_says_where_they_are(
    run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed package has no benchmarks, and says what to do."""
    monkeypatch.setattr("twigcast.cli.bench.FOLDER", tmp_path / "none")
    done = run("bench")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "make bench" in done.stderr

"""The README, the tutorial and the recipes, run from top to bottom in an empty folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.page_runner import run_commands, run_page

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "recipes").glob("*.md"))]


@pytest.fixture(autouse=True)
def one_session(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands use the session of the tests, and print in 100 columns."""

    @contextmanager
    def session_for(pipeline: object) -> Iterator[Any]:
        yield spark

    monkeypatch.setattr("twigcast.spark.session_for", session_for)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_shows_is_what_happens(page: Path, tmp_path: Path, spark: Any) -> None:
    """Commands and programs of a page run one after the other, and print what the page says."""
    assert "".join(run_page(page, tmp_path, {"spark": spark})) == ""


def test_every_command_of_the_readme_succeeds(tmp_path: Path) -> None:
    """In an empty folder, as it is written there: what a command needs is made by an earlier one."""
    assert "".join(run_commands(ROOT / "README.md", tmp_path)) == ""


def test_a_command_that_fails_or_prints_something_else_is_found(tmp_path: Path) -> None:
    """The check of the README knows a wrong exit code and a wrong output."""
    page = tmp_path / "page.md"
    page.write_text("```console\n$ twigcast check none.txt\n$ echo one\ntwo\n$ echo three\n```\n")
    first, second = run_commands(page, tmp_path)
    assert "exit code 2" in first
    assert "expected:\ntwo" in second

"""The tutorial and the recipes, run from top to bottom in an empty folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.page_runner import run_page

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "recipes").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_shows_is_what_happens(
    page: Path, tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands and programs of a page run one after the other, and print what the page says."""

    @contextmanager
    def session_for(pipeline: object) -> Iterator[Any]:
        yield spark

    monkeypatch.setattr("twigcast.spark.session_for", session_for)
    monkeypatch.setenv("COLUMNS", "100")
    assert "".join(run_page(page, tmp_path, {"spark": spark})) == ""

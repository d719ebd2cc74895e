"""Formats of files are told from the others by their names."""

from __future__ import annotations

import pytest

from twigcast.spark.sources.formats import is_of_files


@pytest.mark.parametrize(
    ("format", "files"),
    [("parquet", True), ("ORC", True), ("jdbc", False), ("kafka", False), ("noop", False)],
)
def test_some_formats_are_files(format: str, files: bool) -> None:
    """However they are written."""
    assert is_of_files(format) is files

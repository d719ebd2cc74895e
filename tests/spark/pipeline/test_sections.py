"""Formats of Spark that are folders of files are known by their names."""

from __future__ import annotations

import pytest

from twigcast.spark.pipeline import is_file_format


@pytest.mark.parametrize(
    ("format", "files"),
    [("parquet", True), ("ORC", True), ("jdbc", False), ("kafka", False), ("noop", False)],
)
def test_some_formats_are_files(format: str, files: bool) -> None:
    """Upper and lower case make no difference."""
    assert is_file_format(format) is files

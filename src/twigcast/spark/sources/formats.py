"""The formats of Spark that are files: they have a path, and as a stream they must know their columns."""

from __future__ import annotations

_FILES = frozenset({"parquet", "orc", "json", "csv", "text", "xml", "avro"})


def is_of_files(format: str) -> bool:
    """Whether a table of this format is a folder of files."""
    return format.lower() in _FILES

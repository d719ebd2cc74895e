"""Reads the bytes of a schema that is given as a path or as bytes."""

from __future__ import annotations

from pathlib import Path

from twigcast.errors import SchemaError


def read_source(source: Path | str | bytes, what: str) -> tuple[bytes, str]:
    """The bytes of a schema, and its name in error messages: its path, or ``what`` if it came as bytes."""
    if isinstance(source, bytes):
        return source, what
    name = str(source)
    try:
        return Path(source).read_bytes(), name
    except OSError as error:
        raise SchemaError(f"{name} cannot be read: {error.strerror}") from error

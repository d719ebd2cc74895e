"""A schema as it is given: the path of a file, or bytes."""

from __future__ import annotations

from pathlib import Path

from twigcast.errors import SchemaError


def read_source(source: Path | str | bytes, what: str) -> tuple[bytes, str]:
    """The bytes of a schema, and what to call it in an error: its path, or ``what`` it is."""
    if isinstance(source, bytes):
        return source, what
    name = str(source)
    try:
        return Path(source).read_bytes(), name
    except OSError as error:
        raise SchemaError(f"{name} cannot be read: {error.strerror}") from error

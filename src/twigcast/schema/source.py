"""Reads the bytes of a schema that is given as a path or as bytes."""

from __future__ import annotations

from pathlib import Path

from twigcast.errors import SchemaError
from twigcast.schema.limits import SchemaLimits


def read_source(source: Path | str | bytes, what: str, limits: SchemaLimits) -> tuple[bytes, str]:
    """The bytes of a schema, and its name in error messages: its path, or ``what`` if it came as bytes."""
    if isinstance(source, bytes):
        limits.check("bytes", len(source), what)
        return source, what
    name = str(source)
    try:
        with Path(source).open("rb") as file:
            body = file.read(limits.bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SchemaError(f"{name} cannot be read: {reason}", code="unreadable") from error
    limits.check("bytes", len(body), name)
    return body, name

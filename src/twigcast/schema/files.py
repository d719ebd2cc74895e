"""Reads a schema file, a DTD or an XSD."""

from __future__ import annotations

from pathlib import Path

from twigcast.schema.dtd import read_dtd
from twigcast.schema.graph import ElementGraph
from twigcast.schema.limits import DEFAULT, SchemaLimits
from twigcast.schema.xsd import read_xsd


def read_schema(path: Path, root: str | None = None, limits: SchemaLimits = DEFAULT) -> ElementGraph:
    """The element graph of a file: an XSD if its name ends in ``.xsd``, otherwise a DTD."""
    return read_xsd(path, root, limits) if path.suffix.lower() == ".xsd" else read_dtd(path, root, limits)

"""Changes a mapping file and keeps its comments and its order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from twigcast.config import ConfigError, read_toml, toml_text
from twigcast.errors import MappingError
from twigcast.system import write_atomically


def update_mapping_file(
    path: Path, *, settings: Mapping[str, str] | None = None, pairs: Mapping[str, str] | None = None
) -> None:
    """Set keys at the top of a mapping file, such as ``reviewed``, and add pairs to ``[match]``.

    Raises ``MappingError`` (``mapping-file``) if the file cannot be read.
    """
    document = parsed_document(path)
    for key, value in (settings or {}).items():
        document[key] = value
    if pairs:
        match = match_table(document, path)
        for place, image in pairs.items():
            match[place] = image
    write_atomically(path, tomlkit.dumps(document).encode())


def parsed_document(path: Path) -> tomlkit.TOMLDocument:
    """A mapping file with its comments; raises ``MappingError`` (``mapping-file``)."""
    try:
        read_toml(path)  # says what is wrong, and that it is not too deep for the other parser
        text = toml_text(path)
    except ConfigError as error:
        raise _error(path, error.message) from None
    try:
        return tomlkit.parse(text)
    except (ValueError, TOMLKitError) as error:
        raise _error(path, f"not TOML: {error}") from None


def match_table(document: tomlkit.TOMLDocument, path: Path) -> Table:
    """The section ``[match]``, which is made if it is missing; raises ``MappingError`` (``mapping-file``)."""
    if "match" not in document:
        document.add("match", tomlkit.table())
    match = document["match"]
    if not isinstance(match, Table):
        raise _error(path, "match: expected a section [match], so that each pair has a line of its own")
    return match


def _error(path: Path, message: str) -> MappingError:
    return MappingError(f"{path}: {message}", code="mapping-file", name=str(path))

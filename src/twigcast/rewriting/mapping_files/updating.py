"""Changes a mapping file and keeps its comments and its order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import tomlkit
from tomlkit.items import Table

from twigcast.errors import MappingError
from twigcast.system import write_atomically


def update_mapping_file(
    path: Path, *, settings: Mapping[str, str] | None = None, pairs: Mapping[str, str] | None = None
) -> None:
    """Set keys at the top of a mapping file, such as ``reviewed``, and add pairs to ``[match]``.

    Raises ``MappingError`` (``mapping-file``) if the file cannot be read.
    """
    try:
        document = tomlkit.parse(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise MappingError(f"{path}: {error}", code="mapping-file", name=str(path)) from None
    for key, value in (settings or {}).items():
        document[key] = value
    if pairs:
        if "match" not in document:
            document.add("match", tomlkit.table())
        match = document["match"]
        assert isinstance(match, Table)
        for place, image in pairs.items():
            match[place] = image
    write_atomically(path, tomlkit.dumps(document).encode())

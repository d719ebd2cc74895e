"""Looks for the source of a pipeline before Spark is started."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.errors import SourceError

if TYPE_CHECKING:
    from twigcast.spark import Pipeline


def check_source(plan: Pipeline) -> None:
    """Raise ``SourceError`` if a local source of documents is missing or cannot be read.

    The folder that another pipeline writes may come later.  What Spark reads by a scheme is not looked for.
    """
    path = _local_path(plan.source.path)
    if path is None:
        return
    if not path.exists():
        if plan.is_site:
            return
        raise SourceError("there is no such source of documents", code="not-found", path=str(path))
    if not os.access(path, os.R_OK | os.X_OK if path.is_dir() else os.R_OK):
        raise SourceError("the source of documents cannot be read", code="unreadable", path=str(path))


def _local_path(path: str | None) -> Path | None:
    """The local path of a source; of a glob pattern, the folder before the first part with one."""
    if not path or re.match(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]*:/", path):
        return None
    found = Path(re.sub("^file:/+", "/", path))
    while re.search(r"[*?[{]", str(found)):
        found = found.parent
    return found

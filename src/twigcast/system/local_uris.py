"""Paths of local files in one spelling: Spark writes ``file:/`` and ``file:///`` before them, or nothing."""

from __future__ import annotations

import re

LOCAL_URI = "^file:/+"
"""What begins a URI of a local file, as a regular expression; the path begins with its last slash."""


def without_scheme(uri: str) -> str:
    """The path that a URI of a local file names; anything else stays as it is."""
    return re.sub(LOCAL_URI, "/", uri)

"""Which places of a pipeline must be apart: a run would overwrite, or take for documents, what it wrote.

source       no output in it, nor what the run keeps: each batch would be documents of the next
an output    no other output in it, nor what the run keeps: it is read as a whole
jsonl        others may be in it, since its files have names of their own
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import PurePath
from typing import TypeAlias

Places: TypeAlias = Sequence[tuple[str, str]]  # keys of the pipeline file with their paths


def clash(
    outputs: Places, kept: Places, source: str | None, roomy: Collection[str]
) -> tuple[str, str] | None:
    """The first key whose place is not its own, and what was expected; ``roomy`` outputs may hold others."""
    for number, (key, path) in enumerate(outputs):
        for other, place in [*outputs[:number], *kept]:
            if _is_same(path, place):
                return key, f"expected a folder of its own, but {other} is the same"
    for key, path in outputs:
        for other, place in [*outputs, *kept]:
            if key not in roomy and _is_in(place, path):
                return key, f"expected a folder of its own, but {other} is in it"
    for key, path in [*outputs, *kept]:
        if source is not None and _is_read_with(path, source):
            return key, "expected a place outside of source.path, whose files are the documents"
    return None


def _is_same(path: str, other: str) -> bool:
    return os.path.normpath(path) == os.path.normpath(other)


def _is_in(path: str, folder: str) -> bool:
    return os.path.normpath(path).startswith(os.path.normpath(folder).rstrip("/") + "/")


def _is_read_with(path: str, source: str) -> bool:
    """Whether who reads all of the source reads what is at the path; hidden names are passed over."""
    if not _is_in(path, source):
        return _is_same(path, source)
    below = PurePath(os.path.relpath(os.path.normpath(path), os.path.normpath(source)))
    return not any(part.startswith((".", "_")) for part in below.parts)

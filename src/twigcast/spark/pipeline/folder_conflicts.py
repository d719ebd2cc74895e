"""Finds paths of a pipeline that conflict, because a run would overwrite its output or read it as documents.

source     must not contain an output or state: the output of a batch would be documents of the next one
output     must not contain another output or state, because it is read as one table
jsonl      may contain others, because its files are known by their names
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import PurePath
from typing import TypeAlias

KeyedPaths: TypeAlias = Sequence[tuple[str, str]]  # keys of the pipeline file with their paths


def folder_conflict(
    outputs: KeyedPaths, state: KeyedPaths, source: str | None, shareable: Collection[str]
) -> tuple[str, str] | None:
    """The first key whose path conflicts with another, and a sentence; ``shareable`` may contain others."""
    for number, (key, path) in enumerate(outputs):
        for other, other_path in [*outputs[:number], *state]:
            if _is_same(path, other_path):
                return key, f"expected a folder of its own, but {other} is the same"
    for key, path in outputs:
        for other, other_path in [*outputs, *state]:
            if key not in shareable and _is_in(other_path, path):
                return key, f"expected a folder of its own, but {other} is in it"
    for key, path in [*outputs, *state]:
        if source is not None and _is_read_with(path, source):
            return key, "expected a path outside of source.path, whose files are the documents"
    return None


def _is_same(path: str, other: str) -> bool:
    return os.path.normpath(path) == os.path.normpath(other)


def _is_in(path: str, folder: str) -> bool:
    return os.path.normpath(path).startswith(os.path.normpath(folder).rstrip("/") + "/")


def _is_read_with(path: str, source: str) -> bool:
    """Whether reading all of the source reads the path as well; Spark skips hidden names."""
    if not _is_in(path, source):
        return _is_same(path, source)
    below = PurePath(os.path.relpath(os.path.normpath(path), os.path.normpath(source)))
    return not any(part.startswith((".", "_")) for part in below.parts)

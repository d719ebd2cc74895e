"""Ships an index version to the workers: by a path in a shared folder, or as files that Spark copies to them.

A task carries only the names of files.  Each worker process maps each segment file once; consecutive versions
share most of their files.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from twigcast.document import DocumentLimits
from twigcast.errors import StageError
from twigcast.filtering import Index
from twigcast.subscriptions import IndexVersion, opened_index, temporary_folder, temporary_version

Ship: TypeAlias = Literal["path", "files"]
Indexes: TypeAlias = IndexVersion | Index
AnyIndexes: TypeAlias = "Indexes | Iterable[Indexes]"


@dataclass(frozen=True, slots=True)
class Shipped:
    """An index version as tasks carry it: the paths of its segments, or the names of shipped files."""

    version: str
    size: int
    segments: tuple[str, ...]
    by: Ship = "path"

    def open_index(self, limits: DocumentLimits) -> Index:
        """The index, mapped once in each process."""
        return opened_index([Path(local_file(name, self.by)) for name in self.segments], limits)

    def open_subscribers(self) -> pa.Table:
        """The subscriber of each position: a table of ``subscription``, ``subscriber``, ``pattern``."""
        return self.open_index(DocumentLimits()).rows()


def shipped(indexes: AnyIndexes, ship: Ship, context: Any) -> tuple[Shipped, ...]:
    """Prepare index versions for the workers of a Spark context."""
    several = several_indexes(indexes)
    if not several:
        raise StageError("there is no index to match against", code="index-version")
    versions = [each if isinstance(each, IndexVersion) else temporary_version(each) for each in several]
    return tuple(
        Shipped(
            version.version,
            version.size,
            tuple(sent(path, ship, context) for path in version.paths),
            ship,
        )
        for version in versions
    )


def several_indexes(indexes: AnyIndexes) -> list[Indexes]:
    """The shards as a list, also if there is only one."""
    return [indexes] if isinstance(indexes, IndexVersion | Index) else list(indexes)


def index_limits(indexes: AnyIndexes) -> DocumentLimits:
    """The limits of documents if the caller gives none."""
    return indexes.limits if isinstance(indexes, Index) else DocumentLimits()


def version_text(versions: Iterable[Shipped]) -> str:
    """The combined version of several shards."""
    return "+".join(each.version for each in versions)


def sent(path: Path, ship: Ship, context: Any) -> str:
    """Make a file available to workers; returns its path, or the name under which Spark copies it to them."""
    if ship == "path":
        return str(path)
    folder = temporary_folder() / "sent"
    folder.mkdir(exist_ok=True)
    name = f"twigcast-{_digest(path)}-{path.name}"
    copy = folder / name
    if not copy.exists():
        try:
            os.link(path, copy)
        except OSError:
            shutil.copyfile(path, copy)
    context.addFile(str(copy))
    return name


def local_file(name: str, by: Ship) -> str:
    """The path of a file in a worker, given the result of ``sent``."""
    if by == "path":
        return name
    from pyspark import SparkFiles

    return SparkFiles.get(name)


def _digest(path: Path) -> str:
    content = blake2b(digest_size=8)
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            content.update(piece)
    return content.hexdigest()

"""How an index version reaches the workers: by a path that they share, or as files that Spark brings them.

Only names travel with a task.  Each worker process maps the segment files, once; versions that follow each
other share most of them.
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
    """Where workers find a version: the paths of its segments, or the names under which Spark brings them."""

    version: str
    size: int
    segments: tuple[str, ...]
    by: Ship = "path"

    def open_index(self, limits: DocumentLimits) -> Index:
        """The index, mapped, one for each process."""
        return opened_index([Path(local_file(name, self.by)) for name in self.segments], limits)

    def open_subscribers(self) -> pa.Table:
        """Who subscribes at each position: ``subscription``, ``subscriber``, ``pattern``."""
        return self.open_index(DocumentLimits()).rows()


def shipped(indexes: AnyIndexes, ship: Ship, context: Any) -> tuple[Shipped, ...]:
    """The versions, on their way to the workers of a Spark context."""
    several = [indexes] if isinstance(indexes, IndexVersion | Index) else list(indexes)
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


def version_text(versions: Iterable[Shipped]) -> str:
    """The version of several shards, as one text."""
    return "+".join(each.version for each in versions)


def sent(path: Path, ship: Ship, context: Any) -> str:
    """What workers know a file by: its path, or the name under which Spark brings its content to them."""
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
    """In a worker: the path of a file that was sent."""
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

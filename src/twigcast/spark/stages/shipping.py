"""How an index version reaches the workers: by a path that they share, or as files that Spark brings them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from twigcast.document import DocumentLimits
from twigcast.errors import StageError
from twigcast.filtering import Index
from twigcast.subscriptions import (
    INDEX,
    SUBSCRIBERS,
    IndexVersion,
    digest,
    mapped_table,
    opened_once,
    saved,
    temporary_folder,
)

Ship: TypeAlias = Literal["path", "files"]


@dataclass(frozen=True, slots=True)
class Shipped:
    """Where workers find a version: by paths they share, or by the names of files that Spark brought them."""

    version: str
    size: int
    index: str
    subscribers: str
    by: Ship = "path"

    def open_index(self, limits: DocumentLimits) -> Index:
        """The index, mapped, one for each process."""
        path = self._local(self.index)
        index: Index = opened_once(path, f"index {limits}", lambda: Index.open(path, limits=limits))
        return index

    def open_subscribers(self) -> pa.Table:
        """The subscribers, mapped, row by position."""
        path = self._local(self.subscribers)
        return opened_once(path, "subscribers", lambda: mapped_table(path))

    def _local(self, name: str) -> str:
        if self.by == "path":
            return name
        from pyspark import SparkFiles

        return SparkFiles.get(name)


Indexes: TypeAlias = IndexVersion | Index
AnyIndexes: TypeAlias = "Indexes | Iterable[Indexes]"


def shipped(indexes: AnyIndexes, ship: Ship, context: Any) -> tuple[Shipped, ...]:
    """The versions, on their way to the workers of a Spark context."""
    several = [indexes] if isinstance(indexes, IndexVersion | Index) else list(indexes)
    if not several:
        raise StageError("there is no index to match against", code="index-version")
    versions = [each if isinstance(each, IndexVersion) else saved(each) for each in several]
    if ship == "files":
        return tuple(_sent(version, context) for version in versions)
    return tuple(
        Shipped(each.version, each.size, str(each.path / INDEX), str(each.path / SUBSCRIBERS))
        for each in versions
    )


def version_text(versions: Iterable[Shipped]) -> str:
    """The version of several shards, as one text."""
    return "+".join(each.version for each in versions)


def _sent(version: IndexVersion, context: Any) -> Shipped:
    index, subscribers = (sent_file(version.path / name, context) for name in (INDEX, SUBSCRIBERS))
    return Shipped(version.version, version.size, index, subscribers, by="files")


def sent_file(path: Path, context: Any) -> str:
    """Send a file to the workers of a context; the name it has there, unlike that of any other content."""
    folder = temporary_folder() / "sent"
    folder.mkdir(exist_ok=True)
    name = f"twigcast-{digest(path)}-{path.name}"
    copy = folder / name
    if not copy.exists():
        try:
            os.link(path, copy)
        except OSError:
            shutil.copyfile(path, copy)
    context.addFile(str(copy))
    return name

"""An index as a folder that workers open: who subscribes, at the moment of one version.

    <root>/<version>/
        index.tci           the index; position i is row i of
        subscribers.arrow   subscription, subscriber, deliver, and the pattern where a part is delivered

Invariant: a folder with its final name is whole and never changes.  So its path says it all: nothing else is
shipped, and a process opens it once.  Both files are mapped, not read: the processes of a machine share them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa

from twigcast.errors import StageError
from twigcast.filtering import Index, RefusedSubscription
from twigcast.pattern import render

INDEX = "index.tci"
SUBSCRIBERS = "subscribers.arrow"


@dataclass(frozen=True, slots=True)
class SubscriptionRow:
    """A subscription as a table keeps it: who asks for what; ``deliver`` is ``document`` or ``part``."""

    id: str
    subscriber: str
    xpath: str
    namespaces: Mapping[str, str] | None = None
    deliver: str = "document"


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """A folder with an index and its subscribers, named by its version."""

    path: Path
    version: str
    size: int
    refused: tuple[RefusedSubscription, ...] = field(default=(), compare=False)

    @classmethod
    def write(
        cls, root: str | os.PathLike[str], version: object, rows: Iterable[SubscriptionRow]
    ) -> IndexVersion:
        """Write the version of these rows; those outside the language are left out: see ``refused``."""
        known: dict[str, SubscriptionRow] = {}
        index = Index()

        def items() -> Iterable[tuple[Any, ...]]:
            for row in rows:
                known.setdefault(row.id, row)
                yield row.id, row.xpath, row.namespaces

        refused = index.add_all(items())
        return cls.save(root, version, index, known, refused=refused)

    @classmethod
    def save(
        cls,
        root: str | os.PathLike[str],
        version: object,
        index: Index,
        rows: Mapping[str, SubscriptionRow] | None = None,
        *,
        refused: Iterable[RefusedSubscription] = (),
    ) -> IndexVersion:
        """Write an index as a version, with the row of each id; without rows, each id is its own subscriber.

        Where the version is there already, it stays as it is.
        """
        root = Path(root)
        path = root / _name(version)
        if not path.is_dir():
            root.mkdir(parents=True, exist_ok=True)
            part = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=root))
            try:
                index.save(part / INDEX)
                _write_subscribers(part / SUBSCRIBERS, index, rows)
                part.chmod(0o755)
                _sync(part / INDEX, part / SUBSCRIBERS, part)
                try:
                    part.rename(path)
                    _sync(root)
                except OSError:
                    if not path.is_dir():  # else another process was faster, with the same
                        raise
            finally:
                shutil.rmtree(part, ignore_errors=True)
        opened = cls.open(path)
        return cls(opened.path, opened.version, opened.size, tuple(refused))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> IndexVersion:
        """The version in a folder; raises ``StageError`` where there is none."""
        path = Path(path).absolute()
        if not (path / INDEX).is_file() or not (path / SUBSCRIBERS).is_file():
            raise StageError(f"{path} is no index version", code="index-version")
        return cls(path, path.name, mapped_table(path / SUBSCRIBERS).num_rows)

    def __len__(self) -> int:
        return self.size


def subscribers_of(version: IndexVersion) -> pa.Table:
    """The subscribers of a version, mapped, row by position."""
    return mapped_table(version.path / SUBSCRIBERS)


def opened_once(path: str, what: str, open_it: Callable[[], Any]) -> Any:
    """What this process has opened at a path, opened now if it has not."""
    return _opened((what, *_identity(path)), open_it)


# What a process has opened, so that each task does not open it again; the ones used last.
_KEPT = 8
_cache: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
_lock = threading.Lock()


def _opened(key: tuple[Any, ...], open_it: Any) -> Any:
    with _lock:
        if key not in _cache:
            _cache[key] = open_it()
            while len(_cache) > _KEPT:
                _cache.popitem(last=False)
        _cache.move_to_end(key)
        return _cache[key]


def _identity(path: str) -> tuple[str, int, int]:
    found = os.stat(path)
    return path, found.st_ino, found.st_mtime_ns


def mapped_table(path: str | Path) -> pa.Table:
    """An Arrow file, mapped."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def _name(version: object) -> str:
    name = str(version)
    if not name or name.startswith(".") or "/" in name or os.sep in name:
        raise StageError(f"{name!r} cannot name an index version", code="index-version")
    return name


_SCHEMA = pa.schema(
    [
        ("subscription", pa.string()),
        ("subscriber", pa.string()),
        ("deliver", pa.string()),
        ("pattern", pa.string()),  # in canonical form, without prefixes; null where documents are delivered
    ]
)
_ROWS_AT_ONCE = 100_000


def _write_subscribers(path: Path, index: Index, rows: Mapping[str, SubscriptionRow] | None) -> None:
    ids = index.ids
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, _SCHEMA) as writer:
        for start in range(0, len(ids), _ROWS_AT_ONCE):
            columns: list[list[str | None]] = [[], [], [], []]
            for id in ids[start : start + _ROWS_AT_ONCE]:
                row = rows[str(id)] if rows is not None else None
                part = row is not None and row.deliver == "part"
                columns[0].append(str(id))
                columns[1].append(str(id) if row is None else row.subscriber)
                columns[2].append("part" if part else "document")
                columns[3].append(render(index.pattern(id)) if part else None)
            writer.write_batch(pa.record_batch([pa.array(c, pa.string()) for c in columns], schema=_SCHEMA))


def _sync(*paths: Path) -> None:
    for path in paths:
        place = os.open(path, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


# An index that is not kept anywhere is saved for as long as this process lives, once for each content.
_temporary: tempfile.TemporaryDirectory[str] | None = None


def temporary_folder() -> Path:
    """A folder that lives as long as this process."""
    global _temporary
    with _lock:
        if _temporary is None:
            _temporary = tempfile.TemporaryDirectory(prefix="twigcast-index-")
        return Path(_temporary.name)


def saved(index: Index) -> IndexVersion:
    """An index that is not kept anywhere, as a version that lives as long as this process."""
    root = temporary_folder()
    with tempfile.TemporaryDirectory(dir=root) as scratch:
        file = Path(scratch) / INDEX
        index.save(file)
        version = digest(file)
        path = root / version
        if not path.is_dir():
            _write_subscribers(Path(scratch) / SUBSCRIBERS, index, None)
            ready = Path(scratch) / version
            ready.mkdir()
            file.rename(ready / INDEX)
            (Path(scratch) / SUBSCRIBERS).rename(ready / SUBSCRIBERS)
            ready.rename(path)
    return IndexVersion.open(path)


def digest(path: Path) -> str:
    """A hash of what is in a file."""
    content = blake2b(digest_size=8)
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            content.update(piece)
    return content.hexdigest()

"""An index version: a manifest that names segment files, which workers map into memory.

    <root>/36.json               the manifest of version 36: its segments in order, and the token of its store
    <root>/segments/4f2a….tci    a segment, named by the hash of its content; many versions share it

Invariant: manifests and segments under their final names are complete and never change, and a manifest is
written after its segments.  So a version takes disk space in proportion to its changes, the path of the
manifest is all that workers need, and a killed process leaves the last complete version behind.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from twigcast.document import DocumentLimits
from twigcast.errors import IndexFileError, StageError
from twigcast.filtering import Index, RefusedSubscription, StoredSegment, read_segment
from twigcast.pattern import Subscriptions
from twigcast.system import write_atomically

FORMAT = 2
SEGMENTS = "segments"
MANIFEST_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """One shard of an index version; most versions have only one."""

    manifest: Path
    version: str
    segments: tuple[str, ...]
    """The names of the segment files, in order."""
    size: int
    """The number of positions, including tombstones; every match is a number below it."""
    extension: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """Extra data of the builder of the version, such as the tables of a network."""
    refused: tuple[RefusedSubscription, ...] = field(default=(), compare=False)

    @classmethod
    def write(
        cls, root: str | os.PathLike[str], version: object, subscriptions: Subscriptions
    ) -> IndexVersion:
        """Write a version with these subscriptions; those that are not in the language are in ``refused``."""
        index = Index()
        refused = index.add_all(subscriptions)
        return cls.save(root, version, index, refused=refused)

    @classmethod
    def save(
        cls,
        root: str | os.PathLike[str],
        version: object,
        index: Index,
        *,
        refused: Iterable[RefusedSubscription] = (),
    ) -> IndexVersion:
        """Write an index as a version; if the version exists already, it is opened and not changed."""
        try:
            return cls.open(manifest_path(Path(root), str(version)))
        except StageError:
            (saved,) = save_version(Path(root), str(version), [index], refused=refused)
            return saved

    @classmethod
    def open(cls, manifest: str | os.PathLike[str]) -> IndexVersion:
        """Open a version; raises ``StageError`` if there is none, or if it has several shards."""
        shards = open_version(Path(manifest))
        if len(shards) != 1:
            raise StageError(
                f"{manifest} has {len(shards)} shards; open_version opens all of them", code="index-version"
            )
        return shards[0]

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths of the segment files."""
        return tuple(self.manifest.parent / SEGMENTS / name for name in self.segments)

    @property
    def extension_paths(self) -> tuple[Path, ...]:
        """The paths of the files that the extension names."""
        return tuple(self.manifest.parent / SEGMENTS / name for name in self.extension.get("files", ()))

    def open_index(self, limits: DocumentLimits | None = None) -> Index:
        """Return the index of this version, which is opened once in a process; raises ``IndexFileError``."""
        return opened_index(self.paths, limits or DocumentLimits())


def save_version(
    root: Path,
    version: str,
    indexes: Sequence[Index],
    *,
    store: str | None = None,
    extension: Mapping[str, Any] | None = None,
    refused: Iterable[RefusedSubscription] = (),
) -> tuple[IndexVersion, ...]:
    """Write the shards of a version: first the new segments, then the manifest."""
    _check_name(version)
    folder = root / SEGMENTS
    folder.mkdir(parents=True, exist_ok=True)
    shards = [{"segments": index.save_segments(folder), "size": index.position_count} for index in indexes]
    content = {
        "format": FORMAT,
        "version": version,
        "store": store,
        "shards": shards,
        "extension": dict(extension or {}),
    }
    path = manifest_path(root, version)
    write_atomically(path, json.dumps(content, indent=1).encode())
    return _shards(path, content, tuple(refused))


def open_version(manifest: Path, *, store: str | None = None) -> tuple[IndexVersion, ...]:
    """Open the shards of a version; raises ``StageError`` if the manifest or one of its files is missing.

    With ``store``, the token of a store's version, the manifest must have this token: another store may have
    a version of the same number.
    """
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"it has format {content['format']}, but this twigcast reads format {FORMAT}")
        if store is not None and content["store"] != store:
            raise ValueError("it was made from another subscription store")
        if manifest_path(manifest.parent, content["version"]).name != manifest.name:
            raise ValueError(f"it says that it is version {content['version']}")
        shards = _shards(manifest.absolute(), content, ())
        needed = [path for shard in shards for path in (*shard.paths, *shard.extension_paths)]
        missing = [path for path in needed if not path.is_file()]
        if missing:
            raise ValueError(f"{missing[0].name} is missing")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StageError(f"{manifest} is not a valid index version: {error}", code="index-version") from None
    return shards


def _shards(
    path: Path, content: Mapping[str, Any], refused: tuple[RefusedSubscription, ...]
) -> tuple[IndexVersion, ...]:
    many = len(content["shards"])
    return tuple(
        IndexVersion(
            path,
            content["version"] if many == 1 else f"{content['version']}.{number}-of-{many}",
            tuple(map(str, shard["segments"])),
            int(shard["size"]),
            content["extension"],
            refused,
        )
        for number, shard in enumerate(content["shards"], start=1)
    )


def manifest_path(root: Path, version: str) -> Path:
    """Return the path of the manifest of a version."""
    return root / f"{version}{MANIFEST_SUFFIX}"


def _check_name(version: str) -> None:
    if not version or version.startswith(".") or "/" in version or os.sep in version:
        raise StageError(f"{version!r} cannot name an index version", code="index-version")


# Caches of this process (LRU), so that a task does not open an index or a segment again.
_KEPT_INDEXES = 8
_KEPT_SEGMENTS = 64
_indexes: OrderedDict[tuple[Any, ...], Index] = OrderedDict()
_segments: OrderedDict[tuple[Any, ...], StoredSegment] = OrderedDict()
_lock = threading.Lock()


def opened_index(paths: Sequence[Path], limits: DocumentLimits) -> Index:
    """Return the index of some segment files, which is opened once in a process; raises ``IndexFileError``.

    A new version inherits the warm caches of an earlier one, since versions share most segments.
    """
    with _lock:
        stored = [_opened_segment(path) for path in paths]
        key = (limits, *(id(segment) for segment in stored))
        if key not in _indexes:
            relatives = [index for other, index in _indexes.items() if other[:2] == key[:2]]
            _indexes[key] = Index.of_segments(
                stored, limits=limits, warm_from=relatives[-1] if relatives else None
            )
            while len(_indexes) > _KEPT_INDEXES:
                _indexes.popitem(last=False)
        _indexes.move_to_end(key)
        return _indexes[key]


def _opened_segment(path: Path) -> StoredSegment:
    try:
        found = os.stat(path)
    except OSError as error:
        raise IndexFileError(f"cannot read the index {path}: {error.strerror}", code="unreadable") from error
    key = (str(path), found.st_ino, found.st_mtime_ns)
    if key not in _segments:
        _segments[key] = read_segment(path)
        while len(_segments) > _KEPT_SEGMENTS:
            _segments.popitem(last=False)
    _segments.move_to_end(key)
    return _segments[key]


# The folder of indexes that are only in memory; it is deleted when this process ends.
_temporary: tempfile.TemporaryDirectory[str] | None = None


def temporary_version(index: Index) -> IndexVersion:
    """Save an index that is only in memory as a version, which is deleted when this process ends.

    The name of the version is a hash of its segments: the same content is the same version.
    """
    root = temporary_folder()
    folder = root / SEGMENTS
    folder.mkdir(exist_ok=True)
    names = index.save_segments(folder)
    version = blake2b("\n".join(names).encode(), digest_size=8).hexdigest()
    path = manifest_path(root, version)
    return IndexVersion.open(path) if path.exists() else IndexVersion.save(root, version, index)


def temporary_folder() -> Path:
    """Return a folder that is deleted when this process ends."""
    global _temporary
    with _lock:
        if _temporary is None:
            _temporary = tempfile.TemporaryDirectory(prefix="twigcast-index-")
        return Path(_temporary.name)

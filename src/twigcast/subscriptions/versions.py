"""An index version: a manifest that names segment files, which workers map.

    <root>/36.json               the manifest of version 36: which segments, in which order, from which store
    <root>/segments/4f2a….tci    a segment, named by its content; many versions share it

Invariant: a manifest and a segment under their final names are whole and never change, and a manifest is
written after its segments.  So a version costs disk in proportion to what has changed, its path says it all,
and a process that is killed leaves the last whole version behind.
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
from twigcast.pattern import Subscription
from twigcast.system import write_atomically

FORMAT = 1
SEGMENTS = "segments"
MANIFEST_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """One shard of an index version, which usually has one."""

    manifest: Path
    version: str
    segments: tuple[str, ...]
    """The names of the segment files, in order."""
    size: int
    """The positions that were given out: matches are numbers below it."""
    extension: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """What the maker of the version keeps beside the segments, such as the tables of a network."""
    refused: tuple[RefusedSubscription, ...] = field(default=(), compare=False)

    @classmethod
    def write(
        cls, root: str | os.PathLike[str], version: object, subscriptions: Iterable[Subscription]
    ) -> IndexVersion:
        """Write the version of these subscriptions; those outside the language are listed in ``refused``."""
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
        """Write an index as a version; a version that exists already stays as it is."""
        try:
            return cls.open(manifest_path(Path(root), str(version)))
        except StageError:
            (saved,) = save_version(Path(root), str(version), [index], refused=refused)
            return saved

    @classmethod
    def open(cls, manifest: str | os.PathLike[str]) -> IndexVersion:
        """The version of a manifest; raises ``StageError`` where there is none, or where it has shards."""
        shards = open_version(Path(manifest))
        if len(shards) != 1:
            raise StageError(f"{manifest} has {len(shards)} shards: open_version", code="index-version")
        return shards[0]

    @property
    def paths(self) -> tuple[Path, ...]:
        """The segment files."""
        return tuple(self.manifest.parent / SEGMENTS / name for name in self.segments)

    @property
    def extension_paths(self) -> tuple[Path, ...]:
        """The files that the extension names."""
        return tuple(self.manifest.parent / SEGMENTS / name for name in self.extension.get("files", ()))

    def open_index(self, limits: DocumentLimits | None = None) -> Index:
        """The index of this version, one for each process; raises ``IndexFileError``."""
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
    """Write the shards of a version: the segments that are new, then the manifest."""
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
    """The shards of a version; raises ``StageError`` where the manifest or one of its segments is missing.

    With ``store`` the version must have been made from that store: the number alone could be another's.
    """
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"it has format {content['format']}, this twigcast reads format {FORMAT}")
        if store is not None and content["store"] != store:
            raise ValueError("it was made from another subscription store")
        shards = _shards(manifest.absolute(), content, ())
        needed = [path for shard in shards for path in (*shard.paths, *shard.extension_paths)]
        missing = [path for path in needed if not path.is_file()]
        if missing:
            raise ValueError(f"{missing[0].name} is missing")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StageError(f"{manifest} is no index version: {error}", code="index-version") from None
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
    """Where the manifest of a version is."""
    return root / f"{version}{MANIFEST_SUFFIX}"


def _check_name(version: str) -> None:
    if not version or version.startswith(".") or "/" in version or os.sep in version:
        raise StageError(f"{version!r} cannot name an index version", code="index-version")


# What a process has opened, so that a task does not open it again; the ones used last are kept.
_KEPT_INDEXES = 8
_KEPT_SEGMENTS = 64
_indexes: OrderedDict[tuple[Any, ...], Index] = OrderedDict()
_segments: OrderedDict[tuple[Any, ...], StoredSegment] = OrderedDict()
_lock = threading.Lock()


def opened_index(paths: Sequence[Path], limits: DocumentLimits) -> Index:
    """The index of some segment files, one for each process; raises ``IndexFileError``.

    What the engines of an earlier version have learnt goes on to be used: versions share most segments.
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


# An index that is not kept anywhere is saved for as long as this process lives.
_temporary: tempfile.TemporaryDirectory[str] | None = None


def temporary_version(index: Index) -> IndexVersion:
    """An index that is only in memory, as a version that lives as long as this process.

    Its name is a hash of its segments: the same content is the same version.
    """
    root = temporary_folder()
    folder = root / SEGMENTS
    folder.mkdir(exist_ok=True)
    names = index.save_segments(folder)
    version = blake2b("\n".join(names).encode(), digest_size=8).hexdigest()
    path = manifest_path(root, version)
    return IndexVersion.open(path) if path.exists() else IndexVersion.save(root, version, index)


def temporary_folder() -> Path:
    """A folder that lives as long as this process."""
    global _temporary
    with _lock:
        if _temporary is None:
            _temporary = tempfile.TemporaryDirectory(prefix="twigcast-index-")
        return Path(_temporary.name)

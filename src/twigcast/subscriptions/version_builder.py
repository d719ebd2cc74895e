"""Builds the index version that a batch needs, from the previous version and the changes since.

    store            … 33 ── 34 ── 35 ── 36                 changes since the last batch
                                          │
    VersionBuilder   Index at 33  ──►  Index at 36  ──►  <root>/36.json    and the segments that are new

Manifests and segments are a cache of the store: what is lost or damaged, or was made from another store, is
rebuilt from the rows of its version, and a warning is logged.  A plain ``SubscriptionSource`` cannot list
past versions; for these the files are the only copy.  A version is kept for as long as a batch may be
replayed against it.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol
from zlib import crc32

from twigcast.errors import IndexFileError, PatternError, SourceError, StageError
from twigcast.filtering import Index, RefusedSubscription, read_segment
from twigcast.pattern import Subscription
from twigcast.subscriptions.store import SubscriptionSource, SubscriptionStore
from twigcast.subscriptions.versions import (
    MANIFEST_SUFFIX,
    SEGMENTS,
    IndexVersion,
    manifest_path,
    open_version,
    save_version,
)
from twigcast.system import write_atomically

GRACE_SECONDS = 60.0
"""Younger files are never deleted, because another process may be about to use them."""

SWEEP_EVERY = 16  # versions

MARK = "@"
"""Separates the version of the subscriptions from the frozen state of an extension: ``36@4f2a…``."""
FROZEN_SUFFIX = ".json"

_log = logging.getLogger("twigcast")


class Extension(Protocol):
    """Extra data that is saved with each version of the index, such as the tables of a network."""

    def freeze(self) -> bytes:
        """Return what else the extension depends on now, beside the subscriptions; empty if nothing.

        Its hash is a part of the version's name, and the version keeps the content.
        """
        ...

    def fits(self, extension: Mapping[str, Any]) -> bool:
        """Whether a version with this saved extension can be used again, or must be rebuilt."""
        ...

    def follow(
        self, index: Index, gone: Sequence[str], came: Sequence[Subscription], *, anew: bool, frozen: bytes
    ) -> None:
        """Apply subscriptions that were removed and added; ``anew`` says that the index was empty before.

        ``frozen`` is what ``freeze`` returned for this version.
        """
        ...

    def save(self, folder: Path, index: Index) -> Mapping[str, Any]:
        """Write new data to a folder; return the entry for the manifest, with file names under ``files``."""
        ...


class VersionBuilder:
    """Builds and keeps the index versions of a subscription source in a folder, with one or more shards."""

    def __init__(
        self,
        source: SubscriptionSource,
        root: str | os.PathLike[str],
        *,
        shards: int = 1,
        extension: Extension | None = None,
    ) -> None:
        self._source = source
        self._root = Path(root)
        self._extension = extension
        self._indexes = [Index() for _ in range(shards)]
        self._rows: dict[str, Subscription] | None = None  # by id; only for sources that list no changes
        self._built: str | None = None  # the version of the indexes in memory
        self._built_token: str | None = None
        self._released = 0
        self._sound: dict[tuple[str, int, int, int], int] = {}  # files that were checked, and their end
        self.refused: tuple[RefusedSubscription, ...] = ()

    def newest(self) -> str:
        """Build the current version, if need be, and return its name; its manifest is then on disk."""
        while True:
            rows = str(self._source.version())
            version = rows
            if self._extension is not None and (frozen := self._extension.freeze()):
                version = f"{rows}{MARK}{self._freeze(frozen)}"
            try:
                self.at(version)
            except (StageError, SourceError):
                if str(self._source.version()) == rows:  # else the source changed meanwhile
                    raise
            else:
                return version

    def at(self, version: str) -> tuple[IndexVersion, ...]:
        """Return the shards of a version, built if need be; raises an error if its rows were pruned."""
        return self._opened(version) or self._make(version)

    def release(self, needed: Callable[[], Iterable[str]]) -> None:
        """Delete all versions except those ``needed`` returns; callers call it after each batch.

        Only one call in ``SWEEP_EVERY`` deletes.  The newest version is kept; the store deletes old rows.
        """
        self._released += 1
        if self._released % SWEEP_EVERY:
            return
        kept = {*needed(), *([self._built] if self._built is not None else [])}
        self._sweep(kept)
        numbers = [int(rows) for rows in map(_rows, kept) if rows.isdecimal()]
        if isinstance(self._source, SubscriptionStore) and numbers:
            self._source.hold(str(self._root.absolute()), min(numbers))

    # Making

    def _make(self, version: str) -> tuple[IndexVersion, ...]:
        if self._built is None:
            self._resume()
        gone, came, anew = self._steps(version)
        self._built = None  # until the indexes are up to date
        for id in gone:
            index = self._home(id)
            if id in index:  # else it was refused
                index.remove(id)
        if self._extension is not None:
            _parse(came)
        refused: list[RefusedSubscription] = []
        for number, index in enumerate(self._indexes):
            refused += index.add_all(
                each for each in came if _shard(str(each.id), len(self._indexes)) == number
            )
        self.refused = tuple(refused)
        extension: Mapping[str, Any] = {}
        folder = self._folder()
        if self._extension is not None:
            outside = {each.id for each in refused}
            added = [each for each in came if each.id not in outside]
            self._extension.follow(self._indexes[0], gone, added, anew=anew, frozen=_frozen(folder, version))
            extension = self._extension.save(folder, self._indexes[0])
            if name := version.partition(MARK)[2]:
                extension = {**extension, "files": [*extension.get("files", ()), f"{name}{FROZEN_SUFFIX}"]}
        token = self._token(version)
        saved = save_version(self._root, version, self._indexes, store=token, extension=extension)
        self._built, self._built_token = version, token
        return saved

    def _steps(self, version: str) -> tuple[list[str], list[Subscription], bool]:
        """Return the ids to remove, the subscriptions to add, and whether the indexes were emptied before."""
        source = self._source
        if isinstance(source, SubscriptionStore):
            if self._continues(version):
                try:
                    changes = source.changes(int(_rows(self._built or "0")), int(_rows(version)))
                    return changes.gone, changes.came, False
                except SourceError:  # the previous version was pruned
                    pass
            self._indexes = [Index() for _ in self._indexes]
            return [], source.subscriptions(int(_rows(version))), True
        wanted = {str(each.id): each for each in source.subscriptions()}
        if str(source.version()) != _rows(version):
            raise StageError(
                f"index version {version} is gone or damaged, and its subscriptions are not listed any more",
                code="index-version",
            )
        known, self._rows = self._rows, wanted
        if self._built is None or known is None:
            self._indexes = [Index() for _ in self._indexes]
            return [], list(wanted.values()), True
        came = [each for id, each in wanted.items() if known.get(id) != each]
        staying = wanted.keys() - {str(each.id) for each in came}
        return [id for id in known if id not in staying], came, False

    def _continues(self, version: str) -> bool:
        """Whether the indexes in memory hold an earlier version of the same store, not restored since."""
        built = self._built
        if built is None or int(_rows(built)) > int(_rows(version)):
            return False
        return self._token(built) == self._built_token

    def _token(self, version: str) -> str | None:
        return (
            self._source.token(int(_rows(version))) if isinstance(self._source, SubscriptionStore) else None
        )

    def _freeze(self, content: bytes) -> str:
        """Write the frozen state of the extension, and return its name."""
        name = blake2b(content, digest_size=16).hexdigest()
        file = self._folder() / f"{name}{FROZEN_SUFFIX}"
        if file.exists():
            file.touch()  # it is in use again: not to be deleted before a manifest names it
        else:
            write_atomically(file, content)
        return name

    def _folder(self) -> Path:
        folder = self._root / SEGMENTS
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _home(self, id: str) -> Index:
        return self._indexes[_shard(id, len(self._indexes))]

    # Files

    def _opened(self, version: str) -> tuple[IndexVersion, ...] | None:
        """Return the version on disk; None if it is incomplete, damaged, or was made from another source."""
        manifest = manifest_path(self._root, version)
        token = self._token(version)
        if token is None and isinstance(self._source, SubscriptionStore):
            return None
        try:
            found = open_version(manifest, store=token)
        except StageError as error:
            if manifest.exists():
                _log.warning("%s: it is rebuilt", error)
            return None
        if len(found) != len(self._indexes):
            return None
        kept = found[0].extension
        if not (self._extension.fits(kept) if self._extension is not None else not kept):
            return None
        damage = self._damage(found)
        if damage is None:
            return found
        _log.warning("index version %s is damaged and is rebuilt: %s", version, damage)
        manifest.unlink(missing_ok=True)
        self._built = None  # what is in memory may be mapped from the damaged file
        return None

    def _damage(self, shards: Iterable[IndexVersion]) -> str | None:
        """What is wrong with the files of a version; a damaged file is removed, so that it is written again.

        A file is read once in the life of this builder, unless it is replaced.
        """
        damage = None
        for shard in shards:
            stop = 0
            for path in shard.paths:
                try:
                    key = _identity(path)
                    if key not in self._sound:
                        self._sound[key] = read_segment(path).stop
                    stop = self._sound[key]
                except (IndexFileError, OSError) as error:
                    damage = str(error)
                    path.unlink(missing_ok=True)
            if damage is None and stop != shard.size:
                damage = f"its manifest says {shard.size} positions, but its segments have {stop}"
            for path in shard.extension_paths:
                try:
                    key = _identity(path)
                    if key in self._sound:
                        continue
                    if blake2b(path.read_bytes(), digest_size=16).hexdigest() != path.stem:
                        raise OSError(f"{path} was altered after it was written")
                    self._sound[key] = 0
                except OSError as error:
                    damage = str(error)
                    path.unlink(missing_ok=True)
        return damage

    def _resume(self) -> None:
        """Load the newest version on disk, so that only the changes since must be compiled.

        With an extension everything is rebuilt, because the state of an extension is only in memory.
        """
        if self._extension is not None or not isinstance(self._source, SubscriptionStore):
            return
        for version in sorted(self._versions(), key=int, reverse=True):
            found = self._opened(version)
            if found is None:
                continue
            try:
                self._indexes = [
                    Index.of_segments([read_segment(path) for path in shard.paths]) for shard in found
                ]
            except IndexFileError:  # damaged
                continue
            self._built, self._built_token = version, self._token(version)
            return

    def _versions(self) -> list[str]:
        names = [file.name.removesuffix(MANIFEST_SUFFIX) for file in self._root.glob(f"*{MANIFEST_SUFFIX}")]
        return [name for name in names if name.isdecimal()]

    def _sweep(self, kept: set[str]) -> None:
        """Delete the manifests of all versions but ``kept``, and segments that no manifest names."""
        horizon = time.time() - GRACE_SECONDS
        used: set[str] = set()
        for manifest in self._root.glob(f"*{MANIFEST_SUFFIX}"):
            if manifest.name.removesuffix(MANIFEST_SUFFIX) in kept or not _is_older(manifest, horizon):
                used |= _files_of(manifest)
            else:
                manifest.unlink(missing_ok=True)
        for file in (self._root / SEGMENTS).iterdir():
            if file.name not in used and _is_older(file, horizon):
                file.unlink(missing_ok=True)


def _rows(version: str) -> str:
    """Return the version of the subscriptions, without the frozen state of an extension."""
    return version.partition(MARK)[0]


def _frozen(folder: Path, version: str) -> bytes:
    """Return the content of the frozen file of a version; raises ``StageError`` if it is lost or damaged."""
    name = version.partition(MARK)[2]
    if not name:
        return b""
    file = folder / f"{name}{FROZEN_SUFFIX}"
    try:
        content = file.read_bytes()
        if blake2b(content, digest_size=16).hexdigest() != name:
            raise OSError("it was altered after it was written")
    except OSError as error:
        message = f"{file}: what index version {version} was made with cannot be read ({error})"
        raise StageError(message, code="index-version") from None
    return content


def _parse(subscriptions: Iterable[Subscription]) -> None:
    """Parse what an extension will need as patterns, so that the index uses these and not the texts."""
    for each in subscriptions:
        with suppress(PatternError):  # the index refuses it
            _ = each.pattern


def _files_of(manifest: Path) -> set[str]:
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        files = {str(name) for shard in content["shards"] for name in shard["segments"]}
        return files | {str(name) for name in content["extension"].get("files", ())}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


def _identity(file: Path) -> tuple[str, int, int, int]:
    """A key that changes if a file is replaced or written to."""
    found = file.stat()
    return file.name, found.st_ino, found.st_mtime_ns, found.st_size


def _is_older(file: Path, horizon: float) -> bool:
    try:
        return file.stat().st_mtime < horizon
    except OSError:
        return False


def _shard(id: str, shards: int) -> int:
    """Return the shard of an id, which is the same in every process."""
    return crc32(id.encode("utf-8", "surrogatepass")) % shards if shards > 1 else 0

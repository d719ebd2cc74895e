"""Makes the index version that a batch needs, from the last one by the changes since.

    store            … 33 ── 34 ── 35 ── 36                 changes since the last batch
                                          │
    VersionBuilder   Index at 33  ──►  Index at 36  ──►  <root>/36.json    and the segments that are new

Manifests are a cache of the store: one that is lost, or was made from another store, is made again from the
rows of its version.  Where past versions cannot be listed (``SubscriptionSource``), manifests are all there
is.  A version is kept for as long as a batch may be replayed against it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
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

GRACE_SECONDS = 60.0
"""Files that are younger are never swept: another process may be about to use them."""

SWEEP_EVERY = 16  # versions


class Extension(Protocol):
    """What is kept beside the index in each version, such as the tables of a network."""

    def fits(self, extension: Mapping[str, Any]) -> bool:
        """Whether this is what the extension of a version says that is to be used again."""
        ...

    def follow(self, index: Index, gone: Sequence[str], came: Sequence[Subscription], *, anew: bool) -> None:
        """Subscriptions of the index were removed and added; ``anew`` where it was empty before."""
        ...

    def save(self, folder: Path, index: Index) -> Mapping[str, Any]:
        """Write what is new to a folder; what the manifest says of it, under ``files`` the names of files."""
        ...


class VersionBuilder:
    """The index versions of a subscription source, in a folder, each of one or more shards."""

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
        self._built: str | None = None  # the version that the indexes are at
        self._built_token: str | None = None
        self._released = 0
        self.refused: tuple[RefusedSubscription, ...] = ()

    def newest(self) -> str:
        """The version that is there now; its manifest is on disk when this returns."""
        while True:
            version = str(self._source.version())
            try:
                self.at(version)
            except (StageError, SourceError):
                if str(self._source.version()) == version:  # else it went while it was being made
                    raise
            else:
                return version

    def at(self, version: str) -> tuple[IndexVersion, ...]:
        """The shards of a version; raises ``SourceError`` or ``StageError`` where it is gone for good."""
        return self._opened(version) or self._make(version)

    def release(self, needed: Callable[[], Iterable[str]]) -> None:
        """A batch is done: delete versions that no batch can ask for, except those ``needed`` returns.

        The newest version is kept.  The store is told, too, so that it forgets what only older versions had.
        """
        self._released += 1
        if self._released % SWEEP_EVERY:
            return
        kept = {*needed(), *([self._built] if self._built is not None else [])}
        self._sweep(kept)
        numbers = [int(version) for version in kept if version.isdecimal()]
        if isinstance(self._source, SubscriptionStore) and numbers:
            self._source.hold(str(self._root.absolute()), min(numbers))

    # Making

    def _make(self, version: str) -> tuple[IndexVersion, ...]:
        if self._built is None:
            self._resume()
        gone, came, anew = self._steps(version)
        self._built = None  # until the indexes are at the version
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
        folder = self._root / SEGMENTS
        folder.mkdir(parents=True, exist_ok=True)
        if self._extension is not None:
            outside = {each.id for each in refused}
            added = [each for each in came if each.id not in outside]
            self._extension.follow(self._indexes[0], gone, added, anew=anew)
            extension = self._extension.save(folder, self._indexes[0])
        token = self._token(version)
        saved = save_version(self._root, version, self._indexes, store=token, extension=extension)
        self._built, self._built_token = version, token
        return saved

    def _steps(self, version: str) -> tuple[list[str], list[Subscription], bool]:
        """What must be removed and added for the indexes to be at a version; whether they begin anew."""
        source = self._source
        if isinstance(source, SubscriptionStore):
            if self._goes_on(version):
                try:
                    changes = source.changes(int(self._built or 0), int(version))
                    return changes.gone, changes.came, False
                except SourceError:  # the version before was pruned
                    pass
            self._indexes = [Index() for _ in self._indexes]
            return [], source.subscriptions(int(version)), True
        wanted = {str(each.id): each for each in source.subscriptions()}
        if str(source.version()) != version:
            raise StageError(f"index version {version} is not there any more", code="index-version")
        known, self._rows = self._rows, wanted
        if self._built is None or known is None:
            self._indexes = [Index() for _ in self._indexes]
            return [], list(wanted.values()), True
        came = [each for id, each in wanted.items() if known.get(id) != each]
        staying = wanted.keys() - {str(each.id) for each in came}
        return [id for id in known if id not in staying], came, False

    def _goes_on(self, version: str) -> bool:
        """Whether what was built is an earlier version of the same store, which was not restored since."""
        built = self._built
        return built is not None and int(built) <= int(version) and self._token(built) == self._built_token

    def _token(self, version: str) -> str | None:
        return self._source.token(int(version)) if isinstance(self._source, SubscriptionStore) else None

    def _home(self, id: str) -> Index:
        return self._indexes[_shard(id, len(self._indexes))]

    # Files

    def _opened(self, version: str) -> tuple[IndexVersion, ...] | None:
        """The version on disk, if it is whole and was made from this very source."""
        try:
            token = self._token(version)
            if token is None and isinstance(self._source, SubscriptionStore):
                return None
            found = open_version(manifest_path(self._root, version), store=token)
        except StageError:
            return None
        if len(found) != len(self._indexes):
            return None
        kept = found[0].extension
        return found if (self._extension.fits(kept) if self._extension is not None else not kept) else None

    def _resume(self) -> None:
        """Begin with the newest version on disk, so that only what changed since must be compiled.

        With an extension all is begun anew: what it knows of the subscriptions is only in memory.
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
        """Delete manifests of other versions, and segments that no manifest names any more."""
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


def _is_older(file: Path, horizon: float) -> bool:
    try:
        return file.stat().st_mtime < horizon
    except OSError:
        return False


def _shard(id: str, shards: int) -> int:
    """The shard of an id: the same in every process."""
    return crc32(id.encode("utf-8", "surrogatepass")) % shards if shards > 1 else 0

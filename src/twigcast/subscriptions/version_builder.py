"""Index versions that follow the subscriptions: made when a batch needs one, from the last by the changes.

    subscriptions   … 33 ── 34 ── 35 ── 36                changes since the last batch
                                         │
    Follower        Index at 33  ──►  Index at 36  ──►  <root>/36/     one save for all of them

The folders are a cache of the table: one that is gone is made again from the rows of its version.  Where past
versions cannot be listed (``SparkSubscriptions``), folders are all there is; so the newest are kept, and any
that is young.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from zlib import crc32

from twigcast.errors import StageError
from twigcast.filtering import Index, RefusedSubscription
from twigcast.subscriptions.store import Changes, Subscriptions, SubscriptionTable
from twigcast.subscriptions.versions import IndexVersion, SubscriptionRow

KEPT = 8
YOUNG_SECONDS = 3600.0


class Follower:
    """The index versions of subscriptions, in a folder, each of one or more shards."""

    def __init__(
        self, subscriptions: Subscriptions, root: str | os.PathLike[str], *, shards: int = 1
    ) -> None:
        self._subscriptions = subscriptions
        self._root = Path(root)
        self._shards = [_Shard() for _ in range(shards)]
        self._built: str | None = None  # the version that the shards are at
        self.refused: tuple[RefusedSubscription, ...] = ()

    def newest(self) -> str:
        """The version that is there now, its folders on disk when this returns."""
        while True:
            version = str(self._subscriptions.version())
            try:
                self.at(version)
            except StageError:
                if str(self._subscriptions.version()) == version:  # else it went while it was being made
                    raise
            else:
                return version

    def at(self, version: str) -> tuple[IndexVersion, ...]:
        """The shards of a version; raises ``SourceError`` or ``StageError`` where it is gone for good."""
        return self._opened(version) or self._make(version)

    def _opened(self, version: str) -> tuple[IndexVersion, ...] | None:
        try:
            return tuple(IndexVersion.open(self._root / name) for name in _names(version, len(self._shards)))
        except (StageError, OSError, ValueError):  # Arrow's errors are ValueErrors
            return None

    def _make(self, version: str) -> tuple[IndexVersion, ...]:
        gone, came = self._steps(version)
        self._built = None  # until the shards are at the version
        refused: list[RefusedSubscription] = []
        for id in gone:
            self._shards[_home(id, len(self._shards))].remove(id)
        for number, shard in enumerate(self._shards):
            refused += shard.add([row for row in came if _home(row.id, len(self._shards)) == number])
        self._built = version
        self.refused = tuple(refused)
        made = []
        for name, shard in zip(_names(version, len(self._shards)), self._shards, strict=True):
            shutil.rmtree(self._root / name, ignore_errors=True)  # damaged, or it would have been opened
            made.append(IndexVersion.save(self._root, name, shard.index, shard.rows))
        self._sweep()
        return tuple(made)

    def _steps(self, version: str) -> tuple[list[str], list[SubscriptionRow]]:
        """What must go from the shards and what must come for them to be at a version."""
        table = self._subscriptions
        if isinstance(table, SubscriptionTable):
            if self._built is not None and int(self._built) <= int(version):
                changes: Changes = table.changes(int(self._built), int(version))
                return changes.gone, changes.came
            wanted = table.rows(int(version))
        else:
            wanted = table.rows()
            if str(table.version()) != version:
                raise StageError(f"index version {version} is not there any more", code="index-version")
        if self._built is None or isinstance(table, SubscriptionTable):
            self._shards = [_Shard() for _ in self._shards]
            return [], wanted
        known = {row.id: row for shard in self._shards for row in shard.rows.values()}
        came = [row for row in wanted if known.get(row.id) != row]
        staying = {row.id for row in wanted} - {row.id for row in came}
        return [id for id in known if id not in staying], came

    def _sweep(self) -> None:
        """Forget folders that no batch needs: not the newest, and not young."""
        folders = sorted(
            ((folder.stat().st_mtime, folder) for folder in self._root.iterdir() if folder.is_dir()),
            reverse=True,
        )
        horizon = time.time() - YOUNG_SECONDS
        for modified, folder in folders[KEPT * len(self._shards) :]:
            if modified < horizon:
                shutil.rmtree(folder, ignore_errors=True)


class _Shard:
    """An index and the rows of its ids."""

    def __init__(self) -> None:
        self.index = Index()
        self.rows: dict[str, SubscriptionRow] = {}

    def add(self, rows: list[SubscriptionRow]) -> list[RefusedSubscription]:
        refused = self.index.add_all((row.id, row.xpath, row.namespaces) for row in rows)
        outside = {each.id for each in refused}
        self.rows.update((row.id, row) for row in rows if row.id not in outside)
        return refused

    def remove(self, id: str) -> None:
        if self.rows.pop(id, None) is not None:
            self.index.remove(id)


def _home(id: str, shards: int) -> int:
    """The shard of an id: the same in every process."""
    return crc32(id.encode("utf-8", "surrogatepass")) % shards if shards > 1 else 0


def _names(version: str, shards: int) -> list[str]:
    if shards == 1:
        return [version]
    return [f"{version}.{number + 1}-of-{shards}" for number in range(shards)]

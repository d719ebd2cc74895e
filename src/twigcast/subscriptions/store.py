"""Who wants what, in a table that changes while pipelines read it.

    number  id   subscriber  xpath          since  until
    1       ada  desk-1      //p[@lang]         1      3        gone since change 3
    2       bob  desk-2      //title            2               there
    3       ada  desk-1      //p[@lang='en']    3               there: ada's expression was replaced

Every change has the next number; a row is there at version v where ``since <= v`` and not ``until <= v``.
So any past version can be listed again, until ``prune``: a batch that is replayed after a kill is matched
against the subscriptions it was begun with, whatever has changed meanwhile.

Invariant: rows are numbered in the order of their ``since``, so that the rows of a later version are those of
an earlier one without some, followed by others.  An index therefore follows the table by the changes alone.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol
from unicodedata import category

from twigcast.errors import PatternError, SourceError, SubscriptionError
from twigcast.filtering import RefusedSubscription
from twigcast.pattern import parse
from twigcast.subscriptions.versions import SubscriptionRow

DELIVERABLE = ("document", "part")
BUSY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Changes:
    """What happened between two versions: the ids that went, then the rows that came, in order."""

    gone: list[str]
    came: list[SubscriptionRow]

    def __bool__(self) -> bool:
        return bool(self.gone or self.came)


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of many rows at once: the version that has them, how many came, and who was refused."""

    version: int
    added: int
    refused: list[RefusedSubscription]


class Subscriptions(Protocol):
    """Where a pipeline reads subscriptions from."""

    def version(self) -> int | str:
        """The version that is there now."""
        ...

    def rows(self) -> list[SubscriptionRow]:
        """The subscriptions that are there now, in order."""
        ...


class SubscriptionTable:
    """Subscriptions in a SQLite file, read and changed by any number of processes and threads."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _make(self.path)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> SubscriptionTable:
        """The table of a file that is there; raises ``SourceError``, rather than make one, where it is not.

        A pipeline that made its own where a path is misspelt would use up the documents for nobody.
        """
        if not Path(path).exists():
            raise SourceError("there is no such subscription table", code="not-found", path=str(path))
        return cls(path)

    def subscribe(
        self,
        id: str,
        xpath: str,
        *,
        subscriber: str | None = None,
        namespaces: Mapping[str, str] | None = None,
        deliver: str = "document",
    ) -> int:
        """Add a subscription, or replace that subscriber's expression; the version that has it.

        Raises ``PatternError``, and ``SubscriptionError`` where the id is another subscriber's, or a name has
        control characters, white space around it, or a ``#`` before it.
        """
        row = _checked(SubscriptionRow(id, subscriber or id, xpath, dict(namespaces or {}), deliver))
        with self._changing() as (connection, version):
            if not _put(connection, row, version):
                return version - 1
            _number(connection, version)
            return version

    def unsubscribe(self, id: str) -> int:
        """Take a subscription out; the version without it.  Raises ``SubscriptionError`` if it is unknown."""
        with self._changing() as (connection, version):
            if not connection.execute(
                "UPDATE subscriptions SET until = ? WHERE id = ? AND until IS NULL", (version, id)
            ).rowcount:
                raise SubscriptionError(f"there is no subscription {id!r}", code="unknown-id", id=id)
            _number(connection, version)
            return version

    def import_rows(self, rows: Iterable[SubscriptionRow]) -> Imported:
        """Add many in one change, at once or not at all; those that cannot be are told, the others added."""
        added = 0
        refused: list[RefusedSubscription] = []
        with self._changing() as (connection, version):
            for row in rows:
                try:
                    added += _put(connection, _checked(row), version)
                except (PatternError, SubscriptionError) as error:
                    refused.append(RefusedSubscription(row.id, error))
            if not added:
                return Imported(version - 1, 0, refused)
            _number(connection, version)
        return Imported(version, added, refused)

    def version(self) -> int:
        """The number of the last change; 0 before the first."""
        with self._reading() as connection:
            return _version(connection)

    def rows(self, version: int | None = None) -> list[SubscriptionRow]:
        """The subscriptions at a version (now), in the order they came; ``SourceError`` if it was pruned."""
        with self._reading() as connection:
            version = _kept(connection, version, self.path)
            found = connection.execute(
                f"{_SELECT} WHERE since <= ?1 AND (until IS NULL OR until > ?1) ORDER BY number", (version,)
            )
            return [_row(each) for each in found]

    def changes(self, since: int, until: int) -> Changes:
        """What happened after one version up to another; ``SourceError`` if one is not there."""
        with self._reading() as connection:
            _kept(connection, since, self.path)
            gone = connection.execute(
                "SELECT id FROM subscriptions WHERE since <= ?1 AND until > ?1 AND until <= ?2"
                " ORDER BY number",
                (since, until),
            )
            came = connection.execute(
                f"{_SELECT} WHERE since > ?1 AND since <= ?2 AND (until IS NULL OR until > ?2)"
                " ORDER BY number",
                (since, until),
            )
            return Changes([id for (id,) in gone], [_row(each) for each in came])

    def prune(self, before: int) -> int:
        """Forget the versions before one, and the rows that only they had; how many rows that were."""
        with self._changing() as (connection, version):
            before = min(before, version - 1)
            connection.execute("UPDATE state SET value = max(value, ?) WHERE name = 'oldest'", (before,))
            return connection.execute("DELETE FROM subscriptions WHERE until <= ?", (before,)).rowcount

    def __len__(self) -> int:
        with self._reading() as connection:
            (count,) = connection.execute("SELECT count(*) FROM subscriptions WHERE until IS NULL").fetchone()
            return int(count)

    def __repr__(self) -> str:
        return f"<SubscriptionTable {str(self.path)!r}>"

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one state of the table; one for each use, as any thread may be the user."""
        connection = _connect(self.path)
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _changing(self) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A transaction and the number of the change that it may become."""
        connection = _connect(self.path)
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection, _version(connection) + 1
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        finally:
            connection.close()


_SELECT = "SELECT id, subscriber, xpath, namespaces, deliver FROM subscriptions"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS subscriptions (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL,
    subscriber TEXT NOT NULL,
    xpath      TEXT NOT NULL,
    namespaces TEXT NOT NULL,
    deliver    TEXT NOT NULL,
    since      INTEGER NOT NULL,
    until      INTEGER
);
CREATE UNIQUE INDEX IF NOT EXISTS living ON subscriptions (id) WHERE until IS NULL;
CREATE INDEX IF NOT EXISTS came ON subscriptions (since);
CREATE INDEX IF NOT EXISTS went ON subscriptions (until) WHERE until IS NOT NULL;
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
INSERT OR IGNORE INTO state VALUES ('version', 0), ('oldest', 0);
"""


def _connect(path: Path) -> sqlite3.Connection:
    """Commits are synced: a change that was acknowledged outlives a power cut."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _make(path: Path) -> None:
    """The tables, in WAL mode; SQLite does not wait for others when it changes the mode, so we do."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        connection = _connect(path)
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            if (
                mode == "wal"
                and connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'state'").fetchone()
            ):
                return
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        finally:
            connection.close()


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("SELECT value FROM state WHERE name = 'version'").fetchone()
    return int(version)


def _number(connection: sqlite3.Connection, version: int) -> None:
    connection.execute("UPDATE state SET value = ? WHERE name = 'version'", (version,))


def _kept(connection: sqlite3.Connection, version: int | None, path: Path) -> int:
    """The version, if it can still be listed."""
    newest = _version(connection)
    if version is None:
        return newest
    (oldest,) = connection.execute("SELECT value FROM state WHERE name = 'oldest'").fetchone()
    if not oldest <= version <= newest:
        message = f"there is no version {version}: the oldest is {oldest}, the newest {newest}"
        raise SourceError(message, code="unknown-version", path=str(path))
    return version


def _checked(row: SubscriptionRow) -> SubscriptionRow:
    """The row, if an index would take it."""
    if row.deliver not in DELIVERABLE:
        raise ValueError(f"expected deliver to be {' or '.join(DELIVERABLE)}, got {row.deliver!r}")
    for kind, name in (("id", row.id), ("subscriber", row.subscriber)):
        if wrong := _wrong_with(name):
            raise SubscriptionError(f"the {kind} {name!r} {wrong}", code="unsavable-id", id=row.id)
    parse(row.xpath, row.namespaces)
    return replace(row, namespaces=dict(row.namespaces or {}))


def _wrong_with(name: str) -> str | None:
    """Why a name could not be read back from a line of text, if so."""
    if not name:
        return "needs at least one character"
    kinds = {category(character) for character in name}
    if "Cc" in kinds:
        return "has a control character, such as a tab or a line end"
    if "Cs" in kinds:
        return "has half of a surrogate pair, which is no text"
    if name != name.strip():
        return "begins or ends with white space"
    return "begins with #, as a comment does" if name.startswith("#") else None


def _put(connection: sqlite3.Connection, row: SubscriptionRow, version: int) -> bool:
    """Make the row the living one of its id; false where it is already."""
    found = connection.execute(f"{_SELECT} WHERE id = ? AND until IS NULL", (row.id,)).fetchone()
    if found is not None:
        there = _row(found)
        if there == row:
            return False
        if there.subscriber != row.subscriber:
            raise SubscriptionError(
                f"the subscription {row.id!r} belongs to {there.subscriber!r}", code="duplicate-id", id=row.id
            )
        connection.execute(
            "UPDATE subscriptions SET until = ? WHERE id = ? AND until IS NULL", (version, row.id)
        )
    connection.execute(
        "INSERT INTO subscriptions (id, subscriber, xpath, namespaces, deliver, since)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (row.id, row.subscriber, row.xpath, json.dumps(dict(row.namespaces or {})), row.deliver, version),
    )
    return True


def _row(found: tuple[str, str, str, str, str]) -> SubscriptionRow:
    id, subscriber, xpath, namespaces, deliver = found
    return SubscriptionRow(id, subscriber, xpath, json.loads(namespaces), deliver)

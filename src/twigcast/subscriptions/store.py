"""The subscription store: a SQLite file that changes while pipelines read it.

    number  id   subscriber  xpath          since  until
    1       ada  desk-1      //p[@lang]         1      3        removed by change 3
    2       bob  desk-2      //title            2               live
    3       ada  desk-1      //p[@lang='en']    3               live: it replaced ada's first expression

Every change makes a new version, with the next number; a row is part of version v if ``since <= v`` and not
``until <= v``.  So past versions can be listed: a batch that is replayed after a crash is matched against the
subscriptions of its first run, whatever has changed since.  Readers register the oldest version that they
still need (``hold``); rows that belong only to older versions are deleted.

Invariant: rows are numbered in the order of their ``since``, so that the rows of a later version are the rows
of an earlier one without the removed ones, followed by new ones.  An index can therefore be updated by the
changes alone.

A store remembers prefixes (``bind``), for subscriptions that are added later.  Each subscription keeps the
bindings that it was added with, so binding a prefix again changes no subscription and makes no version.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from twigcast.characters import illegal_character
from twigcast.errors import PatternError, SourceError, SubscriptionError
from twigcast.filtering import RefusedSubscription
from twigcast.pattern import Content, Subscription, Subscriptions, as_subscription, given_subscriptions
from twigcast.subscriptions.bindings import check_binding, completed
from twigcast.subscriptions.names import check_line
from twigcast.subscriptions.store_errors import damaged, source_errors

BUSY_SECONDS = 60.0
READER_SECONDS = 30 * 86_400.0
"""After this time without a call of ``hold`` a reader no longer keeps old versions."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between two versions: removed ids and, after these, added subscriptions."""

    gone: list[str]
    came: list[Subscription]

    def __bool__(self) -> bool:
        return bool(self.gone or self.came)


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import: the new version, and how many were new, replaced another, or were there."""

    version: int
    added: int
    replaced: int
    unchanged: int
    refused: list[RefusedSubscription]


class SubscriptionSource(Protocol):
    """A source of subscriptions for a pipeline; it may know only its current version."""

    def version(self) -> int | str:
        """Return the current version."""
        ...

    def subscriptions(self) -> list[Subscription]:
        """Return the current subscriptions, in order."""
        ...


class SubscriptionStore:
    """Subscriptions in a SQLite file, which any number of processes and threads may read and change."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._opened = threading.local()
        with source_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _make(self.path)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> SubscriptionStore:
        """Open an existing store; raises ``SourceError`` if there is none, instead of creating one.

        With a misspelt path, a pipeline would otherwise process all documents for no subscribers.
        """
        if not Path(path).exists():
            raise SourceError("there is no such subscription store", code="not-found", path=str(path))
        return cls(path)

    def subscribe(
        self,
        id: str,
        xpath: str,
        *,
        subscriber: str | None = None,
        namespaces: Mapping[str, str] | None = None,
        deliver: Content = "document",
    ) -> int:
        """Add a subscription, or replace the one of this id; return the version that contains it.

        Prefixes that ``namespaces`` does not bind are those of the store, see ``bind``.

        Raises ``PatternError``, and ``SubscriptionError`` if the id belongs to another subscriber, or if a
        name has control characters, white space around it, or a ``#`` at its beginning.
        """
        return self.put(Subscription(id, xpath, subscriber or id, deliver, dict(namespaces or {})))

    def put(self, subscription: Subscription) -> int:
        """Add a subscription, or replace the one of this id; return the version that contains it."""
        subscription = completed(subscription, self.namespaces)
        _check(subscription)
        with self._changing() as (connection, version):
            if self._put(connection, subscription, version) == "unchanged":
                return version - 1
            _set_version(connection, version)
            return version

    def unsubscribe(self, id: str) -> int:
        """Remove a subscription; return the new version.  Raises ``SubscriptionError`` if it is unknown."""
        if illegal_character(id) is not None:  # SQLite could not take it
            raise SubscriptionError(f"there is no subscription {id!r}", code="unknown-id", id=id)
        with self._changing() as (connection, version):
            if not connection.execute(
                "UPDATE subscriptions SET until = ? WHERE id = ? AND until IS NULL", (version, id)
            ).rowcount:
                raise SubscriptionError(f"there is no subscription {id!r}", code="unknown-id", id=id)
            _set_version(connection, version)
            return version

    def import_all(self, subscriptions: Subscriptions) -> Imported:
        """Add many subscriptions in one change; refused ones are returned with their errors.

        They are given as for an ``Index``; if they raise or are no such thing, nothing is added.
        Of several with the same id, the last is added.
        """
        done = dict.fromkeys(("added", "replaced", "unchanged"), 0)
        refused: list[RefusedSubscription] = []
        good: list[Subscription] = []
        bound = self.namespaces
        for given in given_subscriptions(subscriptions):  # before the store is locked: they may come slowly
            id = given.id if isinstance(given, Subscription) else given[0]
            try:
                subscription = completed(as_subscription(given), bound)
                _check(subscription)
                good.append(subscription)
            except (PatternError, SubscriptionError) as error:
                refused.append(RefusedSubscription(id, error))
        with self._changing() as (connection, version):
            for subscription in good:
                try:
                    done[self._put(connection, subscription, version)] += 1
                except SubscriptionError as error:
                    refused.append(RefusedSubscription(subscription.id, error))
            if not done["added"] + done["replaced"]:
                return Imported(version - 1, **done, refused=refused)
            _set_version(connection, version)
        return Imported(version, **done, refused=refused)

    def bind(self, namespaces: Mapping[str, str]) -> None:
        """Remember prefixes for the subscriptions that are added from now on.

        Raises ``ValueError`` if a prefix or URI is malformed.  The empty prefix is refused: an expression
        without prefixes has a meaning of its own, which an earlier call should not change.
        """
        for prefix, uri in namespaces.items():
            if not prefix:
                raise ValueError("a store remembers no default namespace: give it with each subscription")
            check_binding(prefix, uri)
        if not namespaces:
            return
        with self._changing() as (connection, _):
            connection.execute(_NAMESPACES)
            connection.executemany(
                "INSERT INTO namespaces VALUES (?, ?) ON CONFLICT (prefix) DO UPDATE SET uri = excluded.uri",
                namespaces.items(),
            )

    def unbind(self, prefix: str) -> None:
        """Forget a prefix, if the store remembers it."""
        with self._changing() as (connection, _):
            connection.execute(_NAMESPACES)
            connection.execute("DELETE FROM namespaces WHERE prefix = ?", (prefix,))

    @property
    def namespaces(self) -> dict[str, str]:
        """The prefixes that the store remembers."""
        with self._reading() as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'namespaces'").fetchone():
                return {}
            found = connection.execute("SELECT prefix, uri FROM namespaces ORDER BY prefix").fetchall()
            if not all(isinstance(each, str) for row in found for each in row):
                raise damaged(self.path, "a prefix or namespace is no text")
            return dict(found)

    def version(self) -> int:
        """Return the number of the last change; 0 before the first."""
        with self._reading() as connection:
            return _version(connection)

    def token(self, version: int) -> str | None:
        """Return the random token of a version, which identifies it among all stores; None if it was pruned.

        It is drawn with the change.  So a store that was created again, or restored from a backup and then
        changed, has other tokens for the same version numbers.
        """
        with self._reading() as connection:
            found = connection.execute("SELECT token FROM changes WHERE version = ?", (version,)).fetchone()
            return None if found is None else str(found[0])

    def subscriptions(self, version: int | None = None) -> list[Subscription]:
        """Return the subscriptions of a version (default: the current one); ``SourceError`` if pruned."""
        with self._reading() as connection:
            version = _kept(connection, version, self.path)
            found = connection.execute(
                f"{_SELECT} WHERE since <= ?1 AND (until IS NULL OR until > ?1) ORDER BY number", (version,)
            )
            return [self._value(each) for each in found]

    def changes(self, since: int, until: int) -> Changes:
        """Return the changes from one version to a later one; ``SourceError`` if one does not exist."""
        with self._reading() as connection:
            for version in (since, until):
                _kept(connection, version, self.path)
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
            ids = [id for (id,) in gone]
            if not all(isinstance(id, str) for id in ids):
                raise damaged(self.path, "an id is no text")
            return Changes(ids, [self._value(each) for each in came])

    def hold(self, reader: str, version: int) -> int:
        """Register the oldest version that a reader needs; prune the versions that no reader needs.

        Returns the number of deleted rows.  The registration of a reader expires after 30 days.
        """
        now = time.time()
        with self._changing() as (connection, _):
            connection.execute(
                "INSERT INTO readers VALUES (?1, ?2, ?3)"
                " ON CONFLICT (name) DO UPDATE SET version = ?2, seen = ?3",
                (reader, version, now),
            )
            connection.execute("DELETE FROM readers WHERE seen < ?", (now - READER_SECONDS,))
            (held,) = connection.execute("SELECT min(version) FROM readers").fetchone()
            return _prune(connection, held)

    def __len__(self) -> int:
        with self._reading() as connection:
            (count,) = connection.execute("SELECT count(*) FROM subscriptions WHERE until IS NULL").fetchone()
            return int(count)

    def __repr__(self) -> str:
        return f"<SubscriptionStore {str(self.path)!r}>"

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Open a read transaction, which sees one state of the store."""
        with source_errors(self.path):
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                _roll_back(connection)

    @contextmanager
    def _changing(self) -> Iterator[tuple[sqlite3.Connection, int]]:
        """Open a write transaction; yield its connection and the version that the change will have."""
        with source_errors(self.path):
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection, _version(connection) + 1
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise

    def _connection(self) -> sqlite3.Connection:
        """Return the connection of this thread and process; it is opened again if the file was replaced.

        It stays open, because closing the last connection of a store checkpoints the WAL, which takes some
        milliseconds.
        """
        found = os.stat(self.path)
        key = (os.getpid(), found.st_dev, found.st_ino)
        if getattr(self._opened, "key", None) != key:
            self._opened.connection, self._opened.key = _connect(self.path), key
        connection: sqlite3.Connection = self._opened.connection
        return connection

    def _put(
        self, connection: sqlite3.Connection, subscription: Subscription, version: int
    ) -> Literal["added", "replaced", "unchanged"]:
        """Make a subscription the live row of its id, unless an equal one is live already."""
        id = subscription.id
        found = connection.execute(f"{_SELECT} WHERE id = ? AND until IS NULL", (id,)).fetchone()
        if found is not None:
            live = self._value(found)
            if live == subscription:
                return "unchanged"
            if live.subscriber != subscription.subscriber:
                raise SubscriptionError(
                    f"the subscription {id!r} belongs to {live.subscriber!r}", code="duplicate-id", id=id
                )
            connection.execute(
                "UPDATE subscriptions SET until = ? WHERE id = ? AND until IS NULL", (version, id)
            )
        number = connection.execute(
            "INSERT INTO subscriptions (id, subscriber, xpath, namespaces, deliver, since)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                id,
                subscription.subscriber,
                subscription.text,
                json.dumps(dict(subscription.namespaces)),
                subscription.deliver,
                version,
            ),
        ).lastrowid
        _written[(self.path.absolute(), number)] = subscription
        while len(_written) > WRITTEN:
            _written.popitem(last=False)
        return "added" if found is None else "replaced"

    def _value(self, found: tuple[int, str, str, str, str, Content]) -> Subscription:
        number, id, subscriber, xpath, namespaces, deliver = found
        if not all(isinstance(each, str) for each in found[1:]):
            raise damaged(self.path, f"row {number} has a field that is no text")
        try:
            bound = json.loads(namespaces)
        except (ValueError, RecursionError):
            bound = None
        if not isinstance(bound, dict) or not all(isinstance(each, str) for each in bound.values()):
            raise damaged(
                self.path, f"the namespaces of the subscription {id!r} are no JSON object of strings"
            )
        read = Subscription.unchecked(id, xpath, subscriber, deliver, bound)
        known = _written.get((self.path.absolute(), number))
        return known if known == read else read


WRITTEN = 4096
_written: OrderedDict[tuple[Path, int | None], Subscription] = OrderedDict()
"""The subscriptions that this process stored last: reading them returns these values, already parsed."""

_SELECT = "SELECT number, id, subscriber, xpath, namespaces, deliver FROM subscriptions"

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
CREATE TABLE IF NOT EXISTS readers (name TEXT PRIMARY KEY, version INTEGER NOT NULL, seen REAL NOT NULL);
CREATE TABLE IF NOT EXISTS changes (version INTEGER PRIMARY KEY, token TEXT NOT NULL);
INSERT INTO changes SELECT value, lower(hex(randomblob(16))) FROM state WHERE name = 'version'
    AND NOT EXISTS (SELECT 1 FROM changes);
"""

_NAMESPACES = "CREATE TABLE IF NOT EXISTS namespaces (prefix TEXT PRIMARY KEY, uri TEXT NOT NULL)"
"""Made when it is needed, so that a store of an earlier version need not be changed to be read."""


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:  # otherwise SQLite has done it, after an error
        connection.execute("ROLLBACK")


def _connect(path: Path) -> sqlite3.Connection:
    """Open a connection with synced commits, so that an acknowledged change survives a power failure."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _make(path: Path) -> None:
    """Create the tables, in WAL mode; SQLite does not wait for locks when it changes the mode, so we do."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        connection = _connect(path)
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            if (
                mode == "wal"
                and connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'changes'").fetchone()
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


def _check(subscription: Subscription) -> None:
    """Raise an error if an index would refuse the subscription, or if its names cannot be lines of text."""
    check_line(subscription)
    _ = subscription.pattern


def _version(connection: sqlite3.Connection, name: str = "version") -> int:
    found = connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    if found is None or not isinstance(found[0], int):
        raise sqlite3.DatabaseError(f"it has no number of the {name} version")
    return found[0]


def _set_version(connection: sqlite3.Connection, version: int) -> None:
    connection.execute("UPDATE state SET value = ? WHERE name = 'version'", (version,))
    connection.execute("INSERT INTO changes VALUES (?, lower(hex(randomblob(16))))", (version,))


def _kept(connection: sqlite3.Connection, version: int | None, path: Path) -> int:
    """Return the version, or the newest for None; raises ``SourceError`` if it cannot be listed."""
    newest = _version(connection)
    if version is None:
        return newest
    oldest = _version(connection, "oldest")
    if not oldest <= version <= newest:
        message = f"there is no version {version}: the oldest is {oldest}, the newest {newest}"
        raise SourceError(message, code="unknown-version", path=str(path))
    return version


def _prune(connection: sqlite3.Connection, before: int) -> int:
    before = min(before, _version(connection))
    connection.execute("UPDATE state SET value = max(value, ?) WHERE name = 'oldest'", (before,))
    connection.execute("DELETE FROM changes WHERE version < ?", (before,))
    return connection.execute("DELETE FROM subscriptions WHERE until <= ?", (before,)).rowcount

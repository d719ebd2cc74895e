"""What a store says that cannot be read: never a traceback, and what can be done."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from twigcast.errors import SourceError, SubscriptionError, TwigcastError
from twigcast.subscriptions.store import SubscriptionStore

USES: dict[str, Callable[[SubscriptionStore], Any]] = {
    "list": lambda store: [(each.id, each.text) for each in store.subscriptions()],
    "list a version": lambda store: store.subscriptions(3),
    "count": len,
    "version": lambda store: store.version(),
    "namespaces": lambda store: sorted(store.namespaces),
    "changes": lambda store: sorted(store.changes(4, store.version()).gone),
    "token": lambda store: store.token(store.version()),
    "hold": lambda store: store.hold("other", 3),
    "subscribe": lambda store: store.subscribe("new", "//new"),
    "replace": lambda store: store.subscribe("id-7", "//new", subscriber="desk-1"),
    "import": lambda store: store.import_all({"new": "//new", "id-7": "//x"}),
    "unsubscribe": lambda store: store.unsubscribe("id-9"),
    "bind": lambda store: store.bind({"q": "urn:q"}),
}


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    """The bytes of a store with some history."""
    store = SubscriptionStore(tmp_path / "good.db")
    store.bind({"p": "urn:p"})
    for number in range(20):
        bound = {"q": "urn:q"} if number % 4 == 0 else None
        store.subscribe(f"id-{number}", f"//a[b={number}]", subscriber=f"desk-{number % 3}", namespaces=bound)
    store.unsubscribe("id-3")
    store.hold("reader", 2)
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return store.path.read_bytes()


def damage(content: bytes, random: Random) -> bytes:
    """Some bits flipped in bytes that mean something, or the end missing."""
    damaged = bytearray(content)
    meaning = [at for at, byte in enumerate(content) if byte]
    for _ in range(random.choice([1, 1, 2, 8])):
        damaged[random.choice(meaning)] ^= 1 << random.randrange(8)
    return bytes(damaged[: random.randrange(len(damaged))] if random.random() < 0.1 else damaged)


def outcomes(content: bytes, folder: Path, rounds: range) -> list[TwigcastError]:
    """The errors of all uses of damaged stores; any other exception is raised."""
    errors: list[TwigcastError] = []
    for seed in rounds:
        damaged = damage(content, Random(seed))
        for number, use in enumerate(USES.values()):
            path = folder / f"{seed}-{number}.db"
            path.write_bytes(damaged)
            try:
                use(SubscriptionStore.open(path))
            except (SourceError, SubscriptionError) as error:
                errors.append(error)
            for each in folder.glob(f"{path.name}*"):
                each.unlink()
    return errors


def test_a_damaged_store_is_an_error_that_says_what_to_do(content: bytes, tmp_path: Path) -> None:
    """Wherever a bit is flipped, and whatever the store is used for."""
    errors = outcomes(content, tmp_path, range(60))
    messages = [each.message for each in errors if "damaged" in each.message]
    assert len(messages) > 50
    assert all(".recover" in message for message in messages)


@pytest.mark.slow
def test_many_damaged_stores_are_errors(content: bytes, tmp_path: Path) -> None:
    """The same for longer."""
    assert outcomes(content, tmp_path, range(1000, 1200))


@pytest.mark.parametrize(
    ("change", "use", "what"),
    [
        ("DELETE FROM state WHERE name = 'oldest'", "list a version", "oldest version"),
        ("UPDATE state SET value = 'x' WHERE name = 'version'", "version", "version"),
        ("UPDATE subscriptions SET id = x'ff' WHERE number = 2", "list a version", "row 2"),
        ("UPDATE subscriptions SET id = x'ff' WHERE number = 4", "changes", "an id is no text"),
        ("UPDATE subscriptions SET namespaces = '[]' WHERE number = 5", "list", "id-4"),
        ("UPDATE subscriptions SET namespaces = '{\"p\": 1}' WHERE number = 5", "list", "id-4"),
        ("UPDATE namespaces SET uri = x'00'", "namespaces", "prefix"),
        ("UPDATE subscriptions SET xpath = CAST(x'ff' AS TEXT)", "list", "decode"),
    ],
)
def test_a_field_of_another_type_is_damage(
    content: bytes, tmp_path: Path, change: str, use: str, what: str
) -> None:
    """It is named as far as it can be."""
    path = tmp_path / "store.db"
    path.write_bytes(content)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(change)
        connection.commit()
    with pytest.raises(SourceError, match=f"the store is damaged: .*{what}") as caught:
        USES[use](SubscriptionStore.open(path))
    assert (caught.value.code, caught.value.path) == ("unreadable", str(path))


def test_a_name_in_the_schema_that_is_no_text_is_damage(content: bytes, tmp_path: Path) -> None:
    """SQLite repeats it in its message, which Python cannot decode."""
    path = tmp_path / "store.db"
    path.write_bytes(content.replace(b"CREATE TABLE readers", b"CREATE T\xf2BLE readers"))
    with pytest.raises(SourceError, match=r"the store is damaged: .*\.recover"):
        SubscriptionStore.open(path)

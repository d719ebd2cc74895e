"""The store and the versions grow with what is needed, not with the number of changes and batches."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from twigcast.subscriptions import SubscriptionStore, VersionBuilder, store, version_builder
from twigcast.subscriptions.versions import SEGMENTS

CHANGES = int(os.environ.get("TWIGCAST_CHANGES", "600"))
"""``make soak`` runs a hundred thousand."""


def test_changes_and_batches_leave_what_the_kept_versions_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten subscriptions change many times, with a batch after each change: old rows and files are deleted."""
    monkeypatch.setattr(version_builder, "GRACE_SECONDS", -1.0)
    durable = store._connect

    def quick(path: Path) -> sqlite3.Connection:
        connection = durable(path)
        connection.execute("PRAGMA synchronous = OFF")  # what is measured is size, not durability
        return connection

    monkeypatch.setattr(store, "_connect", quick)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    subscriptions = SubscriptionStore(tmp_path / "subscriptions.db")
    builder = VersionBuilder(subscriptions, tmp_path / "versions")
    sizes = []
    for number in range(CHANGES):
        subscriptions.subscribe(f"s{number % 10}", f"//x{number}", subscriber="ada")
        builder.newest()
        builder.release(list)
        if number in (CHANGES // 2, CHANGES - 1):
            sizes.append(_size(tmp_path))
    with closing(sqlite3.connect(subscriptions.path)) as connection:
        (rows,) = connection.execute("SELECT count(*) FROM subscriptions").fetchone()
        (tokens,) = connection.execute("SELECT count(*) FROM changes").fetchone()
    kept = 10 + version_builder.SWEEP_EVERY
    assert rows <= kept
    assert tokens <= kept
    assert len(list((tmp_path / "versions").glob("*.json"))) <= version_builder.SWEEP_EVERY + 1
    assert len(list((tmp_path / "versions" / SEGMENTS).iterdir())) <= 4 * version_builder.SWEEP_EVERY
    assert sizes[1] < sizes[0] * 1.5 + 100_000
    assert builder.at(str(subscriptions.version()))[0].open_index().match(
        f"<x{CHANGES - 1}/>".encode()
    ).ids == [f"s{(CHANGES - 1) % 10}"]


def test_each_reader_holds_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are deleted when no reader holds them; the hold of a reader expires."""
    subscriptions = SubscriptionStore(tmp_path / "subscriptions.db")
    for number in range(6):
        subscriptions.subscribe("s", f"//x{number}")
    assert subscriptions.hold("slow", 2) == 1
    assert subscriptions.hold("fast", 6) == 0
    assert subscriptions.subscriptions(2)[0].text == "//x1"
    now = store.time.time()
    monkeypatch.setattr(store.time, "time", lambda: now + store.READER_SECONDS + 1)
    assert subscriptions.hold("fast", 6) == 4


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())

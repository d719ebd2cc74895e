"""Index versions that are built from a subscription store."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

import pytest

from twigcast.errors import SourceError, StageError
from twigcast.pattern import Subscription
from twigcast.subscriptions.store import SubscriptionStore
from twigcast.subscriptions.version_builder import GRACE_SECONDS, SWEEP_EVERY, VersionBuilder
from twigcast.subscriptions.versions import SEGMENTS, IndexVersion


@pytest.fixture
def table(tmp_path: Path) -> SubscriptionStore:
    return SubscriptionStore(tmp_path / "subscriptions.db")


def listed(version: IndexVersion) -> list[tuple[str, str, str]]:
    """Return the live subscriptions of a version with their subscribers and deliveries."""
    index = version.open_index()
    rows = {row["subscription"]: row for row in index.rows().to_pylist()}
    return [
        (str(id), rows[id]["subscriber"], "document" if rows[id]["pattern"] is None else "part")
        for id in index.ids
    ]


def test_a_version_has_the_rows_of_the_table(table: SubscriptionStore, tmp_path: Path) -> None:
    """Its name is the number of the last change."""
    table.subscribe("a", "//x", subscriber="ada", deliver="part")
    builder = VersionBuilder(table, tmp_path / "versions")
    assert builder.newest() == "1"
    (version,) = builder.at("1")
    assert (version.version, listed(version)) == ("1", [("a", "ada", "part")])


def test_a_table_without_subscriptions_has_a_version_too(table: SubscriptionStore, tmp_path: Path) -> None:
    """Documents are processed even if there are no subscribers."""
    builder = VersionBuilder(table, tmp_path / "versions")
    assert builder.newest() == "0"
    assert listed(builder.at("0")[0]) == []


def test_it_follows_by_the_changes(table: SubscriptionStore, tmp_path: Path) -> None:
    """After each of many changes, the version equals one that is built from all rows."""
    builder = VersionBuilder(table, tmp_path / "versions")
    for number in range(5):
        table.subscribe(f"s{number}", f"//x{number}")
    builder.newest()
    table.unsubscribe("s1")
    table.subscribe("s3", "//other")
    table.subscribe("s9", "//x9")
    table.unsubscribe("s9")
    table.subscribe("s1", "//back")
    (version,) = builder.at(builder.newest())
    assert [id for id, _, _ in listed(version)] == [each.id for each in table.subscriptions()]
    assert version.open_index().match(b"<back/>").ids == ["s1"]
    assert version.open_index().match(b"<x3/>").ids == []


def test_a_past_version_can_be_made_again(table: SubscriptionStore, tmp_path: Path) -> None:
    """A replayed batch gets its subscriptions, although the manifest was lost and the store has changed."""
    table.subscribe("a", "//x")
    builder = VersionBuilder(table, tmp_path / "versions")
    builder.newest()
    table.unsubscribe("a")
    table.subscribe("b", "//y")
    builder.newest()
    (tmp_path / "versions" / "1.json").unlink()
    assert [id for id, _, _ in listed(builder.at("1")[0])] == ["a"]
    table.subscribe("c", "//z")
    assert [id for id, _, _ in listed(builder.at(builder.newest())[0])] == ["b", "c"]


def test_a_version_that_was_pruned_cannot_be_had(table: SubscriptionStore, tmp_path: Path) -> None:
    """The error names the version."""
    table.subscribe("a", "//x")
    table.unsubscribe("a")
    table.hold("reader", 2)
    with pytest.raises(SourceError, match="no version 1"):
        VersionBuilder(table, tmp_path / "versions").at("1")


def test_shards_divide_the_rows(table: SubscriptionStore, tmp_path: Path) -> None:
    """Each subscription is in one shard and stays in it."""
    for number in range(20):
        table.subscribe(f"s{number}", "//x")
    builder = VersionBuilder(table, tmp_path / "versions", shards=3)
    before = [{id for id, _, _ in listed(shard)} for shard in builder.at(builder.newest())]
    assert sum(map(len, before)) == len(set().union(*before)) == 20
    table.unsubscribe("s7")
    after = [{id for id, _, _ in listed(shard)} for shard in builder.at(builder.newest())]
    assert after == [shard - {"s7"} for shard in before]


class Rows:
    """A source that knows only its current subscriptions."""

    def __init__(self, *rows: Subscription) -> None:
        self.now = list(rows)

    def version(self) -> str:
        return "h" + "".join(str(row.id) + row.text.replace("/", "_") for row in self.now)

    def subscriptions(self) -> list[Subscription]:
        return self.now


def test_it_follows_tables_without_a_past(tmp_path: Path) -> None:
    """Rows are compared; a refused one is reported and does not hide the others."""
    rows = Rows(*(Subscription(id, f"//{id}", id) for id in "abc"))
    builder = VersionBuilder(rows, tmp_path)
    first = builder.newest()
    rows.now = [Subscription("a", "//a", "a"), Subscription("b", "//other", "b")]
    assert [id for id, _, _ in listed(builder.at(builder.newest())[0])] == ["a", "b"]
    assert [id for id, _, _ in listed(builder.at(first)[0])] == ["a", "b", "c"]
    rows.now.append(Subscription("bad", "//[", "bad"))
    assert [id for id, _, _ in listed(builder.at(builder.newest())[0])] == ["a", "b"]
    assert [refused.id for refused in builder.refused] == ["bad"]


def test_what_such_a_table_no_longer_has_cannot_be_made(tmp_path: Path) -> None:
    """A past version without a manifest is refused; no other version is used in its place."""
    rows = Rows(Subscription("a", "//a", "a"))
    with pytest.raises(StageError):
        VersionBuilder(rows, tmp_path).at("h-gone")


def test_versions_that_no_batch_needs_are_swept_away(table: SubscriptionStore, tmp_path: Path) -> None:
    """Needed versions are kept with their segments, and so are all young files."""
    root = tmp_path / "versions"
    builder = VersionBuilder(table, root)
    for number in range(SWEEP_EVERY - 1):
        table.subscribe(f"s{number}", "//x")
        builder.newest()
        builder.release(lambda: ["3"])
    assert len(list(root.glob("*.json"))) == SWEEP_EVERY - 1
    for file in root.rglob("*.*"):
        os.utime(file, (file.stat().st_mtime - GRACE_SECONDS - 1,) * 2)
    table.subscribe("last", "//x")
    newest = builder.newest()
    builder.release(lambda: ["3"])
    assert {file.name for file in root.glob("*.json")} == {"3.json", f"{newest}.json"}
    assert len(list((root / SEGMENTS).iterdir())) == 2
    assert [id for id, _, _ in listed(builder.at("3")[0])] == ["s0", "s1", "s2"]
    with pytest.raises(SourceError, match="no version 2: the oldest is 3"):
        table.subscriptions(2)


def test_a_new_process_goes_on_from_the_newest_version(table: SubscriptionStore, tmp_path: Path) -> None:
    """It compiles only later changes and shares the segments; a damaged segment is skipped."""
    for number in range(200):
        table.subscribe(f"s{number}", f"//x{number}")
    builder = VersionBuilder(table, tmp_path / "versions")
    (before,) = builder.at(builder.newest())
    table.subscribe("new", "//new")
    builder = VersionBuilder(table, tmp_path / "versions")
    (after,) = builder.at(builder.newest())
    assert after.segments[: len(before.segments)] == before.segments
    assert len(after.segments) == len(before.segments) + 1
    for path in after.paths:
        path.write_bytes(path.read_bytes()[:-1])
    table.unsubscribe("s0")
    builder = VersionBuilder(table, tmp_path / "versions")
    (again,) = builder.at(builder.newest())
    assert [id for id, _, _ in listed(again)] == [str(each.id) for each in table.subscriptions()]


def test_a_store_that_was_made_anew_has_other_versions(tmp_path: Path) -> None:
    """Versions are identified by token, not by number: no subscriber of another store gets a document."""
    path = tmp_path / "subscriptions.db"
    first = SubscriptionStore(path)
    first.subscribe("mallory", "//x")
    assert VersionBuilder(first, tmp_path / "versions").newest() == "1"
    for file in tmp_path.glob("subscriptions.db*"):
        file.unlink()
    second = SubscriptionStore(path)
    second.subscribe("ada", "//x")
    builder = VersionBuilder(second, tmp_path / "versions")
    assert [id for id, _, _ in listed(builder.at(builder.newest())[0])] == ["ada"]


def test_a_store_that_was_restored_has_other_versions(tmp_path: Path) -> None:
    """After a restore, the same numbers are given to other changes."""
    path, copy = tmp_path / "subscriptions.db", tmp_path / "copy.db"
    store = SubscriptionStore(path)
    store.subscribe("ada", "//x")
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    store.subscribe("mallory", "//x")
    builder = VersionBuilder(store, tmp_path / "versions")
    assert builder.newest() == "2"
    with closing(sqlite3.connect(copy)) as source, closing(sqlite3.connect(path)) as target:
        source.backup(target)
    store.subscribe("bob", "//x")
    assert [id for id, _, _ in listed(builder.at(builder.newest())[0])] == ["ada", "bob"]
    fresh = VersionBuilder(store, tmp_path / "versions")
    assert [id for id, _, _ in listed(fresh.at(fresh.newest())[0])] == ["ada", "bob"]


KILLED = """
import os, sys
from pathlib import Path
from twigcast.subscriptions import SubscriptionStore, VersionBuilder
store, root, until = SubscriptionStore(sys.argv[1]), sys.argv[2], int(sys.argv[3])
calls = 0
def counted(call):
    def wrapped(*arguments, **options):
        global calls
        calls += 1
        if calls == until:
            os._exit(9)
        return call(*arguments, **options)
    return wrapped
os.fsync, os.replace, os.open = counted(os.fsync), counted(os.replace), counted(os.open)
VersionBuilder(store, root).newest()
"""


@pytest.mark.slow
def test_a_kill_at_any_point_leaves_the_last_whole_version(table: SubscriptionStore, tmp_path: Path) -> None:
    """A process that dies before, during or after its writes leaves complete versions."""
    root = tmp_path / "versions"
    table.subscribe("a", "//x")
    VersionBuilder(table, root).newest()
    table.subscribe("b", "//x")
    survived = 0
    for until in range(1, 40):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(table.path), str(root), str(until)], check=False
        )
        builder = VersionBuilder(table, root)
        assert [id for id, _, _ in listed(builder.at("1")[0])] == ["a"]
        if (root / "2.json").exists():
            assert [id for id, _, _ in listed(IndexVersion.open(root / "2.json"))] == ["a", "b"]
            (root / "2.json").unlink()
        survived += done.returncode == 0
        if done.returncode == 0:
            break
    assert survived == 1
    assert until > 5


# Damage


def spoil_segments(root: Path, how: str) -> None:
    for file in (root / SEGMENTS).iterdir():
        content = file.read_bytes()
        if how == "missing":
            file.unlink()
        elif how == "truncated":
            file.write_bytes(content[: len(content) // 2])
        elif how == "empty":
            file.write_bytes(b"")
        else:
            file.write_bytes(content[:100] + bytes([content[100] ^ 4]) + content[101:])


MANIFESTS = {
    "empty": lambda text: "",
    "truncated": lambda text: text[: len(text) // 2],
    "another kind": lambda text: "[1]",
    "not UTF-8": lambda text: "\udcff" + text,
    "another size": lambda text: text.replace('"size": 2', '"size": 3'),
    "another version": lambda text: text.replace('"version": "2"', '"version": "1"'),
    "no extension": lambda text: text.replace('"extension": {}', '"extension": null'),
}


@pytest.mark.parametrize("how", ["missing", "truncated", "empty", "altered", *MANIFESTS])
@pytest.mark.parametrize("state", ["a new process", "the same process"])
def test_a_damaged_version_is_rebuilt(
    table: SubscriptionStore, tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str, state: str
) -> None:
    """A batch that is run again gets the subscriptions of its version, whatever happened to the files."""
    root = tmp_path / "versions"
    table.subscribe("a", "//x", subscriber="ada")
    table.subscribe("b", "//y", deliver="part")
    builder = VersionBuilder(table, root)
    expected = listed(builder.at(builder.newest())[0])
    if how in MANIFESTS:
        text = MANIFESTS[how]((root / "2.json").read_text())
        (root / "2.json").write_text(text, errors="surrogateescape")
    else:
        spoil_segments(root, how)
    table.subscribe("c", "//z")
    if state == "a new process":
        builder = VersionBuilder(table, root)
    (version,) = builder.at("2")
    assert listed(version) == expected
    assert "rebuilt" in caplog.text
    caplog.clear()
    assert len(listed(builder.at(builder.newest())[0])) == 3
    assert VersionBuilder(table, root).at("2") == (version,)
    assert caplog.text == ""


class Marks:
    """An extension that writes one file, and depends on something that may change."""

    def __init__(self, state: bytes = b"") -> None:
        self.state = state
        self.followed: list[bytes] = []

    def freeze(self) -> bytes:
        return self.state

    def fits(self, extension: Mapping[str, object]) -> bool:
        return "files" in extension

    def follow(self, index: object, gone: object, came: object, *, anew: bool, frozen: bytes) -> None:
        self.followed.append(frozen)

    def save(self, folder: Path, index: object) -> dict[str, object]:
        name = blake2b(b"mark", digest_size=16).hexdigest() + ".mark"
        (folder / name).write_bytes(b"mark")
        return {"files": [name]}


@pytest.mark.parametrize("content", [b"", b"marx", None])
def test_a_damaged_extension_is_rebuilt(
    table: SubscriptionStore, tmp_path: Path, content: bytes | None
) -> None:
    """The files of an extension are named by their content, and are checked against it."""
    table.subscribe("a", "//x")
    root = tmp_path / "versions"
    (version,) = VersionBuilder(table, root, extension=Marks()).at("1")
    (file,) = version.extension_paths
    file.unlink() if content is None else file.write_bytes(content)
    VersionBuilder(table, root, extension=Marks()).at("1")
    assert file.read_bytes() == b"mark"


def test_what_an_extension_depends_on_is_a_part_of_the_version(
    table: SubscriptionStore, tmp_path: Path
) -> None:
    """A version that is made again has the state that it was named after, whatever the state is by then."""
    table.subscribe("a", "//x")
    marks = Marks(b"one")
    builder = VersionBuilder(table, tmp_path, extension=marks)
    first = builder.newest()
    assert builder.newest() == first
    marks.state = b"two"
    second = builder.newest()
    assert [name.partition("@")[0] for name in (first, second)] == ["1", "1"]
    assert first != second
    assert marks.followed == [b"one", b"two"]
    (tmp_path / f"{first}.json").unlink()
    again = Marks(b"three")
    (version,) = VersionBuilder(table, tmp_path, extension=again).at(first)
    assert (version.version, again.followed) == (first, [b"one"])
    (tmp_path / f"{first}.json").unlink()
    version.extension_paths[-1].write_bytes(b"onf")
    with pytest.raises(StageError, match="was altered"):
        VersionBuilder(table, tmp_path, extension=Marks()).at(first)

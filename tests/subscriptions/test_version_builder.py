"""Index versions that follow a subscription table."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from twigcast.errors import SourceError, StageError
from twigcast.filtering import Index
from twigcast.subscriptions.store import SubscriptionTable
from twigcast.subscriptions.version_builder import KEPT, YOUNG_SECONDS, Follower
from twigcast.subscriptions.versions import INDEX, SUBSCRIBERS, IndexVersion, SubscriptionRow


@pytest.fixture
def table(tmp_path: Path) -> SubscriptionTable:
    return SubscriptionTable(tmp_path / "subscriptions.db")


def listed(version: IndexVersion) -> list[tuple[str, str, str]]:
    """Who stands in the Arrow file, and that the index agrees."""
    with pa.memory_map(str(version.path / SUBSCRIBERS)) as source:
        rows = pa.ipc.open_file(source).read_all().to_pylist()
    assert Index.open(version.path / INDEX).ids == [row["subscription"] for row in rows]
    return [(row["subscription"], row["subscriber"], row["deliver"]) for row in rows]


def test_a_version_has_the_rows_of_the_table(table: SubscriptionTable, tmp_path: Path) -> None:
    """Its name is the number of the last change."""
    table.subscribe("a", "//x", subscriber="ada", deliver="part")
    follower = Follower(table, tmp_path / "versions")
    assert follower.newest() == "1"
    (version,) = follower.at("1")
    assert (version.version, listed(version)) == ("1", [("a", "ada", "part")])


def test_a_table_without_subscriptions_has_a_version_too(table: SubscriptionTable, tmp_path: Path) -> None:
    """Documents that nobody wants go through all the same."""
    follower = Follower(table, tmp_path / "versions")
    assert follower.newest() == "0"
    assert listed(follower.at("0")[0]) == []


def test_it_follows_by_the_changes(table: SubscriptionTable, tmp_path: Path) -> None:
    """After each of many changes the version is the one that would be built from the rows."""
    follower = Follower(table, tmp_path / "versions")
    for number in range(5):
        table.subscribe(f"s{number}", f"//x{number}")
    follower.newest()
    table.unsubscribe("s1")
    table.subscribe("s3", "//other")
    table.subscribe("s9", "//x9")
    table.unsubscribe("s9")
    table.subscribe("s1", "//back")
    (version,) = follower.at(follower.newest())
    assert [id for id, _, _ in listed(version)] == [row.id for row in table.rows()]
    assert Index.open(version.path / INDEX).match(b"<back/>").ids == ["s1"]
    assert Index.open(version.path / INDEX).match(b"<x3/>").ids == []


def test_a_past_version_can_be_made_again(table: SubscriptionTable, tmp_path: Path) -> None:
    """A replayed batch gets its subscriptions though the folder was lost and the table went on."""
    table.subscribe("a", "//x")
    follower = Follower(table, tmp_path / "versions")
    follower.newest()
    table.unsubscribe("a")
    table.subscribe("b", "//y")
    follower.newest()
    shutil.rmtree(tmp_path / "versions" / "1")
    assert [id for id, _, _ in listed(follower.at("1")[0])] == ["a"]
    table.subscribe("c", "//z")
    assert [id for id, _, _ in listed(follower.at(follower.newest())[0])] == ["b", "c"]


def test_a_version_that_was_pruned_cannot_be_had(table: SubscriptionTable, tmp_path: Path) -> None:
    """It says so."""
    table.subscribe("a", "//x")
    table.unsubscribe("a")
    table.prune(before=2)
    with pytest.raises(SourceError, match="no version 1"):
        Follower(table, tmp_path / "versions").at("1")


def test_shards_divide_the_rows(table: SubscriptionTable, tmp_path: Path) -> None:
    """Each is in one of them, and stays in it."""
    for number in range(20):
        table.subscribe(f"s{number}", "//x")
    follower = Follower(table, tmp_path / "versions", shards=3)
    before = [{id for id, _, _ in listed(shard)} for shard in follower.at(follower.newest())]
    assert sum(map(len, before)) == len(set().union(*before)) == 20
    table.unsubscribe("s7")
    after = [{id for id, _, _ in listed(shard)} for shard in follower.at(follower.newest())]
    assert after == [shard - {"s7"} for shard in before]


class Rows:
    """Subscriptions that know only what is there now."""

    def __init__(self, *rows: SubscriptionRow) -> None:
        self.now = list(rows)

    def version(self) -> str:
        return "h" + "".join(row.id + row.xpath.replace("/", "_") for row in self.now)

    def rows(self) -> list[SubscriptionRow]:
        return self.now


def test_it_follows_tables_without_a_past(tmp_path: Path) -> None:
    """By comparing rows; a bad one is told and hides none of the others."""
    rows = Rows(*(SubscriptionRow(id, id, f"//{id}") for id in "abc"))
    follower = Follower(rows, tmp_path)
    first = follower.newest()
    rows.now = [SubscriptionRow("a", "a", "//a"), SubscriptionRow("b", "b", "//other")]
    assert [id for id, _, _ in listed(follower.at(follower.newest())[0])] == ["a", "b"]
    assert [id for id, _, _ in listed(follower.at(first)[0])] == ["a", "b", "c"]
    rows.now.append(SubscriptionRow("bad", "bad", "//["))
    assert [id for id, _, _ in listed(follower.at(follower.newest())[0])] == ["a", "b"]
    assert [refused.id for refused in follower.refused] == ["bad"]


def test_what_such_a_table_no_longer_has_cannot_be_made(tmp_path: Path) -> None:
    """A version whose folder is gone is not silently another."""
    rows = Rows(SubscriptionRow("a", "a", "//a"))
    with pytest.raises(StageError):
        Follower(rows, tmp_path).at("h-gone")


def test_old_folders_are_swept_away(table: SubscriptionTable, tmp_path: Path) -> None:
    """The newest stay, and all that are young."""
    follower = Follower(table, tmp_path / "versions")
    for number in range(KEPT + 2):
        table.subscribe(f"s{number}", "//x")
        follower.newest()
    assert len(list((tmp_path / "versions").iterdir())) == KEPT + 2
    for folder in (tmp_path / "versions").iterdir():
        age = YOUNG_SECONDS + 1000 - int(folder.name)
        os.utime(folder, (folder.stat().st_mtime - age,) * 2)
    table.subscribe("last", "//x")
    follower.newest()
    kept = {folder.name for folder in (tmp_path / "versions").iterdir()}
    assert kept == {str(number) for number in range(4, KEPT + 4)}

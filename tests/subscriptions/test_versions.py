"""An index as a folder: written whole, opened once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from twigcast import DocumentLimits, Index
from twigcast.errors import StageError
from twigcast.spark.stages.shipping import shipped, version_text
from twigcast.subscriptions.versions import (
    INDEX,
    SUBSCRIBERS,
    IndexVersion,
    SubscriptionRow,
)

ROWS = [
    SubscriptionRow("s", "ann", "/a"),
    SubscriptionRow("t", "bob", "/p:a", {"p": "u"}, "part"),
    SubscriptionRow("u", "ann", "//b["),
    SubscriptionRow("v", "eve", "//b"),
]


def test_rows_stand_at_their_positions(tmp_path: Path) -> None:
    """Row i of the subscribers is position i of the index; what is refused has no position."""
    version = IndexVersion.write(tmp_path, 12, ROWS)
    assert (version.version, len(version), version.path) == ("12", 3, tmp_path / "12")
    assert [(each.id, each.error.code) for each in version.refused] == [("u", "syntax")]
    (opened,) = shipped(version, "path", None)
    assert opened.open_index(DocumentLimits()).ids == ["s", "t", "v"]
    assert opened.open_subscribers().to_pylist() == [
        {"subscription": "s", "subscriber": "ann", "deliver": "document", "pattern": None},
        {"subscription": "t", "subscriber": "bob", "deliver": "part", "pattern": "/Q{u}a"},
        {"subscription": "v", "subscriber": "eve", "deliver": "document", "pattern": None},
    ]


def test_a_version_is_opened_once(tmp_path: Path) -> None:
    """A process has one index for a path and limits, however often it is asked for."""
    (one,) = shipped(IndexVersion.write(tmp_path, 1, ROWS), "path", None)
    (same,) = shipped(IndexVersion.open(tmp_path / "1"), "path", None)
    assert one.open_index(DocumentLimits()) is same.open_index(DocumentLimits())
    assert one.open_index(DocumentLimits()) is not one.open_index(DocumentLimits(depth=3))
    assert one.open_subscribers() is same.open_subscribers()


def test_a_version_that_is_there_stays(tmp_path: Path) -> None:
    """Writing it again changes nothing, and leaves nothing behind."""
    first = IndexVersion.write(tmp_path, "v", ROWS)
    again = IndexVersion.write(tmp_path, "v", ROWS[:1])
    assert (first.size, again.size) == (3, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["v"]


def test_several_may_write_the_same(tmp_path: Path) -> None:
    """Whoever is first wins; all of them have it."""
    found: list[IndexVersion] = []
    writers = [
        threading.Thread(target=lambda: found.append(IndexVersion.write(tmp_path, "v", ROWS)))
        for _ in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len({version.path for version in found}) == 1
    assert len(found) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["v"]


def test_an_index_that_changes_is_saved_as_it_is(tmp_path: Path) -> None:
    """``save`` writes an index that is kept in memory, with the rows by id."""
    index = Index((row.id, row.xpath, row.namespaces) for row in ROWS if row.id != "u")
    index.remove("s")
    rows = {row.id: row for row in ROWS}
    version = IndexVersion.save(tmp_path, 2, index, rows)
    (opened,) = shipped(version, "path", None)
    assert opened.open_subscribers().column("subscriber").to_pylist() == ["bob", "eve"]
    assert opened.open_index(DocumentLimits()).ids == ["t", "v"]


def test_an_index_is_a_version_for_the_moment() -> None:
    """An index that is not kept anywhere is named by its content; after a change it is another version."""
    index = Index([(1, "/a"), (2, "/b")])
    (one,) = shipped(index, "path", None)
    (same,) = shipped(index, "path", None)
    assert one == same
    assert one.open_subscribers().column("subscriber").to_pylist() == ["1", "2"]
    index.add(3, "/c")
    (other,) = shipped(index, "path", None)
    assert (one.version != other.version, other.size) == (True, 3)
    assert version_text((one, other)) == f"{one.version}+{other.version}"


def test_an_empty_version(tmp_path: Path) -> None:
    """Nobody may have subscribed yet."""
    (opened,) = shipped(IndexVersion.write(tmp_path, 0, []), "path", None)
    assert opened.size == opened.open_subscribers().num_rows == 0
    assert len(opened.open_index(DocumentLimits()).match(b"<a/>")) == 0


def test_what_is_no_version_is_refused(tmp_path: Path) -> None:
    """A folder that is none, a name that cannot be one, and no index at all."""
    with pytest.raises(StageError, match="is no index version"):
        IndexVersion.open(tmp_path)
    for name in ("", "a/b", ".v"):
        with pytest.raises(StageError, match="cannot name an index version"):
            IndexVersion.write(tmp_path, name, [])
    with pytest.raises(StageError, match="no index to match against"):
        shipped([], "path", None)


def test_files_are_mapped(tmp_path: Path) -> None:
    """What is opened is mapped from the files, not read into memory."""
    (opened,) = shipped(IndexVersion.write(tmp_path, 1, ROWS), "path", None)
    kept = opened.open_index(DocumentLimits()), opened.open_subscribers()
    mapped = Path("/proc/self/maps")
    if not mapped.exists():
        pytest.skip("no /proc here")
    text = mapped.read_text()
    assert str(tmp_path / "1" / INDEX) in text
    assert str(tmp_path / "1" / SUBSCRIBERS) in text
    assert len(kept[0]) == 3

"""An index version: a manifest of segments that is written atomically and opened once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from twigcast import DocumentLimits, Index
from twigcast.errors import StageError
from twigcast.filtering import mapped_file
from twigcast.pattern import Subscription
from twigcast.spark.stages.shipping import shipped, version_text
from twigcast.subscriptions.versions import SEGMENTS, IndexVersion, open_version, save_version

ROWS = [
    Subscription("s", "/a", "ann"),
    Subscription("t", "/p:a", "bob", "part", {"p": "u"}),
    Subscription("u", "//b[", "ann"),
    Subscription("v", "//b", "eve"),
]


def test_rows_stand_at_their_positions(tmp_path: Path) -> None:
    """Row i of the subscribers is position i of the index; refused subscriptions have no position."""
    version = IndexVersion.write(tmp_path, 12, ROWS)
    assert (version.version, version.size, version.manifest) == ("12", 3, tmp_path / "12.json")
    assert [(each.id, each.error.code) for each in version.refused] == [("u", "syntax")]
    (opened,) = shipped(version, "path", None)
    assert opened.open_index(DocumentLimits()).ids == ["s", "t", "v"]
    assert opened.open_subscribers().to_pylist() == [
        {"subscription": "s", "subscriber": "ann", "pattern": None},
        {"subscription": "t", "subscriber": "bob", "pattern": "/Q{u}a"},
        {"subscription": "v", "subscriber": "eve", "pattern": None},
    ]


def test_a_version_is_opened_once(tmp_path: Path) -> None:
    """A process has one index for each path and limits."""
    (one,) = shipped(IndexVersion.write(tmp_path, 1, ROWS), "path", None)
    (same,) = shipped(IndexVersion.open(tmp_path / "1.json"), "path", None)
    assert one.open_index(DocumentLimits()) is same.open_index(DocumentLimits())
    assert one.open_index(DocumentLimits()) is not one.open_index(DocumentLimits(depth=3))


def test_a_version_that_is_there_stays(tmp_path: Path) -> None:
    """Writing a version again changes nothing, and leaves no files behind."""
    first = IndexVersion.write(tmp_path, "v", ROWS)
    again = IndexVersion.write(tmp_path, "v", ROWS[:1])
    assert (first.size, again.size) == (3, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == [SEGMENTS, "v.json"]
    assert len(list((tmp_path / SEGMENTS).iterdir())) == 1


def test_several_may_write_the_same(tmp_path: Path) -> None:
    """Concurrent writers all get the version of the first."""
    found: list[IndexVersion] = []
    writers = [
        threading.Thread(target=lambda: found.append(IndexVersion.write(tmp_path, "v", ROWS)))
        for _ in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len({version.manifest for version in found}) == 1
    assert len(found) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == [SEGMENTS, "v.json"]


def test_an_index_that_changes_is_saved_as_it_is(tmp_path: Path) -> None:
    """A removed subscription is a tombstone, which no document matches."""
    index = Index(row for row in ROWS if row.id != "u")
    index.remove("s")
    version = IndexVersion.save(tmp_path, 2, index)
    (opened,) = shipped(version, "path", None)
    assert opened.open_subscribers().column("subscriber").to_pylist() == ["", "bob", "eve"]
    assert opened.open_index(DocumentLimits()).ids == ["t", "v"]
    assert opened.open_index(DocumentLimits()).match(b"<a/>").ids == []


def test_a_version_writes_only_what_is_new(tmp_path: Path) -> None:
    """The next version names the segments of the previous one and one small new segment."""
    index = Index((number, f"//x{number}/y") for number in range(5000))
    first = IndexVersion.save(tmp_path, 1, index)
    index.add("new", "//a")
    index.remove(7)
    second = IndexVersion.save(tmp_path, 2, index)
    assert second.segments[: len(first.segments)] == first.segments
    (added,) = second.paths[len(first.segments) :]
    assert added.stat().st_size < 2000 < first.paths[0].stat().st_size / 50
    assert second.open_index().match(b"<a><x7><y/></x7></a>").ids == ["new"]
    assert first.open_index().match(b"<a><x7><y/></x7></a>").ids == [7]


def test_engines_stay_warm_from_version_to_version(tmp_path: Path) -> None:
    """The caches of segments that two versions share are used again."""
    index = Index((number, f"//x{number}") for number in range(500))
    before = IndexVersion.save(tmp_path, 1, index).open_index()
    before.match(b"<a><x1/></a>")
    index.add("new", "//a")
    after = IndexVersion.save(tmp_path, 2, index).open_index()
    assert after.match(b"<a><x1/></a>").ids == [1, "new"]
    assert (after.stats().engines, after.stats().documents) == (1, 2)


def test_a_version_knows_its_store(tmp_path: Path) -> None:
    """A version of another store is refused despite its number, and so is one that lacks a segment."""
    (made,) = save_version(tmp_path, "1", [Index(ROWS[:1])], store="here")
    assert open_version(made.manifest, store="here") == (made,)
    with pytest.raises(StageError, match="made from another subscription store"):
        open_version(made.manifest, store="there")
    made.paths[0].unlink()
    with pytest.raises(StageError, match="is missing"):
        open_version(made.manifest)


def test_shards_are_manifests_over_fewer_segments(tmp_path: Path) -> None:
    """One manifest has the segments of each shard."""
    shards = save_version(tmp_path, "1", [Index([("a", "/a")]), Index([("b", "/b")])])
    assert [shard.version for shard in shards] == ["1.1-of-2", "1.2-of-2"]
    assert [shard.open_index().ids for shard in shards] == [["a"], ["b"]]
    with pytest.raises(StageError, match="has 2 shards"):
        IndexVersion.open(tmp_path / "1.json")


def test_an_index_is_a_version_for_the_moment() -> None:
    """The name of a temporary version is a hash of its content; a changed index is another version."""
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
    """A version may have no subscriptions."""
    (opened,) = shipped(IndexVersion.write(tmp_path, 0, []), "path", None)
    assert opened.size == opened.open_subscribers().num_rows == 0
    assert len(opened.open_index(DocumentLimits()).match(b"<a/>")) == 0


def test_what_is_no_version_is_refused(tmp_path: Path) -> None:
    """An invalid folder, an invalid name and a missing index are refused."""
    with pytest.raises(StageError, match="is not a valid index version"):
        IndexVersion.open(tmp_path)
    for name in ("", "a/b", ".v"):
        with pytest.raises(StageError, match="cannot name an index version"):
            IndexVersion.write(tmp_path, name, [])
    with pytest.raises(StageError, match="no index to match against"):
        shipped([], "path", None)


def test_files_are_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large segment files are mapped, not read into memory."""
    monkeypatch.setattr(mapped_file, "READ", 0)
    (opened,) = shipped(IndexVersion.write(tmp_path, 1, ROWS), "path", None)
    kept = opened.open_index(DocumentLimits()), opened.open_subscribers()
    mapped = Path("/proc/self/maps")
    if not mapped.exists():
        pytest.skip("no /proc here")
    text = mapped.read_text()
    assert str(tmp_path / SEGMENTS / opened.segments[0].rpartition("/")[2]) in text
    assert len(kept[0]) == 3

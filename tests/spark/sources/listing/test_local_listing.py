"""The driver lists what Spark would list, by the paths and options that it knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast.errors import SourceError
from twigcast.spark.sources.listing.local_listing import LocalListing


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    hidden = ["b/_x/4.xml", "b/.5.xml", "b/_6.xml"]
    for name in ["a/1.xml", "a/2.txt", "b/3.xml", "b/_k=v/7.xml", "c{d}.xml", *hidden]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"<a/>")
    return tmp_path


def names(folder: Path, pattern: str = "", **options: str) -> list[str]:
    listing = LocalListing.of(f"{folder}/{pattern}", options, "skip")
    assert listing is not None
    return sorted(place.path.removeprefix(f"{folder}/") for place in listing.places())


def test_folders_files_and_patterns(folder: Path) -> None:
    """Hidden names are skipped; patterns are those of Hadoop."""
    assert names(folder) == ["a/1.xml", "a/2.txt", "b/3.xml", "b/_k=v/7.xml", "c{d}.xml"]
    assert names(folder, "a/1.xml") == ["a/1.xml"]
    assert names(folder, "{a,b}/*.xml") == ["a/1.xml", "b/3.xml"]
    assert names(folder, "[^b]/") == ["a/1.xml", "a/2.txt"]
    assert names(folder, "c\\{d\\}.xml*") == ["c{d}.xml"]
    assert names(folder, "no*") == []
    assert names(folder, pathGlobFilter="{1,3}.*") == ["a/1.xml", "b/3.xml"]


def test_what_is_not_known_is_left_to_spark(folder: Path) -> None:
    """Spark lists if there is an option that this listing does not have."""
    assert LocalListing.of(str(folder), {"modifiedAfter": "2020-01-01T00:00:00"}, "skip") is None
    assert LocalListing.of(str(folder), {"recursiveFileLookup": "false"}, "skip") is None


def test_a_missing_path_is_an_error(folder: Path) -> None:
    """It is named."""
    with pytest.raises(SourceError, match="no such source of documents"):
        names(folder, "missing")


def test_patterns_do_not_follow_links_either(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A link that a pattern matches, or leads through, is refused as in a folder."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "8.xml").write_bytes(b"<a/>")
    (folder / "z").symlink_to(outside)
    (folder / "y").symlink_to("a")

    def found(links: str) -> dict[str, str | None]:
        listing = LocalListing(f"{folder}/*/*.xml", links)  # type: ignore[arg-type]
        return {place.path.removeprefix(f"{folder}/"): place.refusal for place in listing.places()}

    assert found("skip") == {"a/1.xml": None, "b/3.xml": None, "y/1.xml": "link", "z/8.xml": "link"}
    assert found("inside") == {"a/1.xml": None, "b/3.xml": None, "y/1.xml": None, "z/8.xml": "link"}
    assert set(found("follow").values()) == {None}

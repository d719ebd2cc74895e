"""Each file is in one list, whatever was cut off."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from twigcast.errors import SourceError
from twigcast.spark.sources.listing.feed_log import KEPT, FeedLog, taken_places
from twigcast.spark.sources.listing.places import Place, divided


def places(*names: str) -> list[Place]:
    return [Place(f"/{name}", 10) for name in names]


def test_new_files_are_listed_in_lists_of_a_bounded_size(tmp_path: Path) -> None:
    """A list has at most so many files or bytes, and is never empty; the lists are in the order of times."""
    log = FeedLog(tmp_path)
    assert log.add(places(*"abcde"), most_files=2, most_bytes=None) == 3
    assert log.add(places(*"abcdef"), most_files=None, most_bytes=5) == 1
    assert [log.places(number) for number in range(4)] == [
        places("a", "b"),
        places("c", "d"),
        places("e"),
        places("f"),
    ]
    times = [(tmp_path / str(number)).stat().st_mtime for number in range(4)]
    assert times == sorted(set(times))


def test_a_file_is_listed_once(tmp_path: Path) -> None:
    """Also by another process, after old lists were settled, and after a line was cut off."""
    log = FeedLog(tmp_path)
    for name in "abcdefgh":
        log.add(places(name), most_files=None, most_bytes=None)
    log.settle(5)
    assert sorted(path.name for path in tmp_path.glob("[0-9]*")) == [str(n) for n in range(6 - KEPT, 8)]
    with (tmp_path / ".taken").open("ab") as file:
        file.write(b'"/cut o')
    again = FeedLog(tmp_path)
    assert again.add(places(*"abcdefgh"), most_files=None, most_bytes=None) == 0
    again.settle(7)
    assert FeedLog(tmp_path).add(places(*"abcdefghi"), most_files=None, most_bytes=None) == 1
    assert FeedLog(tmp_path).places(8) == places("i")


def test_the_files_of_each_batch_are_known_after_a_kill(tmp_path: Path) -> None:
    """A list that was cut off while it was logged is logged again, and none of its files counts twice."""
    folder, whole = tmp_path / "feed", tmp_path / "whole"
    log = FeedLog(folder)
    for number, name in enumerate("abcdef"):
        log.add(places(name, f"{name}2"), most_files=None, most_bytes=None)
        log.note(number, [number])
    copytree(folder, whole)
    FeedLog(whole).settle(4)
    before, cut, _ = (whole / ".taken").read_bytes().partition(b'"/b"\n')
    (folder / ".taken").write_bytes(before + cut)  # all of the first list, and a file of the second
    FeedLog(folder).settle(4)
    paths = {batch: [place.path for place in some] for batch, some in taken_places(folder).items()}
    assert paths == {number: [f"/{name}", f"/{name}2"] for number, name in enumerate("abcdef")}


def test_a_list_that_was_not_announced_is_written_again(tmp_path: Path) -> None:
    """A kill between the two files of a list leaves no list."""
    log = FeedLog(tmp_path)
    log.add(places("a"), most_files=None, most_bytes=None)
    (tmp_path / "0").unlink()
    assert FeedLog(tmp_path).add(places("a", "b"), most_files=None, most_bytes=None) == 1
    assert FeedLog(tmp_path).places(0) == places("a", "b")


def test_a_link_that_is_followed_later_is_listed_again(tmp_path: Path) -> None:
    """What was refused is another place than the file behind it."""
    log = FeedLog(tmp_path)
    log.add([Place("/a", 0, "link")], most_files=None, most_bytes=None)
    assert log.add([Place("/a", 0, "link")], most_files=None, most_bytes=None) == 0
    assert FeedLog(tmp_path).add([Place("/a", 4)], most_files=None, most_bytes=None) == 1


def test_a_damaged_list_is_an_error_that_names_it(tmp_path: Path) -> None:
    """It is the only copy of what belongs to a batch."""
    FeedLog(tmp_path).add(places("a"), most_files=None, most_bytes=None)
    (tmp_path / ".0.json").write_bytes(b"[[1")
    with pytest.raises(SourceError) as caught:
        FeedLog(tmp_path)
    assert caught.value.path == str(tmp_path / ".0.json")


def test_files_are_divided_by_their_size() -> None:
    """Each task has about the same number of bytes and files."""
    some = [Place(f"/{number}", number << 20) for number in range(100)]
    tasks = divided(some, 2)
    assert sorted(place.path for task in tasks for place in task) == sorted(place.path for place in some)
    sizes = [sum(place.length for place in task) for task in tasks]
    assert max(sizes) < 1.3 * min(sizes)
    assert divided([], 2) == []
    assert divided(some[:1], 2) == [some[:1]]

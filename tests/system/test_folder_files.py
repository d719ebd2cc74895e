"""Files below a folder: regular ones only, links by a rule, and never without end."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from twigcast.system import Links, files_below, open_regular


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two files, a pipe, a socket, and links in all directions."""
    feed = tmp_path / "feed"
    (feed / "below").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.xml").write_bytes(b"<s/>")
    (feed / "1.xml").write_bytes(b"<a/>")
    (feed / "below" / "2.xml").write_bytes(b"<a/>")
    os.mkfifo(feed / "pipe.xml")
    (feed / "loop").symlink_to(".")
    (feed / "again").symlink_to(".")
    (feed / "below" / "up").symlink_to("..")
    (feed / "file.xml").symlink_to("1.xml")
    (feed / "out").symlink_to(tmp_path / "outside")
    (feed / "out.xml").symlink_to(tmp_path / "outside" / "secret.xml")
    (feed / "nowhere.xml").symlink_to("missing")
    return feed


def found(folder: Path, links: Links) -> dict[str, str | None]:
    return {
        os.path.relpath(each.path, folder): each.refusal for each in files_below(str(folder), links=links)
    }


def test_links_are_not_followed(folder: Path) -> None:
    """Each link, and what is no regular file, is found once, with the reason why it is not read."""
    links = ["again", "below/up", "file.xml", "loop", "nowhere.xml", "out", "out.xml"]
    assert found(folder, "skip") == {
        "1.xml": None,
        "below/2.xml": None,
        "pipe.xml": "special",
        **dict.fromkeys(links, "link"),
    }


def test_links_may_be_followed_within_the_folder(folder: Path) -> None:
    """A link that leads out is refused, and a loop is entered once."""
    assert found(folder, "inside") == {
        "1.xml": None,
        "below/2.xml": None,
        "file.xml": None,
        "out": "link",
        "out.xml": "link",
        "pipe.xml": "special",
    }


def test_links_may_be_followed_anywhere(folder: Path) -> None:
    """Each folder is entered once, by its own path if it has one."""
    assert found(folder, "follow") == {
        "1.xml": None,
        "below/2.xml": None,
        "file.xml": None,
        "out.xml": None,
        "out/secret.xml": None,
        "pipe.xml": "special",
    }


def test_names_may_be_skipped(folder: Path) -> None:
    """A folder whose name is skipped is not entered."""
    names = [each.path for each in files_below(str(folder), skipped=lambda name: name != "1.xml")]
    assert names == [str(folder / "1.xml")]
    assert [each.path for each in files_below(str(folder / "1.xml"))] == [str(folder / "1.xml")]
    with pytest.raises(FileNotFoundError):
        list(files_below(str(folder / "missing")))


def test_only_regular_files_are_opened(folder: Path) -> None:
    """A pipe, a socket, a device and a folder are errors at once; so is a link that must not be followed."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(folder / "socket.xml"))
    for path in (folder / "pipe.xml", folder / "socket.xml", Path("/dev/null"), folder):
        with pytest.raises(OSError, match=r"regular file|directory|No such device"):
            open_regular(str(path))
    os.close(open_regular(str(folder / "file.xml")))
    with pytest.raises(OSError, match="symbolic link"):
        open_regular(str(folder / "file.xml"), links="skip")

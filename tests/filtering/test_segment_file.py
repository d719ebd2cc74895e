"""Index files: any process can open a saved file, and every other file is refused."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Hashable
from pathlib import Path

import pytest

from twigcast import Index, IndexFileError, SubscriptionError, TwigcastError
from twigcast.filtering.segment_file import _HEAD, _head
from twigcast.pattern import Subscription

SUBSCRIPTIONS: list[tuple[Hashable, str]] = [
    ("lead", "/nitf//hl1[@class='lead']"),
    ("ada", "//p[person='Ada']"),
    ("two", "//p[count(person) = 2]"),
    ("any", "//*[@id > 3 or not(b)]"),
]
DOCUMENTS = [
    b"<nitf><hl1 class='lead'/><p><person>Ada</person></p></nitf>",
    b"<r id='5'><p><person/><person>Ada</person></p></r>",
    b"<b/>",
]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "news.tci"
    Index(SUBSCRIPTIONS).save(path)
    return path


def test_what_is_saved_is_opened(saved: Path) -> None:
    """An opened index has the ids, answers and selections of the one that was saved."""
    index, opened = Index(SUBSCRIPTIONS), Index.open(saved)
    for body in DOCUMENTS:
        assert opened.match(body).ids == index.match(body).ids
        assert opened.select(body, "ada") == index.select(body, "ada")
    assert opened.ids == index.ids
    assert opened.pattern("two") == index.pattern("two")
    assert "ada" in opened
    assert "eve" not in opened


@pytest.mark.parametrize(
    "ids", [["a", "é"], [7, -(2**40)], ["a", 7, ("b", 2, b"\xff"), None, 2.5, True], [2**70, 1]], ids=str
)
def test_ids_of_all_kinds_are_kept(ids: list[Hashable], tmp_path: Path) -> None:
    """Ids that are strings, numbers, bytes or tuples are the same after saving and opening."""
    Index([(id, "//a") for id in ids]).save(tmp_path / "i")
    assert Index.open(tmp_path / "i").match(b"<a/>").ids == ids


def test_an_id_that_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    """An id that a file cannot store is reported before anything is written."""
    with pytest.raises(SubscriptionError, match="cannot be saved"):
        Index([(frozenset([1]), "//a")]).save(tmp_path / "i")
    assert list(tmp_path.iterdir()) == []


def test_an_opened_index_can_change(saved: Path, tmp_path: Path) -> None:
    """Changes of an opened index do not change its file, and can be saved to another."""
    opened = Index.open(saved)
    opened.remove("lead")
    opened.add("b", "//b")
    opened.add("prefixed", "//p:b", {"p": "urn:p"})
    again = tmp_path / "again.tci"
    opened.save(again)
    reopened = Index.open(again)
    assert reopened.ids == ["ada", "two", "any", "b", "prefixed"]
    for body in [*DOCUMENTS, b"<b xmlns='urn:p'/>"]:
        assert reopened.match(body).ids == opened.match(body).ids
    assert Index.open(saved).ids == [id for id, _ in SUBSCRIPTIONS]


def test_saving_replaces_at_once(saved: Path) -> None:
    """An index that has the old file open keeps it; the next ``open`` gets the new file."""
    old = Index.open(saved)
    Index([("only", "//b")]).save(saved)
    assert old.match(b"<nitf><p><person>Ada</person></p></nitf>").ids == ["ada", "any"]
    assert Index.open(saved).ids == ["only"]
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_an_empty_index_is_a_file_too(tmp_path: Path) -> None:
    """An index without subscriptions can be saved and opened."""
    Index().save(tmp_path / "i")
    opened = Index.open(tmp_path / "i")
    assert len(opened) == 0
    assert opened.match(b"<a/>").ids == []


def test_another_process_opens_it(saved: Path) -> None:
    """The file does not depend on the process that wrote it."""
    program = "import sys; from twigcast import Index; print(Index.open(sys.argv[1]).match(b'<b/>').ids)"
    done = subprocess.run(
        [sys.executable, "-c", program, str(saved)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['any']\n"


def test_a_missing_file_is_said_so(tmp_path: Path) -> None:
    """An error of the file system is raised as ``IndexFileError``, with the path."""
    with pytest.raises(IndexFileError, match=r"none\.tci") as raised:
        Index.open(tmp_path / "none.tci")
    assert raised.value.code == "unreadable"


def test_a_cut_file_is_refused(saved: Path) -> None:
    """A truncated file is refused, however many bytes are missing."""
    whole = saved.read_bytes()
    for length in [0, 10, 63, 64, 100, len(whole) // 2, len(whole) - 1]:
        saved.write_bytes(whole[:length])
        with pytest.raises(IndexFileError) as raised:
            Index.open(saved)
        assert raised.value.code == "truncated"


def test_an_altered_file_is_refused(saved: Path) -> None:
    """One flipped bit is detected."""
    sound = saved.read_bytes()
    source = random.Random(1)
    for _ in range(200):
        whole = bytearray(sound)
        at = source.randrange(12, len(whole))
        whole[at] ^= 1 << source.randrange(8)
        saved.write_bytes(whole)
        with pytest.raises(IndexFileError) as raised:
            Index.open(saved)
        assert raised.value.code in ("altered", "truncated")


def test_other_files_and_versions_are_refused(saved: Path) -> None:
    """The error says that a file has another kind or format, not that it is broken."""
    whole = saved.read_bytes()
    saved.write_bytes(b"PK" + whole[2:])
    with pytest.raises(IndexFileError, match="not a twigcast index") as raised:
        Index.open(saved)
    assert raised.value.code == "not-an-index"
    saved.write_bytes(whole[:8] + struct.pack("<I", 99) + whole[12:])
    with pytest.raises(IndexFileError, match="format 99") as raised:
        Index.open(saved)
    assert raised.value.code == "version"


def test_a_forged_file_cannot_crash_the_process(saved: Path) -> None:
    """Any change is refused or harmless, even if the checksum is corrected."""
    whole = saved.read_bytes()
    source = random.Random(2)
    refused = 0
    for _ in range(400):
        forged = bytearray(whole)
        for _ in range(source.choice([1, 1, 2, 8])):
            at = source.randrange(64, len(forged))
            forged[at] = source.choice([0, 1, 255, source.randrange(256)])
        fields = _HEAD.unpack(forged[: _HEAD.size])[3:]
        checksum = zlib.crc32(forged[_HEAD.size :], zlib.crc32(_head(0, *fields)))
        forged[: _HEAD.size] = _head(checksum, *fields)
        saved.write_bytes(forged)
        try:
            index = Index.open(saved)
            for body in DOCUMENTS:
                index.match(body)
        except TwigcastError:
            refused += 1
    assert 0 < refused < 400


def test_the_prefixes_of_an_index_are_kept(tmp_path: Path) -> None:
    """What is added to the opened index may use them, and a changed index keeps them, too."""
    index = Index([("a", "//p:a")], namespaces={"p": "urn:p", "": "urn:d"})
    index.bind({"q": "urn:q"})
    index.save(tmp_path / "i")
    opened = Index.open(tmp_path / "i")
    assert opened.namespaces == {"p": "urn:p", "": "urn:d", "q": "urn:q"}
    opened.add("b", "//q:b")
    opened.add("c", "//c")
    opened.add_all([("d", "//p:a[b]"), Subscription("e", "//q:b")])
    opened.save(tmp_path / "j")
    again = Index.open(tmp_path / "j")
    assert again.namespaces == opened.namespaces
    body = b"<c xmlns='urn:d'><a xmlns='urn:p'><b xmlns='urn:d'/><b xmlns='urn:q'/></a></c>"
    assert again.match(body).ids == opened.match(body).ids == ["a", "b", "c", "d", "e"]


def test_an_index_without_prefixes_is_the_same_file_as_before(tmp_path: Path) -> None:
    """The prefixes are an optional entry of the table of contents, so the format has its number."""
    Index(SUBSCRIPTIONS).save(tmp_path / "i")
    assert b"namespaces" not in (tmp_path / "i").read_bytes()
    assert Index.open(tmp_path / "i").namespaces == {}


def test_binding_a_prefix_again_changes_no_subscription_of_an_index() -> None:
    """Patterns have URIs, never prefixes."""
    index = Index([("old", "//p:a")], namespaces={"p": "urn:1"})
    index.bind({"p": "urn:2"})
    index.add("new", "//p:a")
    assert index.match(b"<a xmlns='urn:1'/>").ids == ["old"]
    assert index.match(b"<a xmlns='urn:2'/>").ids == ["new"]

"""Documents of the command line are found and read."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from twigcast.cli.documents import DocumentFile, find
from twigcast.errors import SourceError

Write = Callable[[str, str | bytes], Path]


def test_directories_are_searched_to_the_bottom_in_order(write: Write, tmp_path: Path) -> None:
    """The documents of a directory are its XML files, also compressed ones, sorted within each folder."""
    for name in ("b.xml", "a.XML", "deep/c.xml.gz", "notes.txt"):
        write(name, "<a/>")
    names = [Path(source.name).relative_to(tmp_path).as_posix() for source in find([str(tmp_path)])]
    assert names == ["a.XML", "b.xml", "deep/c.xml.gz"]


def test_files_are_taken_as_they_are_named() -> None:
    """A named file may have any extension, and is not opened until it is read."""
    assert list(find(["b", "-", "a"])) == [DocumentFile("b"), DocumentFile("-"), DocumentFile("a")]


def test_compressed_documents_are_told_by_their_bytes(write: Write) -> None:
    """A gzip file is decompressed, whatever its name is."""
    assert DocumentFile(str(write("a.xml", gzip.compress(b"<a/>")))).read(100) == b"<a/>"


def test_stdin_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """``-`` is stdin, compressed or not."""
    for body in (b"<a/>", gzip.compress(b"<a/>")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(body)))
        assert DocumentFile("-").read(100) == b"<a/>"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_reading_stops_one_byte_after_the_limit(write: Write, pack: Callable[[bytes], bytes]) -> None:
    """Of a huge file, or a decompression bomb, only a bounded number of bytes is read."""
    assert len(DocumentFile(str(write("a.xml", pack(b"x" * 10_000)))).read(100)) == 101


def test_a_missing_file_says_so_when_read(tmp_path: Path) -> None:
    """The error names the file."""
    with pytest.raises(SourceError) as caught:
        DocumentFile(str(tmp_path / "a.xml")).read(100)
    assert (caught.value.code, caught.value.path) == ("not-found", str(tmp_path / "a.xml"))


def test_a_directory_without_documents_says_so_when_read(tmp_path: Path) -> None:
    """A directory without documents is an error."""
    (source,) = find([str(tmp_path)])
    with pytest.raises(SourceError) as caught:
        source.read(100)
    assert caught.value.code == "no-documents"


def test_a_damaged_compressed_document_is_refused(write: Write) -> None:
    """A truncated gzip file is an error."""
    with pytest.raises(SourceError) as caught:
        DocumentFile(str(write("a.xml.gz", gzip.compress(b"<a/>" * 1000)[:-9]))).read(10_000)
    assert caught.value.code == "unreadable"


def test_directories_are_searched_by_the_rule_of_a_pipeline(write: Write, tmp_path: Path) -> None:
    """A pipe does not block, a loop of links ends, and what is not read is an error of its own."""
    write("a.xml", "<a/>")
    os.mkfifo(tmp_path / "pipe.xml")
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "link.xml").symlink_to("a.xml")
    found = {Path(source.name).name: source for source in find([str(tmp_path)])}
    assert set(found) == {"a.xml", "link.xml", "loop", "pipe.xml"}
    assert found["a.xml"].read(100) == b"<a/>"
    for name, reason in (("link.xml", "link is not followed"), ("pipe.xml", "not a regular file")):
        with pytest.raises(SourceError, match=reason):
            found[name].read(100)
    assert DocumentFile(str(tmp_path / "link.xml")).read(100) == b"<a/>"


def test_the_name_of_a_document_is_printable(tmp_path: Path) -> None:
    """A name that is not UTF-8 is printed with escapes."""
    name = os.path.join(os.fsencode(tmp_path), b"caf\xe9\n.xml")
    with open(name, "wb") as file:
        file.write(b"<a/>")
    (source,) = find([str(tmp_path)])
    assert (source.text, source.read(10)) == (f"{tmp_path}/caf\\xe9\\x0a.xml", b"<a/>")

"""One rule says what is a document in a folder."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from twigcast.system import BROKEN_GZIP, decompressed_body, documents_below

DOCUMENTS = ["a.xml", "B.XML", "sub/c.xml.gz", "sub/_k=v/d.xml"]
OTHERS = [
    "notes.txt",
    "e.xml.tmp",
    "e.xml~",
    ".f.xml",
    "_g.xml",
    ".git/h.xml",
    "_work/i.xml",
    "j.gz",
    "#k.xml#",
    "xml",
]


def make(folder: Path) -> None:
    """A folder with documents and other files."""
    for name in [*DOCUMENTS, *OTHERS]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(gzip.compress(b"<a/>") if name.endswith(".gz") else b"<a/>")


def test_documents_are_told_by_their_names(tmp_path: Path) -> None:
    """XML files, also compressed ones; neither hidden nor temporary nor other files."""
    make(tmp_path)
    found = {each.path.removeprefix(f"{tmp_path}/") for each in documents_below(str(tmp_path))}
    assert found == set(DOCUMENTS)


def test_what_could_be_documents_is_reported(tmp_path: Path) -> None:
    """A link to a folder and a pipe with the name of a document are found, with the reason."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "no").symlink_to("notes.txt")
    os.mkfifo(tmp_path / "pipe.xml")
    os.mkfifo(tmp_path / "pipe")
    found = {each.path.removeprefix(f"{tmp_path}/"): each.refusal for each in documents_below(str(tmp_path))}
    assert found == {"link": "link", "pipe.xml": "special"}


def test_compressed_documents_are_told_by_their_bytes() -> None:
    """A decompressed document is bounded, and a broken one is an error."""
    packed = gzip.compress(b"<a/>" * 1000)
    assert decompressed_body(b"<a/>", 1) == b"<a/>"
    assert decompressed_body(packed, 100) == b"<a/>" * 25 + b"<"
    with pytest.raises(BROKEN_GZIP):
        decompressed_body(packed[:-10], 100_000)

"""``twigcast assemble``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twigcast.fragmenting import Spans, encode, fragment

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]
BODY = "<a>é<b/><c/>\n</a>".encode()


@pytest.fixture
def folder(write: Write, tmp_path: Path) -> Path:
    """The fragments of a document, under names that say nothing of their order."""
    for part in fragment(BODY, doc_id="d", cut=Spans(elements=1)):
        write(f"parts/{9 - part.number}.tcf", encode(part))
    return tmp_path / "parts"


def test_a_folder_is_assembled(run: RunCommand, folder: Path, tmp_path: Path) -> None:
    """To stdout, or into a file; byte for byte."""
    done = run("assemble", folder)
    assert (done.exit_code, done.stdout.encode()) == (0, BODY)
    done = run("assemble", *sorted(folder.iterdir()), "--output", tmp_path / "again.xml")
    assert (done.exit_code, done.stdout) == (0, "")
    assert (tmp_path / "again.xml").read_bytes() == BODY


def test_what_is_missing_is_named(run: RunCommand, folder: Path, tmp_path: Path) -> None:
    """And nothing is written."""
    (folder / "7.tcf").unlink()
    done = run("assemble", folder, "-o", tmp_path / "again.xml")
    assert done.exit_code == 2
    assert "error: of 3 fragments these are missing: 2 (fragments-missing)" in done.stderr
    assert not (tmp_path / "again.xml").exists()


def test_several_documents(run: RunCommand, folder: Path, write: Write) -> None:
    """One is chosen by its id."""
    (other,) = fragment(b"<x/>", doc_id="x")
    write("parts/x.tcf", encode(other))
    done = run("assemble", folder)
    assert done.exit_code == 2
    assert "several documents: d, x" in done.stderr
    assert run("assemble", folder, "--id", "x").stdout == "<x/>"
    assert "fragments-missing" in run("assemble", folder, "--id", "y").stderr


def test_a_bad_file_is_named(run: RunCommand, folder: Path, write: Write, tmp_path: Path) -> None:
    """Altered, no fragment, missing; a folder without fragments."""
    good = (folder / "8.tcf").read_bytes()
    done = run("assemble", write("bad.tcf", good.replace(b"<a>", b"<x>")))
    assert (done.exit_code, "bad.tcf" in done.stderr, "fragment-corrupt" in done.stderr) == (2, True, True)
    assert "fragment-file" in run("assemble", write("no.tcf", b"")).stderr
    assert "not-found" in run("assemble", tmp_path / "none.tcf").stderr
    (tmp_path / "empty").mkdir()
    assert "no-documents" in run("assemble", tmp_path / "empty").stderr

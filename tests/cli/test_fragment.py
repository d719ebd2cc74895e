"""``twigcast fragment``."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twigcast.fragmenting import assemble, decode, decode_manifest

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]
BODY = b"<a>" + b"<b><c>x</c></b>\n" * 500 + b"</a>"


@pytest.fixture
def document(write: Write) -> Path:
    return write("big.xml", BODY)


def parts_of(folder: Path) -> list[Any]:
    return [decode(path.read_bytes()) for path in sorted(folder.glob("*.tcf"))]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ([], 1),
        (["--bytes", "2KB"], 4),
        (["--bytes", "1kib", "--elements", 50], 21),
        (["--elements", 100], 11),
        (["--subtrees", 100, "--header", "paths"], 11),
    ],
)
def test_a_document_is_cut_into_files(
    run: RunCommand, document: Path, tmp_path: Path, options: list[object], count: int
) -> None:
    """One file for each fragment, numbered from 1; together they are the document."""
    folder = tmp_path / "new" / "parts"
    done = run("fragment", document, *options, "--output", folder)
    assert (done.exit_code, done.stdout) == (0, "")
    assert f"{count:,} fragment" in done.stderr
    parts = parts_of(folder)
    assert [path.name for path in sorted(folder.iterdir())] == [f"{k:06d}.tcf" for k in range(1, count + 1)]
    assert assemble(parts) == BODY
    assert {part.doc_id for part in parts} == {"big.xml"}


def test_stdin_and_compressed_files(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """A stream is cut as it comes; the id is an option."""
    assert run("fragment", "-", "--id", "s", "-o", tmp_path / "one", stdin=BODY).exit_code == 0
    assert parts_of(tmp_path / "one")[0].doc_id == "s"
    packed = write("big.xml.gz", gzip.compress(BODY))
    done = run("fragment", packed, "--elements", 10, "-o", tmp_path / "two", "--json", "--manifest")
    assert json.loads(done.stdout)["fragments"] == 101
    parts = parts_of(tmp_path / "two")
    assert assemble(parts) == BODY
    manifest = decode_manifest((tmp_path / "two" / "manifest.tcm").read_bytes())
    assert list(manifest.headers) == [part.header for part in parts]


def test_a_header_is_shown(run: RunCommand, document: Path, tmp_path: Path) -> None:
    """The table of the thesis: parent, path, count, height."""
    run("fragment", document, "--elements", 100, "--header", "paths", "-o", tmp_path / "parts")
    part = tmp_path / "parts" / "000002.tcf"
    done = run("fragment", "--show", part)
    assert done.exit_code == 0
    assert "fragment\t2" in done.lines
    assert done.lines[done.lines.index("") + 1 :] == [
        "parent\tpath\tcount\theight",
        "1.100\t/a/b/c\t1\t0",
        "1.1\t/a/b\t50\t1",
    ]
    shown = json.loads(run("fragment", "--show", part, "--json").stdout)
    assert (shown["header"], shown["label_paths"], shown["closes"]) == ("prefix+paths", 2, 1)
    assert shown["rows"][1] == {"parent": "1.1", "path": "/a/b", "count": 50, "height": 1}


def test_a_malformed_document_leaves_nothing_behind(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """The error has its line; no folder is made, not even a hidden one."""
    bad = write("bad.xml", BODY.replace(b"</a>", b"</x>"))
    done = run("fragment", bad, "--elements", 10, "-o", tmp_path / "parts")
    assert done.exit_code == 1
    assert "mismatched tag at line 501" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.xml"]


def test_nothing_is_overwritten(run: RunCommand, document: Path, tmp_path: Path) -> None:
    """A folder with files in it is refused; an empty one is filled."""
    (tmp_path / "empty").mkdir()
    assert run("fragment", document, "-o", tmp_path / "empty").exit_code == 0
    done = run("fragment", document, "-o", tmp_path / "empty")
    assert done.exit_code == 2
    assert "(unwritable)" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.xml"], "give --output"),
        (["-o", "x"], "give a document"),
        (["a.xml", "-o", "x", "--bytes", "many"], "256KB"),
        (["a.xml", "-o", "x", "--bytes", "0"], "256KB"),
        (["a.xml", "-o", "x", "--bytes", "1", "--subtrees", "2"], "excludes"),
        (["a.xml", "--show", "x"], "nothing else"),
        (["missing.xml", "-o", "x"], "there is no such file"),
        (["--show", "missing.tcf"], "missing.tcf"),
    ],
)
def test_wrong_arguments_are_explained(
    run: RunCommand,
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    """One sentence, exit code 2."""
    monkeypatch.chdir(tmp_path)
    write("a.xml", "<a/>")
    done = run("fragment", *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_limits_and_files_that_are_no_fragments(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """A document that is too deep, a file that is no fragment."""
    done = run("fragment", write("a.xml", "<a><b/></a>"), "--max-depth", 1, "-o", tmp_path / "x")
    assert (done.exit_code, "too-deep" in done.stderr) == (1, True)
    done = run("fragment", "--show", write("a.tcf", "<a/>"))
    assert (done.exit_code, "fragment-file" in done.stderr) == (2, True)


def test_a_document_is_cut_by_what_subscriptions_ask_for(
    run: RunCommand, write: Write, tmp_path: Path
) -> None:
    """What none of them asks for becomes fragments of its own; other ways to cut are refused."""
    subscriptions = write("s.txt", "/a/hot\n")
    cold = b"<cold>" + b"<x/>" * 200 + b"</cold>"
    document = write("two.xml", b"<a><hot/>" + cold + b"<hot/></a>")
    options = ["--aware", subscriptions, "--bytes", "2KB"]
    done = run("fragment", document, *options, "--output", tmp_path / "parts")
    assert done.exit_code == 0
    assert [part.body for part in parts_of(tmp_path / "parts")] == [b"<a><hot/>", cold, b"<hot/></a>"]
    refused = run("fragment", document, *options, "--elements", 5, "--output", tmp_path / "other")
    assert refused.exit_code == 2
    assert "--aware goes with --bytes only" in refused.stderr

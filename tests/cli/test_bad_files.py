"""Every command that reads a file, given a bad one: a sentence with a code, never a traceback."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twigcast import Index

RunCommand = Callable[..., Any]

KINDS: dict[str, bytes | None] = {
    "missing": None,
    "directory": None,
    "null device": None,
    "long name": None,
    "forbidden": b"x",
    "empty": b"",
    "binary": bytes(range(256)) * 40,
    "not UTF-8": b"ab\xffcd\n//a\n",
    "NUL": b"//a\x00\n",
    "huge line": b"x" * 3_000_000,
    "deep": b"[" * 100_000,
    "deep XML": b"<a>" * 100_000,
    "deep object": b'{"id": ' * 100_000,
    "numbers": b'{"id": ' + b"9" * 5000 + b', "xpath": "//a"}\n',
    "surrogate": b'{"id": "\\ud800", "xpath": "//a"}\n',
    "text": b"just = some : text\n",
    "escaped NUL": b'subscriptions.path = "a\\u0000b"\n[source]\nkind = "directory"\npath = "feed\\u0000"\n',
    "half an index": b"twigcast" + bytes(100),
    "half a store": b"SQLite format 3\x00" + bytes(200),
    "gzip": b"\x1f\x8b\x08\x00" + bytes(30),
}

COMMANDS = [
    "check FILE",
    "check --format jsonl FILE",
    "match --subscriptions FILE DOCUMENT",
    "match --index FILE DOCUMENT",
    "match --subscriptions GOOD FILE",
    "explain --subscriptions FILE --id 1 DOCUMENT",
    "explain --subscription //a FILE",
    "index build --subscriptions FILE --output OUTPUT",
    "index build --subscriptions FILE --format tsv --output OUTPUT",
    "index build --subscriptions GOOD --output DIRECTORY",
    "index stats FILE",
    "subscribe --store FILE --id ada //a",
    "subscribe --store STORE --file FILE",
    "subscribe --store STORE --file FILE --format jsonl",
    "subscribe FILE.toml --id ada //a",
    "unsubscribe --store FILE ada",
    "subscriptions --store FILE",
    "subscriptions FILE",
    "run FILE",
    "dead-letters FILE",
    "dead-letters FILE --retry",
    "simulate FILE.toml",
    "simulate seven --dtd FILE",
    "generate documents --dtd FILE",
    "generate subscriptions --dtd FILE",
    "generate subscriptions --count 1 --output DIRECTORY",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_file_is_a_sentence(run: RunCommand, tmp_path: Path, command: str, kind: str) -> None:
    """The exit code is 0, 1 or 2; a failure is said in one line, with a code."""
    ending = ".toml" if "FILE.toml" in command else ""
    path = made(tmp_path, kind, ending)
    (tmp_path / "d.xml").write_bytes(b"<a/>")
    (tmp_path / "good.txt").write_bytes(b"//a\n")
    (tmp_path / "folder").mkdir(exist_ok=True)
    words = {
        "FILE": path,
        "FILE.toml": path,
        "DOCUMENT": tmp_path / "d.xml",
        "GOOD": tmp_path / "good.txt",
        "OUTPUT": tmp_path / "out.tci",
        "DIRECTORY": tmp_path / "folder",
        "STORE": tmp_path / "store.db",
    }
    done = run(*(words.get(word, word) for word in command.split()))
    said = done.stderr
    assert "Traceback" not in said
    assert "(internal)" not in said
    assert done.exit_code in (0, 1, 2), said
    if done.exit_code == 2 and "Usage:" not in said:
        (line,) = said.splitlines()
        assert re.fullmatch(r"error: .+ \([A-Za-z-]+\)", line)


def made(folder: Path, kind: str, ending: str) -> Path:
    """A bad file of one kind."""
    path = folder / f"bad{ending}"
    if kind == "missing":
        return path
    if kind == "directory":
        path.mkdir()
        return path
    if kind == "null device":
        return Path(os.devnull)
    if kind == "long name":
        return folder / ("n" * 300 + ending)
    content = KINDS[kind]
    assert content is not None
    path.write_bytes(content)
    if kind == "forbidden":
        path.chmod(stat.S_IWUSR)
    return path


def test_a_full_disk_is_a_sentence(run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the operating system while an index is written has its name as code."""
    (tmp_path / "good.txt").write_bytes(b"//a\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", str(tmp_path / "out.tci"))

    monkeypatch.setattr(Index, "save", full)
    done = run("index", "build", "-s", tmp_path / "good.txt", "-o", tmp_path / "out.tci")
    assert done.exit_code == 2
    assert done.stderr == f"error: {tmp_path / 'out.tci'}: No space left on device (ENOSPC)\n"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "error: there is not enough memory (memory)"),
        (RecursionError(), "error: the input is nested too deeply (recursion)"),
        (KeyError("x\x1b[2J"), "error: KeyError: 'x\\x1b[2J' (internal)"),
    ],
)
def test_what_no_one_expects_is_a_sentence_too(
    run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, sentence: str
) -> None:
    """Without ``--debug`` there is no traceback; with it, there is."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("twigcast.cli.check.read_subscriptions", fail)
    done = run("check", tmp_path)
    assert done.exit_code == 2
    assert done.stderr.startswith(sentence)

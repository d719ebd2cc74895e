"""All commands that read a file of subscriptions agree about its lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]

LINES = [
    b'\xef\xbb\xbf{"id": "good", "xpath": "//a"}',
    b"not JSON",
    b"[]",
    b'{"id": "a"}',
    b'{"id": true, "xpath": "//a"}',
    b'{"id": "b", "xpath": "//a["}',
    b'{"id": "good", "xpath": "//b"}',
    b'{"id": "b", "xpath": "//b"}',
    b'{"id": "c\xff", "xpath": "//b"}',
    b'{"id": "\\ud800", "xpath": "//b"}',
    b'{"id": "d", "xpath": "//a[b=\'\\u0000\']"}',
    b'{"id": "e\\n", "xpath": "//b"}',
    b'{"id": " f", "xpath": "//b"}',
    b'{"id": 1, "xpath": "//b"}',
    b'{"id": "1", "xpath": "//b"}',
    b'{"id": "g", "xpath": "//p:a", "namespaces": {"p": "%s"}}' % (b"u" * 40_000),
    b'{"id": "last", "xpath": "//c"}',
]
BAD = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16]


@pytest.mark.parametrize(
    "command",
    [
        "check FILE",
        "subscribe --store STORE --file FILE",
        "match --subscriptions FILE DOCUMENT",
        "index build --subscriptions FILE --output INDEX",
    ],
)
def test_each_command_reports_the_same_lines(
    run: RunCommand, write: Write, tmp_path: Path, command: str
) -> None:
    """Every bad line is reported with file, line and code, the others are used, and the exit code is 1."""
    path = write("s.jsonl", b"\n".join(LINES) + b"\n")
    words = {
        "FILE": path,
        "STORE": tmp_path / "s.db",
        "DOCUMENT": write("d.xml", "<a><b/><c/></a>"),
        "INDEX": tmp_path / "i.tci",
    }
    done = run(*(words.get(word, word) for word in command.split()))
    assert done.exit_code == 1
    found = re.findall(
        rf"^(?:error: )?{re.escape(str(path))}:(\d+): .*\(([a-z-]+)\)$", done.stdout + done.stderr, re.M
    )
    assert [int(line) for line, _ in found] == BAD
    assert [code for _, code in found] == [
        "bad-line", "bad-line", "bad-line", "bad-line", "syntax", "duplicate-id", "duplicate-id", "encoding",
        "character", "character", "unsavable-id", "unsavable-id", "duplicate-id", "too-complex",
    ]  # fmt: skip
    if command.startswith("match"):
        assert [line.split("\t")[1] for line in done.lines] == ["good", "1", "last"]
    if command.startswith("subscribe"):
        assert run("subscriptions", "--store", tmp_path / "s.db", "--count").stdout == "3\n"

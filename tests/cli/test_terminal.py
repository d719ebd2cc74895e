"""Error messages for people and for machines, and progress bars."""

from __future__ import annotations

import json
import time

import pytest

from twigcast.cli.terminal import as_json, complain, escaped, json_line, pointed, progress, sentence, stderr
from twigcast.errors import DocumentError, PatternError, SourceError, SubscriptionError

SYNTAX = PatternError("expected ']'", code="syntax", text="//a[b", column=6, expected="]")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (SYNTAX, "error: x: expected ']' at column 6 (syntax)\n  //a[b\n       ^"),
        (SourceError("no", code="bad-line", path="s.txt", line=3), "error: s.txt:3: no (bad-line)"),
        (SourceError("no", code="unreadable", path="s.txt"), "error: s.txt: no (unreadable)"),
        (
            DocumentError("no", code="malformed", line=2, column=7),
            "error: x: no at line 2, column 7 (malformed)",
        ),
        (FileNotFoundError(2, "No such file", "y"), "error: y: No such file (ENOENT)"),
        (OSError("strange"), "error: x: strange"),
    ],
)
def test_an_error_is_a_sentence_with_its_place(error: Exception, expected: str) -> None:
    """An error message begins with the position."""
    assert sentence(error, "x") == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (SYNTAX, {"code": "syntax", "message": "expected ']'", "line": None, "column": 6}),
        (
            DocumentError("no", code="malformed", line=2, column=7),
            {"code": "malformed", "message": "no", "line": 2, "column": 7},
        ),
        (
            SourceError("no", code="unreadable", path="s"),
            {"code": "unreadable", "message": "no", "line": None, "column": None},
        ),
        (
            SubscriptionError("no", code="unknown-id", id=1),
            {"code": "unknown-id", "message": "no", "line": None, "column": None, "id": 1},
        ),
    ],
)
def test_an_error_is_an_object_for_machines(error: PatternError, expected: dict[str, object]) -> None:
    """The object has code, message, line and column; line and column are null if there are none."""
    assert as_json(error) == expected


def test_no_error_is_null() -> None:
    """Without an error there is no object."""
    assert as_json(None) is None


def test_the_caret_stands_under_its_column_in_a_long_expression() -> None:
    """A long expression is cut around the column, and line ends are shown as blanks."""
    text = "/a" * 200 + "\n!" + "/b" * 200
    expression, caret = pointed(PatternError("no", code="syntax", text=text, column=402)).splitlines()
    assert expression[caret.index("^")] == "!"
    assert expression.startswith("  …")
    assert expression.endswith("…")


def test_without_a_terminal_there_is_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    """The items are yielded unchanged, and nothing is written."""
    with progress("Counting", range(3), total=3) as items:
        assert list(items) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_a_bar_appears_after_a_while(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short loop shows nothing; a long one shows a progress bar on stderr."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("twigcast.cli.terminal.stderr", stderr.__wrapped__)  # a console without the cache
    monkeypatch.setattr("twigcast.cli.terminal.PATIENCE", 0.05)
    with progress("Quick", range(3)) as items:
        list(items)
    assert capsys.readouterr().err == ""
    with progress("Slow", range(3), total=3) as items:
        for _ in items:
            time.sleep(0.1)
    captured = capsys.readouterr()
    assert "Slow" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é \u00a0 日本 \U0001f600", "plain é \u00a0 日本 \U0001f600"),
        ("C:\\temp", "C:\\temp"),
        ("a\tb\nc\rd", r"a\tb\nc\rd"),
        ("\x1b[2J\x07\x7f\x9b", r"\x1b[2J\x07\x7f\x9b"),
        ("\u202egpj.exe\u2028", r"\u202egpj.exe\u2028"),
        ("caf\udce9 \ud800", r"caf\xe9 \ud800"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    """Nothing that comes from others can move the cursor, break a column or hide text."""
    assert escaped(text) == shown
    assert escaped(text).encode()


def test_json_is_json_whatever_the_names() -> None:
    """A path that is not UTF-8 does not end the output."""
    assert json_line({"a": "é"}) == '{"a": "é"}'
    line = json_line({"a": "\udce9\x1b"})
    assert line.encode()
    assert json.loads(line) == {"a": "\udce9\x1b"}


def test_a_message_cannot_inject_escape_sequences(capsys: pytest.CaptureFixture[str]) -> None:
    """Line ends between the lines of a message stay."""
    complain("one\x1b[2J\ntwo")
    assert capsys.readouterr().err == "one\\x1b[2J\ntwo\n"


def test_an_error_is_one_line_whatever_it_names() -> None:
    """A path with a line end does not make two lines."""
    assert sentence(SourceError("no\tno", code="x", path="a\nb")) == r"error: a\nb: no\tno (x)"

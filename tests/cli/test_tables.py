"""Tables on terminals of several widths."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from twigcast.cli.tables import Cell, Column, ColumnKind, figures, print_table

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]
PARTS = [Column("document"), Column("id"), *figures("bytes"), Column("kind", ColumnKind.WORD)]
PARTS.append(Column("text", ColumnKind.EXCERPT))


def drawn(width: int, columns: list[Column], rows: list[list[Cell]], terminal: bool = True) -> list[str]:
    """The lines of a table."""
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, color_system=None)
    print_table(columns, rows, console=console)
    return [line.rstrip() for line in file.getvalue().splitlines()]


@pytest.fixture(params=[80, 160])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The commands believe that stdout is a terminal of this width."""
    columns: int = request.param
    console = Console(width=columns, force_terminal=True, color_system=None, highlight=False)
    monkeypatch.setattr("twigcast.cli.tables.stdout", lambda: console)
    monkeypatch.setattr("twigcast.cli.match._streams", lambda json: False)
    return columns


@pytest.mark.parametrize("width", [80, 160])
def test_a_long_text_narrows_nothing_else(width: int) -> None:
    """The text is last and shortened; path, id, numbers and kind are whole, a long path on several lines."""
    long = "feed/" + "x" * 100 + ".xml"
    rows: list[list[Cell]] = [
        ["feed/1.xml", "desk-1", "1,234–1,300", "element", "<p>" * 100],
        [long, "7", "1–2", "element", "<p/>"],
    ]
    lines = drawn(width, PARTS, rows)
    assert max(map(len, lines)) <= width
    assert lines[0].split() == ["document", "id", "bytes", "kind", "text"]
    assert lines[1].split()[:4] == ["feed/1.xml", "desk-1", "1,234–1,300", "element"]
    assert re.fullmatch(r"(<p>){5}.*…", lines[1].split()[4])
    assert "".join(line.split("  ")[0] for line in lines[2:]) == long


def test_an_error_in_place_of_a_text_is_not_shortened() -> None:
    """Every word of it is there."""
    error = Text("mismatched tag at line 3, column 9, " * 5)
    lines = drawn(80, PARTS, [["feed/1.xml", "", "", "", error], ["b.xml", "1", "1–2", "element", "x" * 99]])
    assert " ".join(" ".join(lines).split()).count("mismatched") == 5


@pytest.mark.parametrize(("width", "tables"), [(40, 5), (80, 2), (160, 1)])
def test_a_table_that_is_too_wide_becomes_several(width: int, tables: int) -> None:
    """No number is cut; each table begins with the first column."""
    names = [f"figure {number}" for number in range(9)]
    row: list[Cell] = ["with-Adv-with-Cov", *(f"{number}23,456" for number in range(9))]
    lines = drawn(width, [Column("strategy", ColumnKind.WORD), *figures(*names)], [row])
    assert max(map(len, lines)) <= width
    assert sum(line.startswith("with-Adv-with-Cov") for line in lines) == tables
    assert [word for line in lines for word in line.split() if "," in word] == row[1:]


def test_what_just_fits_stays_one_table() -> None:
    """With one space between the columns in place of two."""
    rows: list[list[Cell]] = [["x" * 20] * 3]
    assert drawn(62, figures("a", "b", "c"), rows)[1] == " ".join(rows[0])  # type: ignore[arg-type]
    assert drawn(64, figures("a", "b", "c"), rows)[1] == "  ".join(rows[0])  # type: ignore[arg-type]


def test_a_file_gets_one_table_with_whole_texts() -> None:
    """The width of a terminal does not matter then."""
    lines = drawn(80, PARTS, [["a" * 90, "1", "1–2", "element", "b" * 90]], terminal=False)
    assert [line.split() for line in lines[1:]] == [["a" * 90, "1", "1–2", "element", "b" * 90]]


def test_names_cannot_rewrite_the_terminal() -> None:
    """Control characters are escaped, and brackets are no markup, in headers and in cells."""
    lines = drawn(80, [Column("[b]name"), Column("x")], [["\x1b[2J", "[red]"]])
    assert [line.split() for line in lines] == [["[b]name", "x"], [r"\x1b[2J", "[red]"]]


def test_match_select_shows_every_column(run: RunCommand, write: Write, width: int) -> None:
    """In 80 and in 160 columns: document, id, byte range, kind, and the beginning of the text."""
    document = write("a.xml", f"<a><p>{'long ' * 100}</p></a>")
    done = run("match", "-s", write("s.tsv", "ada\t//p\n"), "--select", document)
    at = done.lines[0].index("id ")
    assert "".join(line[:at].rstrip() for line in done.lines[1:]) == str(document)
    assert max(map(len, done.lines)) <= width
    first = done.lines[1].split()[1:]
    assert first[:3] == ["ada", "3–510", "element"]
    assert first[3].startswith("<p>long")


def test_an_unreadable_document_is_shown_beside_counts(run: RunCommand, write: Write, width: int) -> None:
    """The error has a column of its own."""
    good, bad = write("a.xml", "<a/>"), write("b.xml", "<a>")
    done = run("match", "-s", write("s.txt", "//a\n"), "--count", good, bad)
    assert done.exit_code == 1
    assert done.lines[0].split() == ["document", "matches", "error"]
    at = done.lines[0].index("error")
    error = " ".join(line[at:].strip() for line in done.lines[1:])
    assert error.strip() == "no element found at line 1, column 4"


def test_nothing_selected_is_said(run: RunCommand, write: Write, width: int) -> None:
    """An empty table would leave the reader in doubt."""
    done = run("match", "-s", write("s.txt", "//b\n"), "--select", write("a.xml", "<a/>"))
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "nothing is selected\n")


def test_simulate_shows_every_figure(run: RunCommand, width: int) -> None:
    """Two tables in 80 columns, one in 160."""
    arguments = ("simulate", "seven", "--subscriptions", 2, "--documents", 1)
    shown = run(*arguments)
    assert max(map(len, shown.lines)) <= width
    headers = [line for line in shown.lines if line.startswith("strategy")]
    assert len(headers) == (2 if width == 80 else 1)
    assert "…" not in shown.stdout
    words = shown.stdout.split()
    assert {"messages", "advertised", "deliveries", "p99"} <= set(words)
    results = json.loads(run(*arguments, "--json").stdout)["results"]
    assert {f"{result['messages']['publication']:,}" for result in results} <= set(words)

"""``twigcast check``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]


def test_a_good_file_passes_in_silence(run: RunCommand, write: Write) -> None:
    """If all lines are good, the only output is a count on stderr."""
    done = run("check", write("s.txt", "//a\n//b[@c='d']\n"))
    assert (done.exit_code, done.stdout) == (0, "")
    assert "2 subscriptions, all good" in done.stderr


def test_every_bad_line_is_shown_with_a_caret(run: RunCommand, write: Write) -> None:
    """Each bad line is reported with its number, the column, what was expected, and a caret."""
    path = write("s.txt", "//a[\n//b\n//p[person=]\n")
    done = run("check", path)
    assert done.exit_code == 1
    assert [line for line in done.lines if line.startswith(str(path))] == [
        f"{path}:1: expected a name test at column 5 (syntax)",
        f"{path}:3: expected a name test at column 12 (syntax)",
    ]
    assert done.lines[-2:] == ["  //p[person=]", "             ^"]
    assert "1 good, 2 bad" in done.stderr


def test_json_has_an_object_for_each_bad_line(run: RunCommand, write: Write) -> None:
    """A JSON object has line, id, code, message, column and the expression."""
    done = run("check", "--json", write("s.tsv", "ada\t//a\nbob\t//b[\n"))
    (found,) = map(json.loads, done.lines)
    assert (found["line"], found["id"], found["code"], found["column"], found["xpath"]) == (
        2,
        "bob",
        "syntax",
        5,
        "//b[",
    )


def test_an_id_that_comes_twice_is_bad(run: RunCommand, write: Write) -> None:
    """The second use of an id is reported, with the line of the first."""
    done = run("check", write("s.tsv", "ada\t//a\nada\t//b\n"))
    assert done.exit_code == 1
    assert "the id 'ada' is already used on line 1 (duplicate-id)" in done.stdout


def test_a_line_that_is_no_subscription_is_bad(run: RunCommand, write: Write) -> None:
    """A line that is not in the format of its file is reported like any other bad line."""
    done = run("check", write("s.jsonl", '{"id": 1, "xpath": "//a"}\n{"id": 2}\n'))
    assert done.exit_code == 1
    assert ':2: expected "xpath" to be a string (bad-line)' in done.stdout


def test_prefixes_are_bound_by_options(run: RunCommand, write: Write) -> None:
    """A prefix that neither an option nor the file binds is an error."""
    path = write("s.txt", "//n:a\n")
    assert "unbound-prefix" in run("check", path).stdout
    assert run("check", "--namespace", "n=urn:n", path).exit_code == 0


def test_a_namespace_without_uri_is_an_error_of_usage(run: RunCommand, write: Write) -> None:
    """An invalid option ends the command with exit code 2."""
    assert run("check", "--namespace", "n", write("s.txt", "//a\n")).exit_code == 2


def test_a_missing_file_is_one_line_on_stderr(run: RunCommand, tmp_path: Path) -> None:
    """A file that cannot be read is reported in one line, without a traceback, with exit code 2."""
    done = run("check", tmp_path / "none.txt")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: {tmp_path / 'none.txt'}: there is no such file (not-found)\n"


def test_stdin_is_checked_too(run: RunCommand) -> None:
    """``-`` reads the subscriptions from stdin."""
    done = run("check", "-", stdin=b"//a[\n")
    assert done.exit_code == 1
    assert done.lines[0].startswith("-:1:")


def test_of_a_long_expression_the_part_around_the_caret_is_shown(run: RunCommand, write: Write) -> None:
    """Of a very long expression, only the part around the caret is printed."""
    done = run("check", write("s.txt", "/a" * 50 + "[@b='" + "x" * 5000))
    assert max(map(len, done.lines[1:])) < 120


def test_an_unbound_prefix_says_how_a_command_binds_it(run: RunCommand, write: Write) -> None:
    """By an option, a line of the file, or the pipeline file; and each of the first two does."""
    path = write("s.txt", "//cbc:Name\n")
    done = run("check", path)
    assert (
        "the prefix 'cbc' is not bound at column 3: bind it with --namespace cbc=URI, a line "
        '"# namespace cbc=URI" in the file, or [namespaces] in the pipeline file (unbound-prefix)'
    ) in done.stdout
    assert "--namespace cbc=URI" in run("match", "-s", path, "-").stderr
    assert run("check", "--namespace", "cbc=urn:c", path).exit_code == 0
    assert run("check", write("t.txt", "# namespace cbc=urn:c\n//cbc:Name\n")).exit_code == 0

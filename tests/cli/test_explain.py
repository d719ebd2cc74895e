"""``twigcast explain``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]


@pytest.fixture
def document(write: Write) -> Path:
    return write("a.xml", "<n><p><person>Ada</person></p></n>")


def test_a_subscription_is_explained(run: RunCommand, document: Path) -> None:
    """The explanation is printed as lines that name the steps."""
    done = run("explain", "--subscription", "//p[person='Bob']", document)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "person" in done.stdout


def test_json_is_for_machines(run: RunCommand, document: Path) -> None:
    """With ``--json`` the explanation is one object."""
    done = run("explain", "--subscription", "//p[person='Ada']", "--json", document)
    assert isinstance(json.loads(done.stdout), dict)


def test_a_subscription_of_a_file_is_named_by_its_id(run: RunCommand, document: Path, write: Write) -> None:
    """``--id`` selects a subscription of a file, even if other lines are bad."""
    path = write("s.tsv", "bad\t//[\nada\t//p\n")
    assert run("explain", "--subscriptions", path, "--id", "ada", document).exit_code == 0


def test_an_id_of_jsonl_may_be_a_number(run: RunCommand, document: Path, write: Write) -> None:
    """An id that is a number in JSONL is found by its text."""
    path = write("s.jsonl", '{"id": 7, "xpath": "//p"}\n')
    assert run("explain", "--subscriptions", path, "--id", 7, document).exit_code == 0


def test_an_unknown_id_is_one_line_on_stderr(run: RunCommand, document: Path, write: Write) -> None:
    """The error names the id and the file."""
    path = write("s.tsv", "ada\t//p\n")
    done = run("explain", "--subscriptions", path, "--id", "bob", document)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: there is no subscription 'bob' in {path} (unknown-id)\n"


def test_a_bad_subscription_is_shown_with_a_caret(run: RunCommand, document: Path) -> None:
    """The error has the position in the expression, and exit code 1."""
    done = run("explain", "--subscription", "//p[", document)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-2:] == ["  //p[", "      ^"]


def test_a_bad_document_is_one_line_on_stderr(run: RunCommand, write: Write) -> None:
    """The error has the position in the document, and exit code 1."""
    done = run("explain", "--subscription", "//p", write("a.xml", "<n>"))
    assert (done.exit_code, done.stdout) == (1, "")
    assert "line 1" in done.stderr


@pytest.mark.parametrize(
    "options", [[], ["--subscriptions", "s.txt"], ["-x", "//a", "-s", "s.txt"], ["-x", "//a", "--id", "1"]]
)
def test_what_to_explain_must_be_clear(run: RunCommand, options: list[str]) -> None:
    """The command needs either an expression, or a file and an id."""
    assert run("explain", *options, "a.xml").exit_code == 2

"""``twigcast explain``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.rewriting.mapping_files.publisher import DOCUMENT, publisher

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
    "options",
    [
        [],
        ["--subscriptions", "s.txt"],
        ["--index", "s.tci"],
        ["--id", "1"],
        ["-x", "//a", "-s", "s.txt"],
        ["-x", "//a", "--id", "1"],
        ["-x", "//a", "-i", "s.tci", "--id", "1"],
        ["-s", "s.txt", "-i", "s.tci", "--id", "1"],
    ],
)
def test_what_to_explain_must_be_clear(run: RunCommand, options: list[str]) -> None:
    """The command needs either an expression, or a file and an id."""
    assert run("explain", *options, "a.xml").exit_code == 2


def test_a_subscription_of_an_index_is_explained(
    run: RunCommand, document: Path, write: Write, tmp_path: Path
) -> None:
    """The text is that of its user; an id that is a number is found by its text."""
    path = tmp_path / "s.tci"
    lines = '{"id": 7, "xpath": "//p[person = \'Bob\']"}\n{"id": "ada", "xpath": "//p"}\n'
    assert run("index", "build", "-s", write("s.jsonl", lines), "-o", path).exit_code == 0
    done = run("explain", "--index", path, "--id", "7", document)
    assert (done.exit_code, done.stdout.splitlines()) == (
        0,
        [
            "✗ //p[person = 'Bob']",
            "  ✗ //p                0 of 1   /n/p   ← stopped here",
            "      ✗ person='Bob'   0 of 1   found 'Ada'",
        ],
    )
    assert run("explain", "--index", path, "--id", "ada", document).stdout.startswith("✓")
    unknown = run("explain", "--index", path, "--id", "bob", document)
    assert unknown.stderr == f"error: there is no subscription 'bob' in {path} (unknown-id)\n"


def test_an_index_is_explained_with_prefixes(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """An index keeps URIs; they are shown with the prefixes of the options, or of the document."""
    path = tmp_path / "s.tci"
    subscriptions = write("s.tsv", "ada\t//q:a[q:b]\tq=urn:u\n")
    assert run("index", "build", "-s", subscriptions, "-o", path).exit_code == 0
    document = write("a.xml", "<d:a xmlns:d='urn:u'/>")
    assert run("explain", "-i", path, "--id", "ada", document).lines[0] == "✗ //d:a[d:b]"
    done = run("explain", "-i", path, "--id", "ada", "-n", "x=urn:u", document)
    assert done.lines[0] == "✗ //x:a[x:b]"


def test_json_has_the_same_facts(run: RunCommand, document: Path) -> None:
    """The values that were found, the note about them and the hints are in the object."""
    done = run("explain", "-x", "//p[person='Bob']", "--json", document)
    found = json.loads(done.stdout)
    assert found["text"] == "//p[person='Bob']"
    [predicate] = found["alternatives"][0]["steps"][0]["predicates"]
    assert (predicate["note"], predicate["values"], predicate["more"]) == ("found 'Ada'", ["'Ada'"], 0)
    missing = json.loads(run("explain", "-x", "//Person", "--json", document).stdout)
    assert "did you mean" in missing["alternatives"][0]["steps"][0]["hint"]


def test_values_cannot_write_to_the_terminal(run: RunCommand, write: Write) -> None:
    """Control characters of a document are escaped, also in values and hints."""
    document = write("a.xml", "<n a='&#x202e;&#x9b;2J&#10;x'/>")
    done = run("explain", "-x", "//n[@a='b']", document)
    assert "found '\\u202e\\x9b2J\\nx'" in done.stdout


def test_the_work_is_limited(run: RunCommand, write: Write) -> None:
    """A subscription that takes too many steps on the document is an error with a code."""
    document = write("a.xml", "<a>" + "<b><c/></b>" * 3000 + "</a>")
    done = run("explain", "-x", "//b[following::c[preceding::b[following::c = 'x']]]", document)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "(too-costly)" in done.stderr


def test_an_image_is_explained(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """With the names and values that the image of the document has."""
    mappings = publisher(tmp_path / "mappings").parent
    done = run(
        *("explain", "-x", "//course[instructor/name='Zhang']", "--mappings", mappings),
        write("cmu.xml", DOCUMENT),
    )
    assert done.exit_code == 0
    assert "/catalogue/course" in done.stdout
    assert "found 'Ailamaki'" in done.stdout
    index = tmp_path / "s.tci"
    run("index", "build", "-s", write("s.txt", "//course[code]\n"), "-o", index)
    done = run("explain", "--index", index, "--id", "1", "--mappings", mappings, write("cmu.xml", DOCUMENT))
    assert done.lines[0].startswith("✓")

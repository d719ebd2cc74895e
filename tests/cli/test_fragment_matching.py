"""``twigcast match`` and ``twigcast explain`` for documents in fragments, and for large documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twigcast.fragmenting import MANIFEST_NAME, Manifest, Spans, encode, encode_manifest, fragment

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]
BODY = b"<r><a/><b/><c/></r>"


@pytest.fixture
def names(write: Write) -> Path:
    """A file of four subscriptions with ids."""
    return write("names.tsv", "a\t/r/a\nboth\t/r[a][c]\nwithout\t/r[not(x)]\nnone\t//x\n")


@pytest.fixture
def folder(write: Write, tmp_path: Path) -> Path:
    """The fragments of a document."""
    for part in fragment(BODY, doc_id="d", cut=Spans(elements=1)):
        write(f"parts/{part.number}.tcf", encode(part))
    return tmp_path / "parts"


def test_fragments_have_the_answer_of_the_whole(run: RunCommand, names: Path, folder: Path) -> None:
    """The document is named by its id."""
    done = run("match", "-s", names, "--fragments", folder)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.lines == ["d\ta", "d\tboth", "d\twithout"]
    done = run("match", "-s", names, "--fragments", "--schedule", "S", "--window", "0", "--trusted", folder)
    assert done.lines == ["d\ta", "d\tboth", "d\twithout"]


def test_early_answers_come_with_their_share(run: RunCommand, names: Path, folder: Path) -> None:
    """Each id comes once: when it is certain, or at the end."""
    parts = fragment(BODY, doc_id="d", cut=Spans(elements=1))
    (folder / MANIFEST_NAME).write_bytes(encode_manifest(Manifest.of(parts)))
    done = run("match", "-s", names, "--fragments", "--early", "--json", folder)
    answers = [json.loads(line) for line in done.lines]
    assert [answer["ids"] for answer in answers] == [["a"], ["both", "without"]]
    assert 0 < answers[0]["share"] < 1
    assert "share" not in answers[1]


def test_a_missing_fragment_is_named(run: RunCommand, names: Path, folder: Path) -> None:
    """The exit code is that of a document that cannot be read."""
    (folder / "2.tcf").unlink()
    (folder / "3.tcf").write_bytes(b"not a fragment")
    done = run("match", "-s", names, "--fragments", folder)
    assert done.exit_code == 1
    assert "3.tcf: " in done.stderr
    assert "d: the document is incomplete: fragments 2, 3 missing (fragments-missing)" in done.stderr


@pytest.mark.parametrize("cores", ["0", "1", "2"])
def test_a_large_document_on_several_cores(run: RunCommand, names: Path, write: Write, cores: str) -> None:
    """The answers are those of one core; a bad document is reported with its line."""
    body = b"<r>\n" + b"<a/>" * 50_000 + b"<b/>\n" * 300_000 + b"<c/></r>"
    good, bad = write("good.xml", body), write("bad.xml", body.replace(b"<c/>", b"<c>"))
    done = run("match", "-s", names, "--cores", cores, good, bad)
    assert done.lines == [f"{good}\ta", f"{good}\tboth", f"{good}\twithout"]
    assert done.exit_code == 1
    whole = run("match", "-s", names, bad)
    assert "line 300002" in whole.stderr
    assert done.stderr == whole.stderr


def test_a_subscription_that_needs_a_larger_document_than_allowed_is_named(
    run: RunCommand, write: Write
) -> None:
    """With the option that raises the limit; the others are answered."""
    names = write("names.tsv", "a\t/r/a\nlast\t/r/*[last()][self::c]\n")
    document = write("d.xml", BODY)
    done = run("match", "-s", names, "--cores", "1", "--max-bytes", "10", "--json", document)
    [answer] = [json.loads(line) for line in done.lines]
    assert (done.exit_code, answer["ids"], answer["error"]) == (1, ["a"], None)
    assert [(each["id"], each["error"]["code"]) for each in answer["refused"]] == [("last", "too-large")]
    assert f"error: {document}: last: it can be decided only on the whole document" in done.stderr
    assert "--limit bytes=N raises it" in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--fragments", "--cores", "2"),
        ("--fragments", "--select"),
        ("--cores", "2", "--structure"),
        ("--early",),
        ("--window", "3"),
    ],
)
def test_options_that_do_not_go_together(
    run: RunCommand, names: Path, folder: Path, options: tuple[str, ...]
) -> None:
    """They are refused before anything is read."""
    assert run("match", "-s", names, *options, folder).exit_code == 2


def test_explain_says_which_fragment_decided(run: RunCommand, folder: Path) -> None:
    """Below the explanation of the whole document."""
    done = run("explain", "-x", "/r[a]/b", "--fragments", folder)
    assert done.lines[-1] == "certain after fragment 3 (11 bytes)"
    done = run("explain", "-x", "/r/x", "--fragments", folder)
    assert done.lines[-1] == "decided at the end, after 4 fragments: it does not match"
    (folder / "4.tcf").unlink()
    done = run("explain", "-x", "/r[a]/b", "--fragments", "--json", folder)
    assert json.loads(done.lines[-1])["decided"].startswith("certain after fragment 3")

"""``twigcast index``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twigcast import Index

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]


@pytest.fixture
def built(run: RunCommand, write: Write, tmp_path: Path) -> Path:
    """An index file of two subscriptions."""
    path = tmp_path / "s.tci"
    done = run("index", "build", "-s", write("s.tsv", "ada\t//p\nbob\t//q\n"), "--output", path)
    assert (done.exit_code, done.stdout) == (0, "")
    return path


def test_an_index_file_matches_like_the_subscriptions(run: RunCommand, built: Path, write: Write) -> None:
    """``match`` opens the index file that was built."""
    document = write("a.xml", "<q/>")
    assert run("match", "--index", built, document).lines == [f"{document}\tbob"]


def test_limits_hold_for_an_index_file_too(run: RunCommand, built: Path, write: Write) -> None:
    """Limits apply to a run; they are not stored in the index file."""
    done = run("match", "--index", built, "--max-depth", 1, "--json", write("a.xml", "<a><q/></a>"))
    assert json.loads(done.stdout)["error"]["code"] == "too-deep"


def test_stats_say_what_a_file_holds(run: RunCommand, built: Path) -> None:
    """Statistics are printed as lines, or with ``--json`` as an object."""
    assert "subscriptions" in run("index", "stats", built).stdout
    assert json.loads(run("index", "stats", "--json", built).stdout)["subscriptions"] == 2


def test_bad_subscriptions_are_left_out_and_said(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """The index file has the good subscriptions, and the exit code is 1."""
    path = tmp_path / "s.tci"
    done = run("index", "build", "-s", write("s.txt", "//p\n//[\n"), "-o", path)
    assert done.exit_code == 1
    assert "1 of 2 subscriptions refused" in done.stderr
    assert path.exists()


@pytest.mark.parametrize("content", [b"", b"//p\n", b"\0" * 4096])
def test_what_is_no_index_file_is_refused(run: RunCommand, write: Write, content: bytes) -> None:
    """The error is one line on stderr, with exit code 2."""
    done = run("match", "--index", write("s.tci", content), write("a.xml", "<p/>"))
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_an_index_file_remembers_the_prefixes_of_options_and_lines(
    run: RunCommand, write: Write, tmp_path: Path
) -> None:
    """So that more subscriptions can be added to the opened index."""
    path, file = write("s.txt", "# namespace x=urn:x\n//x:a[y:b]\n"), tmp_path / "s.tci"
    assert run("index", "build", "-s", path, "-o", file, "-n", "y=urn:y").exit_code == 0
    index = Index.open(file)
    assert index.namespaces == {"x": "urn:x", "y": "urn:y"}
    index.add("more", "//y:b")
    assert index.match(b"<a xmlns='urn:x'><b xmlns='urn:y'/></a>").ids == ["2", "more"]

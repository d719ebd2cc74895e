"""``twigcast schema infer``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from twigcast.schema import read_dtd

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]


def test_a_dtd_is_written_for_documents(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """With what occurs in any of them."""
    write("feed/1.xml", '<r xmlns:p="urn:p"><p:x k="1">t</p:x></r>')
    write("feed/2.xml", '<r xmlns:p="urn:p"><p:x/><p:x/><y/></r>')
    done = run("schema", "infer", tmp_path / "feed", "--output", tmp_path / "r.dtd")
    assert (done.exit_code, done.stdout) == (0, "")
    graph = read_dtd(tmp_path / "r.dtd")
    assert [(child.name, child.most) for child in graph.children("r")] == [("p:x", None), ("y", 1)]
    assert graph.expanded("p:x") == ("urn:p", "x")


def test_the_dtd_goes_to_stdout(run: RunCommand, write: Write) -> None:
    """Where no file is named."""
    done = run("schema", "infer", write("a.xml", "<a><b>t</b></a>"))
    assert done.lines == ["<!ELEMENT a (b)>", "<!ELEMENT b (#PCDATA)>"]


def test_a_malformed_document_is_reported(run: RunCommand, write: Write) -> None:
    """With its name and place."""
    done = run("schema", "infer", write("good.xml", "<a/>"), bad := write("bad.xml", "<a><b></a>"))
    assert done.exit_code == 1
    assert f"error: {bad}: " in done.stderr
    assert "malformed" in done.stderr

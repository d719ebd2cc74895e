"""``twigcast schema infer``."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


def test_one_bad_document_does_not_stop_the_others(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """It is reported with its name and place, and the schema is that of the others."""
    files = [
        write("a.xml", "<a><b/></a>"),
        bad := write("bad.xml", "<a><c></a>"),
        write("z.xml", "<a><d/></a>"),
    ]
    gone = tmp_path / "gone.xml"
    done = run("schema", "infer", *files, gone)
    assert done.exit_code == 1
    assert f"error: {bad}: mismatched tag at line 1, column 9 (malformed)" in done.stderr
    assert f"error: {gone}: there is no such file" in done.stderr
    assert "2 of 4 documents left out" in done.stderr
    assert done.lines == ["<!ELEMENT a (b?, d?)>", "<!ELEMENT b EMPTY>", "<!ELEMENT d EMPTY>"]


def test_no_good_document_gives_no_schema(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """Nothing is written."""
    done = run("schema", "infer", write("bad.xml", "<a>"), "--output", tmp_path / "a.dtd")
    assert (done.exit_code, done.stdout) == (1, "")
    assert not (tmp_path / "a.dtd").exists()


@pytest.mark.parametrize(
    ("limit", "code"), [("bytes=15", "too-large"), ("depth=2", "too-deep"), ("attributes=1", "too-many-")]
)
def test_limits(run: RunCommand, write: Write, limit: str, code: str) -> None:
    """Those of documents, with what raises them; a document beyond one is not parsed for its schema."""
    large = write("large.xml", "<a><b><c k='1' l='2'/></b></a>")
    done = run("schema", "infer", write("a.xml", "<a><b/></a>"), large, "--limit", limit)
    assert done.exit_code == 1
    assert re.search(
        rf"error: {re.escape(str(large))}: .*--limit {limit[:-2]}.*N raises it \({code}", done.stderr
    )
    assert done.lines == ["<!ELEMENT a (b)>", "<!ELEMENT b EMPTY>"]

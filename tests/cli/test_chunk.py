"""Tests of ``twigcast chunk``: the plan, the files, the answers, and documents that break off."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twigcast.cli.program import app
from twigcast.cli.terminal import stderr
from twigcast.document import read

DTD = """<!ELEMENT site (people, items)><!ELEMENT people (person*)><!ELEMENT person (name, age?)>
<!ELEMENT items (item*)><!ELEMENT item (name)><!ELEMENT name (#PCDATA)><!ELEMENT age (#PCDATA)>"""
BODY = (
    "<site><people>"
    + "".join(f"<person><name>p{n}</name><age>{n}</age></person>" for n in range(30))
    + "</people><items>"
    + "".join(f"<item><name>i{n}</name></item>" for n in range(30))
    + "</items></site>"
)
QUERIES = """/site/people/person[age > 27]/name
/site/items/item[name = 'i3']
/site/people/person[2]/name
/site/person
//item/following::x
"""


@pytest.fixture
def files(write: Callable[..., Path]) -> dict[str, Path]:
    """A document, its schema and queries."""
    return {
        "document": write("big.xml", BODY),
        "schema": write("site.dtd", DTD),
        "queries": write("q.txt", QUERIES),
    }


def arguments(files: dict[str, Path], *more: str) -> list[str]:
    return ["chunk", str(files["document"]), "--queries", str(files["queries"]), *more]


def test_plan_shows_chunks_and_what_never_matches(run: Callable[..., Any], files: dict[str, Path]) -> None:
    """The picture names the prefixes, queries without a target, and those that need everything."""
    done = run(*arguments(files, "--schema", str(files["schema"]), "--sample", "--plan"))
    assert done.exit_code == 0
    assert "5 queries" in done.stdout
    assert "1 never matches by the schema (4: site has no child person)" in done.stdout
    assert "1 needs the whole document (5: following::)" in done.stdout
    assert "person" in done.stdout
    assert "divided" in done.stdout


def test_run_prints_answers_with_byte_ranges(run: Callable[..., Any], files: dict[str, Path]) -> None:
    """As JSON: the content is that of the range."""
    done = run(*arguments(files, "--schema", str(files["schema"]), "--run", "--json", "--part-bytes", "200"))
    assert done.exit_code == 0
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    found = sorted((answer["query"], answer["content"]) for answer in answers)
    assert [str(query) for query, _ in found] == ["1", "1", "2", "3"]
    assert found[0][1] == "<name>p28</name>"
    assert all(BODY[answer["start"] : answer["end"]] == answer["content"] for answer in answers)


def test_lxml_and_compressed_documents_have_the_same_answers(
    run: Callable[..., Any], files: dict[str, Path]
) -> None:
    """By both engines, from a sample, with .gz."""
    compressed = files["document"].with_name("big.xml.gz")
    compressed.write_bytes(gzip.compress(BODY.encode()))
    plain = run(*arguments(files, "--sample", "--run"))
    other = run(*arguments(files | {"document": compressed}, "--sample", "--run", "--engine", "lxml"))
    assert plain.exit_code == other.exit_code == 0
    assert sorted(plain.stdout.splitlines()) == sorted(other.stdout.splitlines())


def test_chunks_are_written_as_documents(
    run: Callable[..., Any], files: dict[str, Path], tmp_path: Path
) -> None:
    """Each part can be read, and the scheme is written last; the folder must be empty."""
    into = tmp_path / "chunks"
    command = arguments(files, "--sample", "--into", str(into), "--part-bytes", "300")
    assert run(*command).exit_code == 0
    scheme = json.loads((into / "scheme.json").read_text())
    assert scheme["complete"] is True
    parts = [part for chunk in scheme["chunks"] for part in chunk["parts"]]
    assert len(parts) > 5
    assert all(read((into / part).read_bytes()).root.local == "site" for part in parts)
    assert {path.name[0] for path in into.rglob("*")} != {"."}
    again = run(*command)
    assert (again.exit_code, "chunk-folder" in again.stderr) == (2, True)


def test_what_was_complete_is_kept(run: Callable[..., Any], files: dict[str, Path], tmp_path: Path) -> None:
    """A truncated document: exit code 1, the error with its place, and the whole records."""
    files["document"].write_text(BODY[:700])
    into = tmp_path / "chunks"
    done = run(
        *arguments(files, "--schema", str(files["schema"]), "--into", str(into), "--part-bytes", "100")
    )
    assert done.exit_code == 1
    assert "truncated" in done.stderr
    scheme = json.loads((into / "scheme.json").read_text())
    assert (scheme["complete"], scheme["error"]["offset"]) == (False, 700)
    parts = [into / part for chunk in scheme["chunks"] for part in chunk["parts"]]
    assert parts
    assert all(read(part.read_bytes()).root.local == "site" for part in parts)
    assert not list(into.rglob(".*"))


def test_a_document_that_is_not_of_the_schema_is_a_note(
    run: Callable[..., Any], files: dict[str, Path]
) -> None:
    """The answers are those of the whole document, and the first pair of names is said."""
    files["document"].write_text(BODY.replace("<items>", "<items><person><name>x</name></person><extra/>"))
    files["queries"].write_text("//person[name = 'x']\n")
    done = run(*arguments(files, "--schema", str(files["schema"]), "--run"))
    assert done.exit_code == 0
    column = BODY.index("<items>") + len("<items>") + 1
    assert f"has a child person of items at line 1, column {column:,}, which the plan does" in done.stderr
    assert "and 1 more such pairs" in done.stderr
    assert [line.split("\t")[-1] for line in done.lines] == ["<person><name>x</name></person>"]


def test_something_to_plan_from_is_needed(run: Callable[..., Any], files: dict[str, Path]) -> None:
    """Neither a schema nor a sample is a mistake of usage."""
    assert run(*arguments(files, "--plan")).exit_code == 2


def test_bad_queries_are_listed_and_the_others_go_on(run: Callable[..., Any], files: dict[str, Path]) -> None:
    """The exit code is 1."""
    files["queries"].write_text("/site/items/item[name = 'i3']\n/site/[\n")
    done = run(*arguments(files, "--sample", "--run"))
    assert done.exit_code == 1
    assert "q.txt" in done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_pieces_on_cores_have_the_answers_of_the_single_pass(
    run: Callable[..., Any], files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the same order for each query; --cores goes with --run only."""
    from twigcast.chunking import running

    usual = running.run_queries
    monkeypatch.setattr("twigcast.chunking.run_queries", lambda *a, **k: usual(*a, **k, piece_bytes=300))
    command = arguments(files, "--sample", "--part-bytes", "200")
    single, pieces = run(*command, "--run"), run(*command, "--run", "--cores", "2")
    assert single.exit_code == pieces.exit_code == 0
    assert sorted(single.stdout.splitlines()) == sorted(pieces.stdout.splitlines())
    assert run(*command, "--plan", "--cores", "2").exit_code == 2


def test_ranges_have_no_content(run: Callable[..., Any], files: dict[str, Path]) -> None:
    """Four columns, and a note that match is faster for ids alone; with lxml there is no such note."""
    plain = run(*arguments(files, "--sample", "--run"))
    ranges = run(*arguments(files, "--sample", "--run", "--ranges"))
    assert [line.split("\t")[:4] for line in plain.stdout.splitlines()] == [
        line.split("\t") for line in ranges.stdout.splitlines()
    ]
    assert "twigcast match is faster" in ranges.stderr
    assert "twigcast match is faster" not in plain.stderr
    parsed = run(*arguments(files, "--sample", "--run", "--ranges", "--json", "--engine", "lxml"))
    assert all(json.loads(line)["content"] is None for line in parsed.stdout.splitlines())
    assert "twigcast match is faster" not in parsed.stderr


def test_values_and_namespaces_are_printed(run: Callable[..., Any], files: dict[str, Path]) -> None:
    """A value as XPath writes it, by every engine; an element with its namespaces, or as the bare range."""
    files["document"].write_text(
        BODY.replace("<site>", '<site xmlns:p="u">').replace("<age>", "<age p:k=''>")
    )
    files["queries"].write_text("/site/people/person[2]/age\ncount(//person)\n//age > 99\nstring(//name)\n")
    for engine in ("auto", "select", "lxml"):
        done = run(*arguments(files, "--sample", "--run", "--engine", engine))
        shown = sorted(line.split("\t")[-1] for line in done.stdout.splitlines())
        assert shown == ["30", """<age xmlns:p="u" p:k=''>1</age>""", "false", "p0"]
    bare = run(*arguments(files, "--sample", "--run", "--parts", "range"))
    assert "<age p:k=''>1</age>" in bare.stdout
    assert run(*arguments(files, "--plan", "--sample", "--parts", "range")).exit_code == 2


def test_a_costly_query_is_named_and_the_others_are_answered(
    run: Callable[..., Any], files: dict[str, Path]
) -> None:
    """The exit code is 1; so it is for one that is refused."""
    files["document"].write_text("<r>" + "<a><b>1</b></a>" * 3000 + "</r>")
    files["queries"].write_text(f"/r/a[1]/b\n//a[not(b = preceding::b)]\n{'-' * 50000}1\n")
    done = run(*arguments(files, "--sample", "--run"))
    assert (done.exit_code, [line.split("\t")[-1] for line in done.lines]) == (1, ["<b>1</b>"])
    assert "the query 2 on part 1" in done.stderr
    assert "(too-costly)" in done.stderr
    assert "(too-complex)" in done.stderr


def test_contents_are_text_in_any_encoding(run: Callable[..., Any], files: dict[str, Path]) -> None:
    """The bytes of an answer are decoded as the document says."""
    files["queries"].write_text("/site/items/item[2]/name\n")
    for encoding in ("UTF-16", "Shift_JIS", "ISO-8859-1"):
        name = "é" if encoding == "ISO-8859-1" else "表"
        text = f'<?xml version="1.0" encoding="{encoding}"?>{BODY.replace("i1<", name + "<")}'
        files["document"].write_bytes(text.encode(encoding))
        done = run(*arguments(files, "--sample", "--run"))
        assert [line.split("\t")[-1] for line in done.stdout.splitlines()] == [f"<name>{name}</name>"]


def test_a_broken_document_is_planned_from_what_comes_before(
    run: Callable[..., Any], files: dict[str, Path]
) -> None:
    """The sample ends at the error, and answers before it stand; the plan alone says that it is broken."""
    files["document"].write_text(BODY[:1600] + "</x>" + BODY[1600:])
    files["queries"].write_text("/site/people/person[age = 3]/name\n")
    done = run(*arguments(files, "--sample", "--run"))
    assert done.exit_code == 1
    assert [line.split("\t")[-1] for line in done.stdout.splitlines()] == ["<name>p3</name>"]
    assert "(malformed)" in done.stderr
    shown = run(*arguments(files, "--sample", "--plan"))
    assert (shown.exit_code, "person" in shown.stdout, "(malformed)" in shown.stderr) == (1, True, True)


def test_a_compressed_document_that_is_cut_off_is_read_as_far_as_it_goes(
    run: Callable[..., Any], files: dict[str, Path]
) -> None:
    """Whatever its name is; the error says that the file is broken."""
    packed = gzip.compress(BODY.encode(), mtime=0)
    files["document"].write_bytes(packed[: len(packed) * 3 // 4])
    files["queries"].write_text("/site/people/person[age = 3]/name\n")
    done = run(*arguments(files, "--sample", "--run"))
    assert done.exit_code == 1
    assert "(truncated)" in done.stderr
    assert "(unreadable)" in done.stderr
    assert [line.split("\t")[-1] for line in done.stdout.splitlines()] == ["<name>p3</name>"]


def test_answers_go_to_stdout_beside_a_progress_bar(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bar on the terminal must not take what is written to a file."""
    command = arguments(files, "--sample", "--run", "--json")
    app(command, standalone_mode=False)
    expected = capsys.readouterr().out
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("twigcast.cli.chunk.stderr", stderr.__wrapped__)  # a console without the cache
    monkeypatch.setattr("twigcast.cli.chunk.PATIENCE", -1)
    app(command, standalone_mode=False)
    captured = capsys.readouterr()
    assert captured.out == expected != ""
    assert "running the last queries" in captured.err

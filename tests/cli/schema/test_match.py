"""``twigcast schema match``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twigcast.rewriting import read_mapping_file

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]

TARGET = """<!ELEMENT catalogue (course*)> <!ELEMENT course (code?, title?, instructor*)>
<!ELEMENT instructor (name?, email?)> <!ELEMENT code (#PCDATA)> <!ELEMENT title (#PCDATA)>
<!ELEMENT name (#PCDATA)> <!ELEMENT email (#PCDATA)>"""
SOURCE = """<!ELEMENT cmu (Course*)> <!ELEMENT Course (CourseTitle?, Lecturer?, CRN?)>
<!ATTLIST Course Code CDATA #IMPLIED>
<!ELEMENT CourseTitle (#PCDATA)> <!ELEMENT Lecturer (#PCDATA)> <!ELEMENT CRN (#PCDATA)>"""
PAIRS = {
    "cmu": "catalogue",
    "cmu/Course": "catalogue/course",
    "cmu/Course/@Code": "catalogue/course/code",
    "cmu/Course/CourseTitle": "catalogue/course/title",
    "cmu/Course/Lecturer": "catalogue/course/instructor/name",
}


@pytest.fixture
def schemas(write: Write) -> tuple[Path, Path]:
    return write("cmu.dtd", SOURCE), write("global/catalogue.dtd", TARGET)


def test_the_proposal_is_a_mapping_file(run: RunCommand, tmp_path: Path, schemas: tuple[Path, Path]) -> None:
    """It can be used at once: paths are relative to it, and each pair has its evidence as a comment."""
    output = tmp_path / "cmu.toml"
    done = run("schema", "match", *schemas, "-o", output)
    assert done.exit_code == 0
    file = read_mapping_file(output)
    assert file.pairs == PAIRS
    assert file.mapping().name == "cmu"
    text = output.read_text()
    assert 'target = "global/catalogue.dtd"' in text
    assert "name 0.66, thesaurus lecturer~instructor" in text
    assert "#   cmu/Course/CRN" in text
    assert run("schema", "check", output).exit_code == 0


def test_without_a_file_there_is_a_table(run: RunCommand, schemas: tuple[Path, Path]) -> None:
    """All places of the source are in it, also those without a counterpart."""
    done = run("schema", "match", *schemas)
    assert "cmu/Course/Lecturer" in done.stdout
    assert "cmu/Course/CRN" in done.stdout


def test_json(run: RunCommand, schemas: tuple[Path, Path]) -> None:
    """One object for each place of the source."""
    found = [json.loads(line) for line in run("schema", "match", "--json", *schemas).lines]
    assert {each["source"]: each["target"] for each in found} == {**PAIRS, "cmu/Course/CRN": None}
    assert all(0.45 <= each["score"] <= 1 for each in found if each["target"])


def test_decisions_of_a_person_stay(run: RunCommand, tmp_path: Path, schemas: tuple[Path, Path]) -> None:
    """A file that is there keeps its pairs and comments; only places without a decision get a proposal."""
    output = tmp_path / "cmu.toml"
    output.write_text(
        'mapping = "cmu"  # ours\nsource = "cmu.dtd"\ntarget = "global/catalogue.dtd"\n\n'
        '[match]\n"cmu/Course/Lecturer" = "catalogue/course/instructor/email"  # they write addresses\n\n'
        '[unmatched]\nkeep = ["cmu/Course/CRN"]\n'
    )
    done = run("schema", "match", *schemas, "-o", output)
    assert "2 places decided before" in done.stderr
    text = output.read_text()
    assert "# they write addresses" in text
    assert "# ours" in text
    assert "CRN" not in done.stdout
    pairs = read_mapping_file(output).pairs
    assert pairs == {**PAIRS, "cmu/Course/Lecturer": "catalogue/course/instructor/email"}


def test_documents_are_enough(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """Without a schema of the source, one is inferred and written beside the mapping file."""
    write("feed/1.xml", '<cmu><Course Code="1"><Lecturer>Ada</Lecturer></Course></cmu>')
    done = run("schema", "match", tmp_path / "feed", write("c.dtd", TARGET), "-o", tmp_path / "cmu.toml")
    assert "cmu.dtd: 3 elements, inferred from the documents" in done.stderr
    assert read_mapping_file(tmp_path / "cmu.toml").mapping().source.root.key == "cmu"


def test_namespaces_have_the_prefixes_of_their_schema(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """A place is written as a person would write it, and is found again."""
    body = '<c:cmu xmlns:c="urn:cmu" xmlns="urn:x"><Course><c:Code>1</c:Code></Course></c:cmu>'
    output = tmp_path / "cmu.toml"
    run("schema", "match", write("1.xml", body), write("c.dtd", TARGET), "-o", output)
    file = read_mapping_file(output)
    assert file.pairs["c:cmu/Course/c:Code"] == "catalogue/course/code"
    assert file.mapping().source.root.key == "Q{urn:cmu}cmu"


def test_values_and_earlier_mappings_are_evidence(
    run: RunCommand, write: Write, tmp_path: Path, schemas: tuple[Path, Path]
) -> None:
    """--documents and --learn: names and e-mail addresses that are the wrong way round are found."""
    body = "<t><Course><mail>Ada Hu</mail><CRN>1</CRN><instructorName>a@b.org</instructorName></Course></t>"
    documents = write("t.xml", body)
    plain = [json.loads(line) for line in run("schema", "match", "--json", documents, schemas[1]).lines]
    assert {each["source"]: each["target"] for each in plain}["t/Course/CRN"] is None
    write(
        "mappings/cmu.toml",
        'mapping = "cmu"\nsource = "../cmu.dtd"\ntarget = "../global/catalogue.dtd"\n[match]\n'
        '"cmu/Course/Lecturer" = "catalogue/course/instructor/name"\n'
        '"cmu/Course/CRN" = "catalogue/course/code"\n'
        '[[test]]\nxml = "<cmu><Course><Lecturer>Grace Hopper</Lecturer></Course></cmu>"\n',
    )
    done = run("schema", "match", "--json", documents, schemas[1], "--learn", tmp_path / "mappings")
    found = {each["source"]: each["target"] for each in map(json.loads, done.lines)}
    assert found["t/Course/CRN"] == "catalogue/course/code"
    assert found["t/Course/instructorName"] == "catalogue/course/instructor/email"


def test_a_thesaurus_of_ones_own(run: RunCommand, write: Write, schemas: tuple[Path, Path]) -> None:
    """Its groups are added to those of the package."""
    words = write("words.txt", "crn, code\n")
    source = write("s.dtd", "<!ELEMENT s (Course*)> <!ELEMENT Course (CRN?)> <!ELEMENT CRN (#PCDATA)>")
    done = run("schema", "match", "--json", source, schemas[1], "--thesaurus", words)
    found = {each["source"]: each["target"] for each in map(json.loads, done.lines)}
    assert found["s/Course/CRN"] == "catalogue/course/code"


def test_neither_schema_nor_documents(run: RunCommand, write: Write, schemas: tuple[Path, Path]) -> None:
    """The error says what was expected."""
    done = run("schema", "match", write("words.txt", "hello"), schemas[1])
    assert done.exit_code == 2
    assert "words.txt: expected a schema (*.dtd, *.xsd) or documents (no-documents)" in done.stderr


def test_documents_beyond_a_limit_are_left_out(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """They are reported with what raises the limit, and the schema is that of the others."""
    write("feed/1.xml", '<cmu><Course Code="1"><Lecturer>Ada</Lecturer></Course></cmu>')
    large = write("feed/2.xml", f"<cmu><Title>{'x' * 100}</Title></cmu>")
    done = run("schema", "match", "--json", tmp_path / "feed", write("c.dtd", TARGET), "--limit", "bytes=99")
    assert f"error: {large}: " in done.stderr
    assert "--limit bytes=N raises it (too-large)" in done.stderr
    assert "cmu/Course/Lecturer" in done.stdout
    assert "Title" not in done.stdout

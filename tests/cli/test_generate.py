"""``twigcast generate``."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer
from lxml import etree

from twigcast.cli.generate import app
from twigcast.pattern import parse
from twigcast.workload import DocumentOptions, SubscriptionOptions

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]

SMALL = "<!ELEMENT a (b*)><!ELEMENT b (#PCDATA)>"


@pytest.mark.parametrize(
    ("name", "options"), [("documents", DocumentOptions), ("subscriptions", SubscriptionOptions)]
)
def test_help_tells_the_defaults_of_the_generators(name: str, options: Any) -> None:
    """Each option of a generator is an option of its command, with the same default."""
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    told = {parameter.name: str(parameter.show_default) for parameter in command.params}
    told |= {"seed": "0", "distinct": "True", "test_element": "None", "test_condition": "False"}
    assert {field.name: str(field.default) for field in fields(options)}.items() <= told.items()


def test_a_document_goes_to_stdout(run: RunCommand) -> None:
    """Without a folder, stdout has one document and nothing else."""
    done = run("generate", "documents", "--elements", 5)
    assert etree.fromstring(done.stdout.encode()).tag == "feed"
    assert done.stderr == ""


def test_documents_go_to_a_folder(run: RunCommand, tmp_path: Path) -> None:
    """Each document is written to a numbered file."""
    run("generate", "documents", "--count", 2, "--first", 9, "--output", tmp_path / "new")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["000009.xml", "000010.xml"]


def test_many_documents_need_a_folder(run: RunCommand) -> None:
    """Several documents cannot be written to stdout, because together they are no document."""
    assert run("generate", "documents", "--count", 2).exit_code == 2


def test_the_same_seed_gives_the_same(run: RunCommand) -> None:
    """The same seed gives the same document, and another seed another one."""
    one, again, other = (run("generate", "documents", "--seed", seed).stdout for seed in (1, 1, 2))
    assert one == again != other


def test_documents_are_drawn_from_a_dtd(run: RunCommand, write: Write) -> None:
    """``--dtd`` replaces the built-in DTD."""
    done = run("generate", "documents", "--dtd", write("a.dtd", SMALL))
    assert etree.fromstring(done.stdout.encode()).tag == "a"


def test_a_bad_dtd_is_one_line_on_stderr(run: RunCommand, write: Write) -> None:
    """A file that is no DTD is reported in one line, with exit code 2."""
    done = run("generate", "documents", "--dtd", write("a.dtd", "<!ELEMENT"))
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_subscriptions_go_to_stdout_as_lines(run: RunCommand) -> None:
    """Each line is a valid subscription."""
    done = run("generate", "subscriptions", "--count", 20, "--nested", 0.3, "--value", 0.3)
    assert len(done.lines) == 20
    assert all(parse(line) for line in done.lines)


def test_subscriptions_are_written_in_the_format_of_the_name(run: RunCommand, tmp_path: Path) -> None:
    """TSV and JSONL have ids, and ``.gz`` is compressed."""
    tsv, jsonl = tmp_path / "s.tsv", tmp_path / "s.jsonl.gz"
    for path in (tsv, jsonl):
        run("generate", "subscriptions", "--count", 2, "--output", path)
    rows = [line.split("\t") for line in tsv.read_text().splitlines()]
    objects = [json.loads(line) for line in gzip.decompress(jsonl.read_bytes()).splitlines()]
    assert [row[0] for row in rows] == ["1", "2"]
    assert objects == [{"id": id, "xpath": xpath} for id, xpath in rows]


def test_what_was_generated_is_good(run: RunCommand, tmp_path: Path) -> None:
    """``check`` accepts the generated subscriptions."""
    path = tmp_path / "s.txt.gz"
    run("generate", "subscriptions", "--count", 50, "--output", path)
    assert run("check", path).exit_code == 0


def test_a_preset_is_where_options_start(run: RunCommand) -> None:
    """A preset sets several options, and an explicit option takes precedence over it."""
    values = run("generate", "subscriptions", "--preset", "values", "--count", 50).stdout
    without = run(
        "generate", "subscriptions", "--preset", "values", "--value", 0, "--nested", 0, "--count", 50
    ).stdout
    assert "[" in values
    assert "[" not in without


@pytest.mark.parametrize("option", [("--preset", "none"), ("--wildcard", 2), ("--max-steps", 0)])
def test_options_that_make_no_sense_are_errors_of_usage(run: RunCommand, option: tuple[str, object]) -> None:
    """An invalid option has exit code 2 and prints nothing on stdout."""
    done = run("generate", "subscriptions", *option)
    assert (done.exit_code, done.stdout) == (2, "")


def test_a_schema_that_has_too_few_is_one_line_on_stderr(run: RunCommand, write: Write) -> None:
    """If a schema allows too few distinct subscriptions, the error is one line."""
    done = run("generate", "subscriptions", "--dtd", write("a.dtd", SMALL), "--count", 1000)
    assert done.exit_code == 2
    assert done.stderr.startswith("error: only ")


def test_plain_lines_begin_with_the_bindings_of_their_prefixes(
    run: RunCommand, write: Write, tmp_path: Path
) -> None:
    """So that the file can be used as it is."""
    dtd = "<!ELEMENT p:a (p:b*)><!ELEMENT p:b EMPTY><!ATTLIST p:a xmlns:p CDATA #FIXED 'urn:p'>"
    path = tmp_path / "s.txt"
    done = run("generate", "subscriptions", "--dtd", write("p.dtd", dtd), "--count", 2, "-o", path)
    assert done.exit_code == 0
    assert path.read_text().splitlines()[0] == "# namespace p=urn:p"
    assert run("check", path).exit_code == 0


def test_the_element_of_the_papers_is_in_documents_and_subscriptions(run: RunCommand, write: Write) -> None:
    """Both commands have an option for it."""
    document = run("generate", "documents", "--test-element", 0.5).stdout
    assert "<test/>" in document
    texts = run("generate", "subscriptions", "--preset", "thesis-4.2", "--test-condition", "-c", 20).stdout
    assert all(line.startswith("/self::node()[.//test]/") for line in texts.splitlines())
    done = run("generate", "documents", "--test-element", 2)
    assert (done.exit_code, done.stdout) == (2, "")

"""``twigcast schema try``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.rewriting.mapping_files.publisher import DOCUMENT, publisher

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]


def test_the_image_is_printed(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """Made elements have a plus sign."""
    done = run("schema", "try", publisher(tmp_path), write("cmu.xml", DOCUMENT))
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "  <catalogue>",
        "    <course>",
        "      <code>15-721</code>",
        "+     <instructor>",
        "        <name>Ailamaki</name>",
        "      </instructor>",
        "+     <schedule>",
        "        <time>9</time>",
        "      </schedule>",
        "    </course>",
        "  </catalogue>",
    ]


def test_parts_of_the_original_are_shown(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """The bytes behind a made element are those of what it contains."""
    document = write("cmu.xml", DOCUMENT)
    done = run(
        "schema", "try", publisher(tmp_path), document, "--no-image", "-x", "//instructor", "-x", "//code"
    )
    start, code = DOCUMENT.index("<Lecturer>"), DOCUMENT.index("<Code>")
    assert done.lines == [
        "matches\t//instructor",
        f"  {start}..{start + 29}\t<Lecturer>Ailamaki</Lecturer>",
        "matches\t//code",
        f"  {code}..{code + 19}\t<Code>15-721</Code>",
    ]
    assert done.exit_code == 0


def test_a_subscription_that_does_not_match_gives_exit_code_one(
    run: RunCommand, write: Write, tmp_path: Path
) -> None:
    """So that a script can try."""
    document = write("cmu.xml", DOCUMENT)
    done = run("schema", "try", publisher(tmp_path), document, "--no-image", "-x", "//course[place]")
    assert (done.exit_code, done.lines) == (1, ["does not match\t//course[place]"])


def test_strangers_are_counted(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """Elements that the source schema does not know keep their names."""
    document = write("cmu.xml", "<cmu><Course><Exam/></Course></cmu>")
    done = run("schema", "try", publisher(tmp_path), document)
    assert "1 element is not in the source schema" in done.stderr
    assert "<Exam/>" in done.stdout


def test_a_document_of_another_root_is_refused(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """In one line."""
    done = run("schema", "try", publisher(tmp_path), write("x.xml", "<syllabus/>"))
    assert done.exit_code == 2
    assert "the root element is 'syllabus', not 'cmu'" in done.stderr

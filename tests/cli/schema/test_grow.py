"""``twigcast schema grow``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.rewriting.mapping_files.publisher import MAPPING, TARGET, publisher
from twigcast.rewriting import Mappings

RunCommand = Callable[..., Any]


def test_what_would_be_added_is_printed(run: RunCommand, tmp_path: Path) -> None:
    """Without --write nothing changes."""
    path = publisher(tmp_path, MAPPING.split("[unmatched]")[0])
    done = run("schema", "grow", tmp_path / "catalogue.dtd", path)
    assert done.lines == [
        "cmu/Course/@nr\tcatalogue/course/nr",
        "cmu/Course/Notes\tcatalogue/course/notes",
        "cmu/Course/name\tcatalogue/course/name",
    ]
    assert (tmp_path / "catalogue.dtd").read_text() == TARGET


def test_schema_and_mapping_grow_together(run: RunCommand, tmp_path: Path) -> None:
    """The new place is in the schema, and matched."""
    path = publisher(tmp_path, MAPPING.replace('"cmu/Course/Notes", ', ""))
    done = run("schema", "grow", tmp_path / "catalogue.dtd", path, "--place", "cmu/Course/Notes", "--write")
    assert done.exit_code == 0
    assert "notes?" in (tmp_path / "catalogue.dtd").read_text()
    assert "# a synonym" in path.read_text()
    assert Mappings.load(path)["cmu"].image["cmu/Course/Notes"].path_text == "catalogue/course/notes"
    assert run("schema", "check", path).stdout == ""


def test_an_xsd_is_refused(run: RunCommand, tmp_path: Path) -> None:
    """A DTD is what can be written."""
    path = publisher(tmp_path)
    done = run("schema", "grow", tmp_path / "catalogue.xsd", path)
    assert done.exit_code == 2
    assert "expected a DTD" in done.stderr

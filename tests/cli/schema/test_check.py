"""``twigcast schema check``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.rewriting.mapping_files.publisher import MAPPING, SOURCE, publisher

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]


def test_good_mappings_pass_in_silence(run: RunCommand, tmp_path: Path) -> None:
    """The only output is a count on stderr."""
    done = run("schema", "check", publisher(tmp_path))
    assert (done.exit_code, done.stdout) == (0, "")
    assert "1 mapping, all good" in done.stderr


def test_a_folder_is_checked(run: RunCommand, tmp_path: Path) -> None:
    """All its mapping files; an error gives the exit code 1, a warning does not."""
    path = publisher(tmp_path, MAPPING.replace('hide = ["cmu/Course/name"]', ""))
    done = run("schema", "check", tmp_path)
    assert done.exit_code == 0
    assert done.lines[0].startswith(f"{path}: warning: 'cmu/Course/name' is not matched and keeps a name")
    path.write_text(MAPPING.replace("course/code", "course/cod"))
    done = run("schema", "check", tmp_path)
    assert done.exit_code == 1
    assert done.lines == [
        f"{path}: error: match: there is no 'catalogue/course/cod'; 'catalogue/course' has no 'cod', "
        "did you mean code? (place)"
    ]


def test_operators_can_be_shown(run: RunCommand, tmp_path: Path) -> None:
    """As lines that a mapping file understands."""
    done = run("schema", "check", "--operators", publisher(tmp_path))
    assert "  Insert cmu/Course schedule {Day_, Time_}" in done.lines


def test_json_has_an_object_for_each_finding(run: RunCommand, tmp_path: Path) -> None:
    """With file, level, code, message and place."""
    path = publisher(tmp_path, MAPPING.replace('hide = ["cmu/Course/name"]', ""))
    done = run("schema", "check", "--json", path)
    found = [json.loads(line) for line in done.lines]
    assert [(each["file"], each["level"], each["code"]) for each in found] == [
        (str(path), "warning", "collision"),
        (str(path), "note", "undecided"),
    ]


def test_a_review_is_written_into_the_file(run: RunCommand, tmp_path: Path) -> None:
    """--accept; later changes of schema or pairs are then reported."""
    path = publisher(tmp_path)
    assert run("schema", "check", "--accept", path).exit_code == 0
    accepted = path.read_text()
    assert "# a synonym" in accepted
    assert run("schema", "check", path).stdout == ""
    path.write_text(accepted.replace('"cmu/Course/Day_" = "catalogue/course/schedule/days"', ""))
    assert "(changed)" in run("schema", "check", path).stdout
    path.write_text(accepted)
    (tmp_path / "cmu.dtd").write_text(SOURCE + "<!-- new -->")
    done = run("schema", "check", path)
    assert done.exit_code == 1
    assert "has changed since the pairs were reviewed" in done.stdout
    assert run("schema", "check", "--accept", path).exit_code == 0


def test_subscriptions_outside_of_the_global_schema_are_reported(
    run: RunCommand, write: Write, tmp_path: Path
) -> None:
    """A subscription written against a source; a bad line is reported as well."""
    subscriptions = write("s.txt", "//course[code]\n//Course[Code]\n//course[@nr]\n//[\n")
    done = run("schema", "check", publisher(tmp_path), "--subscriptions", subscriptions)
    assert [line.removeprefix(f"{subscriptions}: warning: ") for line in done.lines] == [
        "2: //Course[Code]: no document of the global schema can match it (outside)",
        "3: //course[@nr]: the global schema has no attribute 'nr' (outside)",
    ]
    assert done.exit_code == 1
    assert f"{subscriptions}:4" in done.stderr


def test_what_cannot_be_read_is_one_line(run: RunCommand, tmp_path: Path) -> None:
    """The command could not run."""
    done = run("schema", "check", tmp_path / "no.toml")
    assert done.exit_code == 2
    assert "there is no such file (mapping-file)" in done.stderr


def test_a_broken_file_does_not_hide_what_is_wrong_in_others(run: RunCommand, tmp_path: Path) -> None:
    """A file that is not TOML, or has a wrong key, is a finding as others are, also as JSON."""
    path = publisher(tmp_path, MAPPING.replace("course/code", "course/cod"))
    (tmp_path / "a.toml").write_bytes(b"\xff")
    (tmp_path / "b.toml").write_text("mapping = 7")
    done = run("schema", "check", tmp_path, "--json")
    assert done.exit_code == 1
    found = [json.loads(line) for line in done.lines]
    assert [(Path(each["file"]).name, each["code"]) for each in found] == [
        ("a.toml", "mapping-file"),
        ("b.toml", "mapping-file"),
        (path.name, "place"),
    ]
    assert found[0]["message"] == "not UTF-8 at byte 1"
    assert "3 mappings, 3 bad" in done.stderr

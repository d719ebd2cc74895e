"""Mapping files that are changed by commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rewriting.mapping_files.publisher import publisher
from twigcast.errors import MappingError
from twigcast.rewriting import read_mapping_file, update_mapping_file


def test_comments_stay(tmp_path: Path) -> None:
    """Keys are set and pairs added; all else is as it was."""
    path = publisher(tmp_path)
    before = path.read_text().splitlines()
    update_mapping_file(
        path, settings={"reviewed": "12345678"}, pairs={"cmu/Course/Notes": "catalogue/course/n"}
    )
    after = path.read_text().splitlines()
    assert [line for line in before if line not in after] == []
    file = read_mapping_file(path)
    assert file.reviewed == "12345678"
    assert file.pairs["cmu/Course/Notes"] == "catalogue/course/n"
    update_mapping_file(path, settings={"reviewed": "87654321"})
    assert read_mapping_file(path).reviewed == "87654321"


def test_pairs_are_added_to_a_file_without_any(tmp_path: Path) -> None:
    """The table is made."""
    path = tmp_path / "m.toml"
    path.write_text('mapping = "m"\nsource = "s.dtd"\ntarget = "t.dtd"\n')
    update_mapping_file(path, pairs={"a/b": "c/d"})
    assert read_mapping_file(path).pairs == {"a/b": "c/d"}


def test_what_is_not_toml_is_refused(tmp_path: Path) -> None:
    """And left as it is."""
    path = tmp_path / "m.toml"
    path.write_text("mapping = ")
    with pytest.raises(MappingError) as caught:
        update_mapping_file(path, settings={"reviewed": "x"})
    assert caught.value.code == "mapping-file"
    assert path.read_text() == "mapping = "

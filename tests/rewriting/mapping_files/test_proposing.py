"""Proposals as mapping files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from twigcast.errors import MappingError
from twigcast.rewriting import ProposedPair, write_proposal

SETTINGS = {"mapping": "cmu", "source": "cmu.dtd", "target": "catalogue.dtd"}


def test_a_new_file(tmp_path: Path) -> None:
    """Settings, pairs with their evidence, and the places without a pair as comments."""
    path = tmp_path / "cmu.toml"
    write_proposal(path, SETTINGS, [ProposedPair("cmu/No", "c/code", "0.9: name")], ["cmu/Sec"])
    text = path.read_text()
    assert tomllib.loads(text) == SETTINGS | {"match": {"cmu/No": "c/code"}}
    assert '"cmu/No" = "c/code" # 0.9: name\n' in text
    assert text.endswith("#   cmu/Sec\n")


def test_a_file_that_is_there_keeps_what_it_says(tmp_path: Path) -> None:
    """Its settings, comments and other sections stay."""
    path = tmp_path / "cmu.toml"
    path.write_text(
        'mapping = "ours" # c\nsource = "x"\ntarget = "y"\n[match]\n"a" = "b"\n[unmatched]\nkeep = ["k"]\n'
    )
    write_proposal(path, SETTINGS, [ProposedPair("cmu/No", "c/code", "why")], [])
    text = path.read_text()
    assert "# c" in text
    assert tomllib.loads(text) == {
        "mapping": "ours",
        "source": "x",
        "target": "y",
        "match": {"a": "b", "cmu/No": "c/code"},
        "unmatched": {"keep": ["k"]},
    }


def test_a_file_that_is_not_toml(tmp_path: Path) -> None:
    """It is not overwritten."""
    path = tmp_path / "cmu.toml"
    path.write_text("[match\n")
    with pytest.raises(MappingError, match=r"cmu\.toml: "):
        write_proposal(path, SETTINGS, [], [])
    assert path.read_text() == "[match\n"

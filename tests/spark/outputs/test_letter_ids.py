"""A dead letter is found by its id, by a path from the current folder, or by the end of its path."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast.errors import SourceError
from twigcast.spark.outputs.letter_ids import letter_id

IDS = ["/data/feed/7.xml", "/data/old/feed/7.xml", "/data/feed/8.xml", "orders#17"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("/data/feed/7.xml", "/data/feed/7.xml"),
        ("orders#17", "orders#17"),
        ("8.xml", "/data/feed/8.xml"),
        ("feed/8.xml", "/data/feed/8.xml"),
        ("./8.xml", "/data/feed/8.xml"),
        ("old/feed/7.xml", "/data/old/feed/7.xml"),
    ],
)
def test_found(asked: str, found: str) -> None:
    """The whole id is taken first, then the only id that ends in the path."""
    assert letter_id(IDS, asked) == found


def test_a_path_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that the shell completes is an id, also if another id ends in it."""
    monkeypatch.chdir(tmp_path)
    assert letter_id([*IDS, f"{tmp_path}/feed/7.xml"], "feed/7.xml") == f"{tmp_path}/feed/7.xml"


@pytest.mark.parametrize(
    ("asked", "code"), [("7.xml", "ambiguous"), ("9.xml", "not-found"), ("xml", "not-found")]
)
def test_refused(asked: str, code: str) -> None:
    """What fits none or several is an error; the candidates are named."""
    with pytest.raises(SourceError) as caught:
        letter_id(IDS, asked)
    assert caught.value.code == code
    assert ("/data/old/feed/7.xml" in str(caught.value)) == (code == "ambiguous")

"""Segment files that someone changes in place while they are open."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from twigcast import Index, IndexFileError
from twigcast.filtering import mapped_file
from twigcast.filtering.mapped_file import READ, MappedFile

BODY = b"<a><b0/></a>"


def saved(folder: Path, count: int = 50) -> Path:
    Index([(f"id-{n}", f"//b{n}") for n in range(count)]).save(folder / "i.tci")
    return folder / "i.tci"


def test_a_small_file_is_read(tmp_path: Path) -> None:
    """Whatever happens to it later does not matter."""
    path = saved(tmp_path)
    index = Index.open(path)
    os.truncate(path, 0)
    assert index.match(BODY).ids == ["id-0"]
    assert index.pattern("id-3")
    assert not MappedFile(path).is_mapped


def test_a_large_file_is_mapped(tmp_path: Path) -> None:
    """Processes share its pages."""
    path = tmp_path / "large"
    path.write_bytes(bytes(READ + 1))
    assert MappedFile(path).is_mapped


@pytest.mark.parametrize("how", ["truncated", "overwritten", "extended"])
def test_a_mapped_file_that_was_changed_is_not_touched(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every use raises an error, where touching the pages would end the process."""
    monkeypatch.setattr(mapped_file, "READ", 0)
    path = saved(tmp_path)
    index = Index.open(path)
    found = index.match(BODY)
    size = path.stat().st_size
    with path.open("r+b") as file:
        if how == "truncated":
            file.truncate(0)
        elif how == "overwritten":
            file.write(bytes(size))
        else:
            file.seek(size)
            file.write(b"more")
    os.utime(path, ns=(0, 7))  # the clock of a file system may be too coarse to show a change at once
    for use in (
        lambda: index.match(BODY),
        lambda: index.count(BODY),
        lambda: found.ids,
        lambda: index.ids,
        lambda: index.pattern("id-3"),
        lambda: "id-3" in index,
        index.rows,
        lambda: index.save(tmp_path / "other"),
    ):
        with pytest.raises(IndexFileError, match="changed in place") as error:
            use()
        assert error.value.code == ("truncated" if how == "truncated" else "altered")


def test_saving_over_an_open_index_does_not_disturb_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twigcast writes a new file and renames it; a mapping keeps the old one."""
    monkeypatch.setattr(mapped_file, "READ", 0)
    path = saved(tmp_path)
    index = Index.open(path)
    Index([("new", "//a")]).save(path)
    assert index.match(BODY).ids == ["id-0"]
    assert Index.open(path).match(BODY).ids == ["new"]


def test_a_process_survives_a_truncated_index(tmp_path: Path) -> None:
    """Without the check, it would be killed by SIGBUS."""
    path = saved(tmp_path, 20_000)
    assert path.stat().st_size > READ
    program = f"""
import os
from twigcast import Index, IndexFileError
index = Index.open({str(path)!r})
os.truncate({str(path)!r}, 0)
try:
    index.match({BODY!r})
except IndexFileError as error:
    print(error.code)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "truncated\n"), done.stderr

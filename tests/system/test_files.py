"""Files are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast.system import atomic_file, write_atomically


def test_a_file_is_replaced(tmp_path: Path) -> None:
    """The new content stands in the place of the old, readable by others, with nothing beside it."""
    file = tmp_path / "a"
    write_atomically(file, b"old")
    write_atomically(file, b"new")
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [file]


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    """A block that raises changes nothing and leaves no temporary file."""
    file = tmp_path / "a"
    write_atomically(file, b"old")
    with pytest.raises(ZeroDivisionError), atomic_file(file) as stream:
        stream.write(b"half" * (1 // 0))
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]

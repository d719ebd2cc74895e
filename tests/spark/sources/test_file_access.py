"""Files are opened by the names that Spark gives them."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from io import BufferedReader, BytesIO
from pathlib import Path

import pytest

from twigcast.spark.sources.file_access import decompressed, is_compressed, open_file, read_within


def test_a_local_file_is_opened_by_path_or_address(tmp_path: Path) -> None:
    """Escape sequences in its name are not decoded."""
    path = tmp_path / "a b%20é.xml"
    path.write_bytes(b"<a/>")
    for name in (str(path), f"file:{path}", f"file://{path}"):
        with open_file(name) as file:
            assert file.read() == b"<a/>"


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """A missing file raises one of the exceptions that a stage handles."""
    with pytest.raises(OSError, match="missing"):
        open_file(str(tmp_path / "missing"))


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".XZ", lzma.compress)]
)
def test_compressed_files_are_told_by_their_name(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    """Their content is decompressed; a file with another suffix is read as it is."""
    path = tmp_path / f"a.xml{suffix}"
    path.write_bytes(compress(b"<a/>"))
    assert is_compressed(str(path))
    with open_file(str(path)) as file:
        assert decompressed(str(path), file).read() == b"<a/>"
    assert not is_compressed("a.xml")


@pytest.mark.parametrize(("size", "limit", "read"), [(0, 5, 0), (5, 5, 5), (6, 5, 6), (200_000, 10, 11)])
def test_no_more_is_read_than_shows_that_it_is_too_much(size: int, limit: int, read: int) -> None:
    """At most one byte beyond the limit is read; a huge limit allocates no memory."""
    data = bytes(range(256)) * 1000
    assert read_within(BytesIO(data[:size]), limit) == data[:read]
    assert read_within(BufferedReader(BytesIO(data)), 1 << 62) == data  # type: ignore[arg-type]

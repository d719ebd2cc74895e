"""Opens files in the workers: local ones by their path, others by the file systems that Arrow has."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Callable
from typing import IO, Any
from urllib.parse import quote

_DECOMPRESSORS: dict[str, Callable[[Any], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
_CHUNK_BYTES = 1 << 16

UNREADABLE = (OSError, EOFError, lzma.LZMAError, ValueError)
"""The exceptions that reading a broken file raises."""


def open_file(path: str) -> IO[bytes]:
    """Open a file by the name that Spark gives it; raises ``OSError``."""
    scheme = re.match(r"([a-z][a-z0-9+.-]+):/", path)
    if scheme is None or scheme[1] == "file":
        return open(path if scheme is None else re.sub("^file:/+", "/", path), "rb")
    from pyarrow import fs

    uri = re.sub("^s3[an]:", "s3:", path)
    system, location = fs.FileSystem.from_uri(quote(uri, safe=":/@%"))
    stream: IO[bytes] = system.open_input_file(location)
    return stream


def read_within(file: IO[bytes], limit: int) -> bytes:
    """Read a file, but at most ``limit + 1`` bytes, so that the caller can see whether it is too large.

    The file is read in chunks, because Python allocates the requested size of a single read at once.
    """
    chunks: list[bytes] = []
    left = limit + 1
    while left > 0 and (chunk := file.read(min(left, _CHUNK_BYTES))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def is_compressed(path: str) -> bool:
    """Whether ``decompressed`` knows the suffix of a file."""
    return path.lower().endswith(tuple(_DECOMPRESSORS))


def decompressed(path: str, file: IO[bytes]) -> IO[bytes]:
    """The content of a file, decompressed if its suffix says that it is compressed."""
    for suffix, open_it in _DECOMPRESSORS.items():
        if path.lower().endswith(suffix):
            stream: IO[bytes] = open_it(file)
            return stream
    return file

"""Opens files in the workers: local ones by their path, others by the file systems that Arrow has."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable
from typing import IO, Any, Protocol
from urllib.parse import quote

from twigcast.spark.columns import ErrorRow, error_without_position
from twigcast.system import Links, open_regular, path_of, without_scheme

_CHUNK_BYTES = 1 << 16
DECODER_BYTES = 256 << 20
"""The memory that a decompressor may use; the highest level of xz needs 65 MB."""

UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError)
"""The exceptions that reading a broken file raises."""

_REFUSALS = {
    "link": ("link", "the link is not followed: set source.links (the option links) to follow it"),
    "special": ("not-a-file", "it is not a regular file, but a named pipe, a socket or a device"),
    "unreadable": ("unreadable", "the folder or file cannot be read"),
}


def refused(refusal: str) -> ErrorRow:
    """The error of a place that is not to be read, by the reason that its listing gave."""
    code, message = _REFUSALS[refusal]
    return error_without_position(message, code=code)


def open_file(path: str, *, links: Links = "follow") -> IO[bytes]:
    """Open a file by the text of its path, or by a URL; raises ``OSError``.

    A local path must be that of a regular file.
    """
    scheme = re.match(r"([a-z][a-z0-9+.-]+):/", path)
    if scheme is None or scheme[1] == "file":
        local = path_of(path if scheme is None else without_scheme(path))
        return os.fdopen(open_regular(local, links=links), "rb")
    from pyarrow import fs

    uri = re.sub("^s3[an]:", "s3:", path)
    system, location = fs.FileSystem.from_uri(quote(uri, safe=":/@%"))
    stream: IO[bytes] = system.open_input_file(location)
    return stream


class ReadableStream(Protocol):
    """Anything that bytes can be read from."""

    def read(self, size: int, /) -> bytes: ...


def read_within(file: ReadableStream, limit: int) -> bytes:
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
    """The content of a file, decompressed if its suffix says that it is compressed.

    A read decompresses no more than it returns, except for a buffer.
    """
    for suffix, open_it in _DECOMPRESSORS.items():
        if path.lower().endswith(suffix):
            stream: IO[bytes] = open_it(file)
            return stream
    return file


class _XzStream(io.RawIOBase):
    """A decompressed xz or lzma file; unlike ``lzma.open`` it bounds the memory of the decompressor."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decompressor = lzma.LZMADecompressor(memlimit=DECODER_BYTES)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._decompressor.eof:
                self._rest = self._decompressor.unused_data.lstrip(b"\0") or self._file.read(_CHUNK_BYTES)
                if not self._rest.strip(b"\0"):
                    return 0
                self._decompressor = lzma.LZMADecompressor(memlimit=DECODER_BYTES)
            elif self._decompressor.needs_input and not self._rest:
                self._rest = self._file.read(_CHUNK_BYTES)
                if not self._rest:
                    raise EOFError("the compressed file ends before its end-of-stream marker")
            data = self._decompressor.decompress(self._rest, len(buffer))
            self._rest = b""
            if data:
                buffer[: len(data)] = data
                return len(data)


def _xz(file: IO[bytes]) -> IO[bytes]:
    return io.BufferedReader(_XzStream(file), _CHUNK_BYTES)


_DECOMPRESSORS: dict[str, Callable[[Any], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": _xz}

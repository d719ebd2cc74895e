"""The limits of an archive, beyond which it is a dead letter: they bound the memory and time it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What one archive may have."""

    members: int = 1_000_000
    """Its members, folders and links included."""
    bytes: int = 16 << 30
    """Its content after decompression."""
    header_bytes: int = 1 << 20
    """One header of a member, with its name; the memory for a zip's directory is bounded by both."""


class TooMuch(Exception):
    """An archive exceeds a limit; the text says which, and the options that raise it."""

    def __init__(self, name: str, limit: int) -> None:
        what, option = _SENTENCES[name]
        super().__init__(f"{what.format(limit=limit)}: archives.{name} (the option {option}) sets this limit")


_SENTENCES = {
    "members": ("the archive has more than {limit} members", "maxMembers"),
    "bytes": ("the content of the archive has more than {limit} bytes", "maxArchiveBytes"),
    "header_bytes": ("a header of the archive has more than {limit} bytes", "maxHeaderBytes"),
}


class Allowance:
    """What is left of the limits while an archive is read; raises ``TooMuch``."""

    def __init__(self, limits: ArchiveLimits) -> None:
        self.limits = limits
        self._members = 0
        self._bytes = 0

    def member(self) -> None:
        """Account for one more member."""
        self._members += 1
        if self._members > self.limits.members:
            raise TooMuch("members", self.limits.members)

    def header(self, size: int) -> None:
        """Account for a header of ``size`` bytes, before it is read."""
        if size > self.limits.header_bytes:
            raise TooMuch("header_bytes", self.limits.header_bytes)

    def content(self, size: int) -> None:
        """Account for decompressed bytes."""
        self._bytes += size
        if self._bytes > self.limits.bytes:
            raise TooMuch("bytes", self.limits.bytes)

    def counted(self, file: IO[bytes]) -> CountedStream:
        """A stream that accounts for the bytes that are read from it."""
        return CountedStream(file, self)


class CountedStream:
    """A stream that can only be read forward, and that accounts for its bytes."""

    def __init__(self, file: IO[bytes], allowance: Allowance) -> None:
        self._file = file
        self._allowance = allowance

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; none at the end."""
        data = self._file.read(size)
        self._allowance.content(len(data))
        return data

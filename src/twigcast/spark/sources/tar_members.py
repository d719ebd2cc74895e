"""The members of a tar archive, read forward, one at a time and in bounded memory.

``tarfile`` decompresses without a bound, and allocates for a header what the header says.  Its ``TarInfo``
reads the blocks here; the headers before a block that give it a longer name are read with limits:

    x, g    pax: records "length key=value"; of these path and size are used
    L, K    GNU: the name of the member, the target of a link
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field

from twigcast.spark.sources.archive_limits import Allowance, CountedStream

_BLOCK = tarfile.BLOCKSIZE
_CHUNK_BYTES = 1 << 16
_PAX_RECORD = re.compile(rb"(\d{1,20}) ([^=]+)=")


class BrokenTar(Exception):
    """A tar archive that cannot be read from here on."""


@dataclass(slots=True)
class TarMember:
    """A regular file in a tar archive: its name, and its content, to be read before the next member."""

    name: bytes
    file: TarContent
    problem: str | None = None
    """Why its content cannot be used."""


@dataclass(slots=True)
class TarContent:
    """The content of one member."""

    archive: CountedStream
    left: int

    def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes; raises ``BrokenTar`` if the archive ends before the member."""
        wanted = min(self.left, _CHUNK_BYTES if size < 0 else size)
        data = self.archive.read(wanted) if wanted else b""
        if wanted and not data:
            raise BrokenTar("unexpected end of data")
        self.left -= len(data)
        return data


@dataclass(slots=True)
class _Extended:
    """What headers say about the member that follows, or with ``g`` about all that follow."""

    name: bytes | None = None
    fields: dict[str, bytes] = field(default_factory=dict)


def tar_members(archive: CountedStream, allowance: Allowance) -> Iterator[TarMember]:
    """The regular files of an archive; raises ``BrokenTar`` where it is broken, and ``TooMuch``."""
    everywhere: dict[str, bytes] = {}
    extended = _Extended()
    empty_blocks = first = 0
    while True:
        block = _exactly(archive, _BLOCK, at_end=True)
        if not block:
            if not first:
                raise BrokenTar("the file has no member, and is not a tar archive")
            return
        if block.count(0) == _BLOCK:
            empty_blocks += 1
            first = 1
            if empty_blocks == 2:
                return
            continue
        empty_blocks = 0
        header = _header(block, first=not first)
        first = 1
        size = header.size
        if header.type in (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.XGLTYPE):
            allowance.member()
            records = dict(_pax(_content(archive, size, allowance)))
            if header.type == tarfile.XGLTYPE:
                everywhere |= records
            else:
                extended.fields |= records
            continue
        if header.type in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
            allowance.member()
            text = _content(archive, size, allowance).partition(b"\0")[0]
            if header.type == tarfile.GNUTYPE_LONGNAME:
                extended.name = text
            continue
        allowance.member()
        fields = everywhere | extended.fields
        if "size" in fields:
            size = _number(fields["size"])
        name = extended.name or fields.get("path") or header.name.encode("utf-8", "surrogateescape")
        if header.type == tarfile.GNUTYPE_SPARSE:
            raise BrokenTar("it has a sparse member in the format of old GNU tar, which is not supported")
        sparse = any(key.startswith("GNU.sparse") for key in fields)
        extended = _Extended()
        if not header.isreg():
            size = size if header.type not in _WITHOUT_CONTENT else 0
            _skip(archive, size + -size % _BLOCK)
            continue
        content = TarContent(archive, size)
        yield TarMember(name, content, "it is sparse, which is not supported" if sparse else None)
        _skip(archive, content.left)
        _skip(archive, -size % _BLOCK)


_WITHOUT_CONTENT = (
    tarfile.LNKTYPE,
    tarfile.SYMTYPE,
    tarfile.CHRTYPE,
    tarfile.BLKTYPE,
    tarfile.DIRTYPE,
    tarfile.FIFOTYPE,
)


def _header(block: bytes, *, first: bool) -> tarfile.TarInfo:
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        raise BrokenTar("it is not a tar archive" if first else f"a header is damaged: {error}") from None
    if header.size < 0:
        raise BrokenTar("a header has a negative size")
    return header


def _content(archive: CountedStream, size: int, allowance: Allowance) -> bytes:
    """The content of a header, whose size is checked before it is read."""
    allowance.header(size)
    content = _exactly(archive, size)
    _skip(archive, -size % _BLOCK)
    return content


def _exactly(archive: CountedStream, size: int, *, at_end: bool = False) -> bytes:
    parts: list[bytes] = []
    left = size
    while left:
        data = archive.read(min(left, _CHUNK_BYTES))
        if not data:
            if at_end and left == size:
                return b""
            raise BrokenTar("unexpected end of data")
        parts.append(data)
        left -= len(data)
    return b"".join(parts)


def _skip(archive: CountedStream, size: int) -> None:
    while size:
        data = archive.read(min(size, _CHUNK_BYTES))
        if not data:
            raise BrokenTar("unexpected end of data")
        size -= len(data)


def _pax(content: bytes) -> Iterator[tuple[str, bytes]]:
    place = 0
    while place < len(content) and content[place]:
        found = _PAX_RECORD.match(content, place)
        if found is None or (end := place + int(found[1])) <= found.end() or end > len(content):
            raise BrokenTar("a pax header is damaged")
        key = found[2].decode("utf-8", "surrogateescape")
        if key in ("path", "size") or key.startswith("GNU.sparse"):
            yield key, content[found.end() : end - 1]
        place = end


def _number(text: bytes) -> int:
    if not re.fullmatch(rb"\d{1,19}", text):
        raise BrokenTar("a pax header has no valid size")
    return int(text)

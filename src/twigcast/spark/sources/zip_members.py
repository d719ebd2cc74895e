"""The members of a zip archive, as its directory lists them, in bounded memory.

``zipfile`` reads a directory of any size, refuses an archive as a whole if one name is not UTF-8, and lets
members overlap, which is how a few kilobytes become petabytes.  Here the directory has limits, a name is its
bytes, and an archive whose members overlap is refused before the first is read.
"""

from __future__ import annotations

import bz2
import lzma
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from twigcast.spark.sources.archive_limits import Allowance

_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_ENTRY = struct.Struct("<4s4B4HL2L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_CHUNK_BYTES = 1 << 16
_COMMENT_BYTES = 1 << 16
_DICTIONARY_BYTES = 64 << 20  # of LZMA

STORED, DEFLATED, BZIP2, LZMA = 0, 8, 12, 14


class BrokenZip(Exception):
    """A zip archive, or a member of it, that cannot be read."""


@dataclass(frozen=True, slots=True)
class ZipMember:
    """An entry of the directory: the bytes of the name, and where and how the content is stored."""

    name: bytes
    flags: int
    method: int
    checksum: int
    stored: int
    size: int
    offset: int

    @property
    def is_folder(self) -> bool:
        """Whether the entry is a folder."""
        return self.name.endswith(b"/")

    @property
    def is_utf8(self) -> bool:
        """Whether the archive says that the name is UTF-8."""
        return bool(self.flags & 0x800)


def zip_members(file: IO[bytes], allowance: Allowance) -> list[ZipMember]:
    """The directory of an archive; raises ``BrokenZip``, and ``TooMuch``."""
    directory, size, shift = _directory(file, allowance)
    file.seek(directory)
    left = size
    members: list[ZipMember] = []
    while left > 0:
        allowance.member()
        fixed = file.read(_ENTRY.size)
        if len(fixed) < _ENTRY.size or not fixed.startswith(b"PK\1\2"):
            raise BrokenZip("its directory is damaged")
        entry = _ENTRY.unpack(fixed)
        lengths = entry[12:15]  # of name, extra field and comment
        allowance.header(sum(lengths))
        rest = file.read(sum(lengths))
        if len(rest) < sum(lengths):
            raise BrokenZip("its directory is truncated")
        left -= _ENTRY.size + len(rest)
        name, extra = rest[: lengths[0]], rest[lengths[0] : lengths[0] + lengths[1]]
        stored, full, offset = _sizes64(extra, entry[10], entry[11], entry[18])
        members.append(ZipMember(name, entry[5], entry[6], entry[9], stored, full, offset + shift))
    _refuse_overlaps(members, directory)
    return members


def _directory(file: IO[bytes], allowance: Allowance) -> tuple[int, int, int]:
    """Where the directory begins, its size, and the number of bytes before the archive itself."""
    length = file.seek(0, os.SEEK_END)
    tail_start = max(0, length - _END.size - _COMMENT_BYTES)
    file.seek(tail_start)
    tail = file.read(_END.size + _COMMENT_BYTES)
    place = tail.rfind(b"PK\5\6")
    if place < 0 or len(tail) - place < _END.size:
        raise BrokenZip("it is not a zip archive")
    end = _END.unpack_from(tail, place)
    size, offset = end[5], end[6]
    before = tail_start + place
    located = before - _LOCATOR.size
    if located >= 0:
        file.seek(located)
        locator = _LOCATOR.unpack(file.read(_LOCATOR.size))
        if locator[0] == b"PK\6\7":
            before = located - _END64.size
            file.seek(max(0, before))
            end64 = _END64.unpack(file.read(_END64.size))
            if end64[0] != b"PK\6\6":
                raise BrokenZip("its directory is damaged")
            size, offset = end64[8], end64[9]
    shift = before - size - offset
    if shift < 0 or before - size < 0:
        raise BrokenZip("its directory is damaged")
    return before - size, size, shift


def _sizes64(extra: bytes, stored: int, full: int, offset: int) -> tuple[int, int, int]:
    """The sizes and the offset of an entry, which are in the extra field if they need 64 bits."""
    values = {"full": full, "stored": stored, "offset": offset}
    place = 0
    while place + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, place)
        place += 4
        if kind == 1:
            at = place
            for key in values:
                if values[key] == 0xFFFFFFFF:
                    if at + 8 > min(place + length, len(extra)):
                        raise BrokenZip("an entry of its directory is damaged")
                    (values[key],) = struct.unpack_from("<Q", extra, at)
                    at += 8
        place += length
    return values["stored"], values["full"], values["offset"]


def _refuse_overlaps(members: list[ZipMember], end: int) -> None:
    reached = 0
    for member in sorted(members, key=lambda each: each.offset):
        if member.offset < reached:
            raise BrokenZip("its members overlap")
        reached = member.offset + _LOCAL.size + len(member.name) + member.stored
    if reached > end:
        raise BrokenZip("a member reaches into its directory")


class ZipContent:
    """The content of a member, decompressed as it is read and checked at its end; raises ``BrokenZip``."""

    def __init__(self, file: IO[bytes], member: ZipMember, allowance: Allowance) -> None:
        if member.flags & 1:
            raise BrokenZip("it is encrypted")
        file.seek(member.offset)
        local = file.read(_LOCAL.size)
        if len(local) < _LOCAL.size or not local.startswith(b"PK\3\4"):
            raise BrokenZip("its header is damaged")
        fields = _LOCAL.unpack(local)
        file.seek(fields[9] + fields[10], os.SEEK_CUR)
        self._pieces = _decompressed(_stored(file, member.stored), member.method)
        self._rest = b""
        self._checksum = 0
        self._length = 0
        self._member = member
        self._allowance = allowance

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; none at the end."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                if (self._checksum, self._length) != (self._member.checksum, self._member.size):
                    raise BrokenZip("its content does not have the size and checksum of the directory")
                return b""
            self._allowance.content(len(piece))
            self._checksum = zlib.crc32(piece, self._checksum)
            self._length += len(piece)
            if self._length > self._member.size:
                raise BrokenZip("it is larger than the directory says")
            self._rest = piece
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


def _stored(file: IO[bytes], size: int) -> Iterator[bytes]:
    while size:
        data = file.read(min(size, _CHUNK_BYTES))
        if not data:
            raise BrokenZip("it is truncated")
        size -= len(data)
        yield data


def _decompressed(data: Iterator[bytes], method: int) -> Iterator[bytes]:
    """The content in pieces of a bounded size."""
    if method == STORED:
        yield from data
    elif method == DEFLATED:
        inflate = zlib.decompressobj(-15)
        for piece in data:
            while piece and not inflate.eof:
                if made := inflate.decompress(piece, _CHUNK_BYTES):
                    yield made
                piece = inflate.unconsumed_tail
        while not inflate.eof and (made := inflate.decompress(b"", _CHUNK_BYTES)):
            yield made
        if not inflate.eof:
            raise BrokenZip("it is truncated")
    elif method == BZIP2:
        yield from _all_of(bz2.BZ2Decompressor(), data)
    elif method == LZMA:
        first = next(data, b"")
        if len(first) < 9 or first[2:4] != b"\5\0":
            raise BrokenZip("its LZMA header is damaged")
        properties, dictionary = first[4], int.from_bytes(first[5:9], "little")
        if dictionary > _DICTIONARY_BYTES:
            raise BrokenZip(f"its LZMA dictionary has {dictionary} bytes, more than {_DICTIONARY_BYTES}")
        filters = {
            "id": lzma.FILTER_LZMA1,
            "dict_size": max(dictionary, 4096),
            "lc": properties % 9,
            "lp": properties // 9 % 5,
            "pb": properties // 45,
        }
        yield from _all_of(lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[filters]), data, first[9:])
    else:
        raise BrokenZip(f"its compression method {method} is not supported")


def _all_of(decompressor: Any, data: Iterator[bytes], first: bytes = b"") -> Iterator[bytes]:
    piece = first or next(data, b"")
    while piece:
        made = decompressor.decompress(piece, _CHUNK_BYTES)
        while made:
            yield made
            done = decompressor.eof or decompressor.needs_input
            made = b"" if done else decompressor.decompress(b"", _CHUNK_BYTES)
        piece = b"" if decompressor.eof else next(data, b"")

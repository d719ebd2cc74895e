"""Where a large document can be cut for parallel reading, and the pieces between the cuts.

    <site>…<people>…</person>│<person>…              a cut: site and people are open
    piece 1   0 … cut
    piece 2   the prolog, <site>, <people>, and the bytes from the cut on

A compiled scan of the tags (``TagScanner``) finds the cuts, at several times the speed of a parse.  A cut is
before a start tag, where few elements are open, so that the text before it goes with the piece before.
The scan does not look at everything, but the parser does: a piece that cannot be read, or that ends with
other open elements than the scan found, is an error of the document, and a pass over the whole says where.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from twigcast.document.encodings import code_points, wide_codec
from twigcast.document.kernel._scanner import shallow_stops
from twigcast.document.limits import DocumentLimits
from twigcast.document.prolog_reader import PrologReader
from twigcast.errors import DocumentError

PIECE_BYTES = 64 << 20
"""The default size of a piece."""

CUT_DEPTH = 3
"""The default depth down to which elements are cut."""

_BLOCK = 1 << 20
_ASCII = tuple(range(128))
_DEFAULT_LIMITS = DocumentLimits()


@dataclass(frozen=True, slots=True)
class DocumentPiece:
    """A stretch of a document, and what has to be read before it.

    ``prolog`` is how many bytes come before the root element, ``open_tags`` has the byte ranges of the start
    tags that are open where the piece begins, and ``end_tags`` closes what is open where it ends.
    """

    number: int
    start: int
    end: int
    is_last: bool = True
    prolog: int = 0
    open_tags: tuple[tuple[int, int], ...] = ()
    end_tags: bytes = b""

    @property
    def preamble(self) -> list[tuple[int, int]]:
        """The byte ranges that are read before the piece; none for the first piece."""
        return [(0, self.prolog), *self.open_tags] if self.number else []

    @property
    def preamble_bytes(self) -> int:
        """The size of these ranges together."""
        return sum(end - start for start, end in self.preamble)

    @property
    def bytes_to_read(self) -> int:
        """The size of the piece with what is read before it."""
        return self.preamble_bytes + self.end - self.start

    def blocks(self, source: Path | bytes | memoryview | mmap.mmap, size: int = _BLOCK) -> Iterator[bytes]:
        """What a parser of the piece is fed, block by block."""
        for start, end in [*self.preamble, (self.start, self.end)]:
            if isinstance(source, Path):
                yield from _file_blocks(source, start, end, size)
            else:
                for at in range(start, end, size):
                    yield bytes(source[at : min(at + size, end)])


def cut_points(
    source: Path | bytes | memoryview | mmap.mmap,
    piece_bytes: int = PIECE_BYTES,
    depth: int = CUT_DEPTH,
    limits: DocumentLimits = _DEFAULT_LIMITS,
) -> list[DocumentPiece]:
    """The pieces of a file or a buffer, of about ``piece_bytes`` each.

    At a cut fewer than ``depth`` elements are open, so no element of this depth, or deeper, is in two pieces;
    the root element has depth 1.
    The document is one piece if it has no place to be cut, if the scan finds an error, or if its encoding is
    not one in which a character of ASCII is one byte.
    """
    if not isinstance(source, Path):
        return _pieces(memoryview(source), piece_bytes, depth, limits)
    with source.open("rb") as file:
        if not file.seek(0, 2):
            return [DocumentPiece(0, 0, 0)]
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as view:
            return _pieces(view, piece_bytes, depth, limits)


def _pieces(view: memoryview, piece_bytes: int, depth: int, limits: DocumentLimits) -> list[DocumentPiece]:
    whole = [DocumentPiece(0, 0, len(view))]
    if len(view) <= piece_bytes or depth < 2:
        return whole
    root = _root(view)
    stops = None if root is None else shallow_stops(view, root, piece_bytes, depth - 1, limits.depth)
    if root is None or not stops:
        return whole
    pieces: list[DocumentPiece] = []
    start = 0
    open_tags: tuple[tuple[int, int], ...] = ()
    for offset, tags in stops:
        end_tags = b"".join(b"</" + name + b">" for _, name in reversed(tags))
        pieces.append(DocumentPiece(len(pieces), start, offset, False, root, open_tags, end_tags))
        start, open_tags = offset, tuple((at, _tag_end(view, at)) for at, _ in tags)
    return [*pieces, DocumentPiece(len(pieces), start, len(view), True, root, open_tags)]


def _root(view: memoryview) -> int | None:
    """Where the root element begins, if the scanner can read what follows."""
    if wide_codec(bytes(view[:2])) is not None:
        return None
    reader = PrologReader()
    try:
        for at in range(0, len(view), _BLOCK):
            if reader.feed(view[at : at + _BLOCK], final=at + _BLOCK >= len(view)):
                break
    except DocumentError:
        return None
    is_ascii = reader.codec == "utf_8" or code_points(reader.codec)[:128] == _ASCII
    return reader.root if is_ascii else None


def _tag_end(view: memoryview, at: int) -> int:
    """The end of the start tag at an offset, in which the scanner has found no error."""
    quote = 0
    while True:
        sign = view[at]
        at += 1
        if quote:
            quote = 0 if sign == quote else quote
        elif sign in b"\"'":
            quote = sign
        elif sign == ord(">"):
            return at


def _file_blocks(path: Path, start: int, end: int, size: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        while start < end and (block := file.read(min(size, end - start))):
            start += len(block)
            yield block

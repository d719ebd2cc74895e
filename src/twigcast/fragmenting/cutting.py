"""Cuts a document into fragments while its bytes come in.

    bytes ──► prolog, by expat ──► tags, by the scanner ──► spans at once, subtrees at the end

Spans need as much memory as one of them; a document that is cut into subtrees is kept until its end, since
the headers of the first fragments name elements of the last one.  UTF-16 and the encodings of East Asia are
scanned as UTF-8 and cut as they are, several times slower.

The scanner compares tags and skips what can hide them, and does not check text: a document that is not
well-formed may be cut without an error, and gives its error when its fragments are parsed.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from twigcast.document import (
    DocumentLimits,
    PathNumbers,
    PrologReader,
    TagReader,
    TagScanner,
    document_error,
    is_multibyte,
    line_breaks,
    multibyte_codec,
    wide_codec,
)
from twigcast.errors import DocumentError
from twigcast.fragmenting.aware import AwareMaker
from twigcast.fragmenting.cut_rules import Aware, CutRule, Cuts, Spans, Subtrees
from twigcast.fragmenting.fragments import HEADER_KINDS, Fragment, HeaderKind, Opening
from twigcast.fragmenting.spans import CutDocument, ScanStop, SpanMaker
from twigcast.fragmenting.subtrees import SubtreeMaker
from twigcast.system import Buffer, flat_buffer, garbage_collection_paused

_DEFAULT_CUT = Spans(bytes=256_000)
_DEFAULT_LIMITS = DocumentLimits()
_BLOCK = 1 << 18  # bytes of a whole document that are scanned at once: they stay in the cache


def fragment(
    body: Buffer,
    *,
    doc_id: str = "",
    cut: CutRule = _DEFAULT_CUT,
    header: HeaderKind = "prefix+level",
    limits: DocumentLimits = _DEFAULT_LIMITS,
) -> Iterator[Fragment]:
    """Cut a document; raises ``DocumentError`` where its tags do not match."""
    body = flat_buffer(body)
    cutter = Cutter(cut, doc_id=doc_id, header=header, limits=limits)
    if _transcribed_codec(body) or not body:
        yield from cutter.feed(body)
        yield from cutter.finish()
        return
    view = memoryview(body)
    size = _BLOCK
    end = 0
    while end < len(body):
        at = cutter.scanned
        end = min(max(at, end) + size, len(body))
        yield from cutter.scan(view, 0, end, final=end == len(body))
        size = _BLOCK if cutter.scanned > at else 2 * size  # a tag may be larger than a block


class Cutter:
    """Cuts a document that is passed to ``feed`` in pieces of any size; ``finish`` ends it."""

    def __init__(
        self,
        cut: CutRule = _DEFAULT_CUT,
        *,
        doc_id: str = "",
        header: HeaderKind = "prefix+level",
        limits: DocumentLimits = _DEFAULT_LIMITS,
    ) -> None:
        if header not in HEADER_KINDS:
            raise ValueError(f"expected a header of {', '.join(HEADER_KINDS)}, got {header!r}")
        self._cut = cut
        self._doc_id = doc_id
        self._header: HeaderKind = header
        self._limits = limits
        self._buffer = bytearray()
        self._base = 0  # offset of the buffer in the document
        self._lines = 0  # line breaks before the buffer
        self._is_begun = False
        self._transcoding: _Transcoding | None = None
        self._prolog: PrologReader | None = None
        self._prolog_read = 0
        self._scanner: TagScanner | None = None
        self._maker: SpanMaker | SubtreeMaker | AwareMaker | None = None

    def feed(self, data: Buffer) -> list[Fragment]:
        """The fragments that are complete with ``data``."""
        return self._more(flat_buffer(data), final=False)

    def finish(self) -> list[Fragment]:
        """The fragments that are left at the end of the document."""
        return self._more(b"", final=True)

    def _more(self, data: bytes | memoryview, *, final: bool) -> list[Fragment]:
        if not self._is_begun:
            data = bytes(self._buffer) + bytes(data)
            self._buffer.clear()
            if not (final or _has_declaration(data)):
                self._buffer += data
                return []
            self._is_begun = True
            codec = _transcribed_codec(data)
            self._transcoding = _Transcoding(codec) if codec else None
        if self._transcoding is not None:
            data = self._transcoding.utf8(data, final=final)
        self._buffer += data
        with memoryview(self._buffer) as view:
            made = self.scan(view, self._base, self._base + len(view), final=final)
        if self._maker is not None and self._maker.kept > self._base:
            size = self._maker.kept - self._base
            with memoryview(self._buffer) as view:
                self._lines += line_breaks(view[:size])
            del self._buffer[:size]
            self._base += size
        return made

    @property
    def scanned(self) -> int:
        """The offset up to which the document was scanned."""
        return 0 if self._scanner is None else self._scanner.at

    def scan(self, view: memoryview, base: int, end: int, *, final: bool) -> list[Fragment]:
        """Cut the document up to the offset ``end``; ``view`` has its bytes from ``base`` on.

        For documents that are in memory; others are passed to ``feed``.
        """
        if self._scanner is None and not self._begin(view[self._prolog_read - base : end - base], final):
            self._prolog_read = end
            return []
        with garbage_collection_paused():  # an aware cut makes some objects for each element
            return self._cut_up_to(view, base, end, final=final)

    def _cut_up_to(self, view: memoryview, base: int, end: int, *, final: bool) -> list[Fragment]:
        assert self._scanner is not None
        assert self._maker is not None
        at = self._scanner.at
        stops = [ScanStop.of(found) for found in self._scanner.scan(view[at - base : end - base], at, final)]
        if self._scanner.fault:
            raise self._error(self._scanner.fault, self._scanner.at, view, base)
        made: list[Fragment] = []
        for number, stop in enumerate(stops, 1):
            is_last = final and number == len(stops)
            try:
                made += (self._maker.finish if is_last else self._maker.take)(stop, view, base)
            except DocumentError as error:  # a name or a namespace that cannot be read
                place = self._error(_INVALID_TOKEN, stop.offset, view, base)
                message = f"{error.message}, in a start tag before this place"
                raise DocumentError(
                    message, code=error.code, line=place.line, column=place.column, offset=place.offset
                ) from None
        return made

    def _begin(self, data: memoryview, final: bool) -> bool:
        """Read the prolog; false if the root element does not begin in these bytes."""
        transcribed = self._transcoding.codec if self._transcoding else None
        if self._prolog is None:
            self._prolog = PrologReader(transcribed=transcribed)
        if not self._prolog.feed(data, final=final):
            return False
        text, codec = self._prolog.text, self._prolog.codec
        tags = TagReader(text, codec, encoding="utf-8" if transcribed else None)
        opening = Opening.transcribed(text, transcribed) if transcribed else Opening.of(text, codec)
        root = self._prolog.root
        assert root is not None
        paths = PathNumbers() if self._header == "prefix+paths" else None
        document = CutDocument(
            self._doc_id,
            self._header,
            opening.inlined(),
            root,
            tags,
            paths,
            encode=self._transcoding.encoded if self._transcoding else bytes,
            is_transcoded=self._transcoding is not None,
            depth=self._limits.depth,
        )
        cut, depth = self._cut, self._limits.depth
        if isinstance(cut, Spans):
            self._maker = SpanMaker(document)
            self._scanner = TagScanner(
                elements=cut.elements,
                bytes=cut.bytes,
                numbers=cut.nodes,
                roots=self._header != "edge",
                depth=depth,
                at=root,
                paths=paths,
            )
        elif isinstance(cut, Aware):
            numbers = PathNumbers() if paths is None else paths
            self._maker = AwareMaker(document, cut, numbers)
            self._scanner = TagScanner(elements=1, depth=depth, at=root, paths=numbers)
        else:
            self._maker = SubtreeMaker(document)
            elements = cut.elements if isinstance(cut, Subtrees) else 0
            nodes = cut.nodes if isinstance(cut, Cuts) else ()
            self._scanner = TagScanner(elements=elements, numbers=nodes, subtrees=True, depth=depth, at=root)
        return True

    def _error(self, fault: int, at: int, view: memoryview, base: int) -> DocumentError:
        """The error of this number at an offset of the document, with line and column."""
        before = view[: at - base]
        lines = self._lines + line_breaks(before)
        tail = bytes(before[-_LONGEST_LINE:])
        line = tail[tail.rfind(b"\n") + 1 :]
        is_utf8 = bool(self._transcoding) or (self._prolog is not None and self._prolog.codec == "utf_8")
        column = sum(byte & 0xC0 != 0x80 for byte in line) if is_utf8 else len(line)
        offset = at if self._transcoding is None else len(self._transcoding.encoded(before))
        return document_error(fault, lines + 1, column, offset, limits=self._limits)


_LONGEST_LINE = 1 << 16  # bytes of which an error counts the column


def _transcribed_codec(body: bytes | memoryview) -> str | None:
    return wide_codec(body) or multibyte_codec(body)


def _has_declaration(beginning: bytes) -> bool:
    """Whether the encoding of a document can be told from these bytes."""
    if not beginning.startswith(b"<?xml"):
        return len(beginning) >= len(b"<?xml")
    return b"?>" in beginning or len(beginning) > _LONGEST_DECLARATION


_LONGEST_DECLARATION = 1 << 12


class _Transcoding:
    """UTF-16, or an encoding of East Asia, as UTF-8 and back, byte for byte the same."""

    def __init__(self, codec: str) -> None:
        self.codec = codec
        self._decoder = codecs.getincrementaldecoder(codec)()

    def utf8(self, data: bytes | memoryview, *, final: bool) -> bytes:
        given = self._decoder.getstate()[0] + bytes(data)
        try:
            text = self._decoder.decode(bytes(data), final)
        except UnicodeDecodeError:
            raise document_error(_INVALID_TOKEN, 1, 0, 0) from None
        if is_multibyte(self.codec) and text.encode(self.codec) + self._decoder.getstate()[0] != given:
            message = "some characters are not written as Python's codec writes them: make the document UTF-8"
            raise DocumentError(message, code="encoding")
        return text.encode()

    def encoded(self, data: bytes | memoryview) -> bytes:
        return bytes(data).decode().encode(self.codec)


_INVALID_TOKEN = 4

"""Reads what stands before the root element: encoding, document type, and where the root element begins.

The rest of a document can then be scanned for tags (``kernel/_scanner``): what is difficult about XML, the
document type declaration, is behind, and expat has read it.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from twigcast.document.encodings import codec_name, is_multibyte
from twigcast.document.faults import EMPTY, UNKNOWN_ENCODING, document_error

_BLOCK = 4096  # bytes that expat gets at once, at least: it need not read far beyond the prolog
_INCORRECT_ENCODING = 19
_BEFORE_DOCTYPE = re.compile(rb"(?:[ \t\r\n]++|<!--.*?-->|<\?.*?\?>)*+(<!DOCTYPE)?", re.DOTALL)
_UTF8_MARK = b"\xef\xbb\xbf"
_DEFAULTS = re.compile(rb"<!ATTLIST|%")


class PrologReader:
    """Reads a document that is passed to ``feed`` in pieces until the root element begins.

    If the document is fed as UTF-8, ``transcribed`` is the codec of its own bytes.
    """

    def __init__(self, *, transcribed: str | None = None) -> None:
        self.root: int | None = None
        self.codec = "utf_8"
        self._transcribed = transcribed
        self._read = bytearray()
        self._waiting = bytearray()
        self._declared: str | None = None
        self._declaration = 0
        self._doctype_end: int | None = None
        self._parser = parser = expat.ParserCreate("utf-8" if transcribed else None)
        parser.XmlDeclHandler = self._xml_declaration
        parser.EndDoctypeDeclHandler = self._end_doctype
        parser.StartElementHandler = self._start

    def feed(self, data: bytes | memoryview, *, final: bool = False) -> bool:
        """Whether the root element has begun; raises ``DocumentError`` if the prolog cannot be read."""
        if final and not self._read and not data:
            raise document_error(EMPTY, 1, 0, 0)
        self._waiting += data
        given = self._waiting
        at = 0
        while self.root is None and (at < len(given) or final):
            # expat begins again with a token that is incomplete: it gets as much as the token has, or more.
            unfinished = len(self._read) - max(self._parser.CurrentByteIndex, 0)
            if _BLOCK < unfinished > len(given) - at and not final:
                break
            block = bytes(given[at : at + max(_BLOCK, unfinished)])
            at += len(block)
            self._read += block
            try:
                self._parser.Parse(block, final and at == len(given))
            except expat.ExpatError as error:
                if self.root is None:
                    known, place = bytes(self._read), max(self._parser.ErrorByteIndex, 0)
                    raise document_error(error.code, error.lineno, error.offset, place, known) from None
            except (LookupError, ValueError):
                raise document_error(UNKNOWN_ENCODING, 1, 0, 0, bytes(self._read)) from None
        del self._waiting[: at if self.root is None else len(given)]
        return self.root is not None

    @property
    def text(self) -> bytes:
        """The XML declaration and the document type declaration, if a parser of parts needs them."""
        assert self.root is not None
        prolog = bytes(self._read[: self.root])
        mark = len(_UTF8_MARK) if prolog.startswith(_UTF8_MARK) else 0
        start = _BEFORE_DOCTYPE.match(prolog, max(mark, self._declaration))
        assert start is not None
        doctype = prolog[start.start(1) : self._doctype_end] if start[1] else b""
        if not doctype and self.codec == "utf_8":
            return b""
        return prolog[mark : self._declaration] + doctype

    def _xml_declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        at = self._parser.CurrentByteIndex
        self._declaration = self._read.index(b"?>", at) + 2
        if encoding is None:
            return
        codec = codec_name(encoding)
        if codec is None:
            raise LookupError(encoding)
        if self._transcribed is None or (codec == self._transcribed and is_multibyte(codec)):
            self.codec = codec
        elif not codec.startswith("utf_16") or is_multibyte(self._transcribed):
            raise document_error(_INCORRECT_ENCODING, 1, 0, at)

    def _end_doctype(self) -> None:
        self._doctype_end = self._read.index(b">", self._parser.CurrentByteIndex) + 1

    def _start(self, name: str, attributes: object) -> None:
        if self.root is None:
            self.root = self._parser.CurrentByteIndex


class TagReader:
    """Decodes the names of start tags, and resolves the namespaces that they declare.

    ``prolog`` has the document type declaration, whose entities can occur in a declaration and whose defaults
    can be declarations; ``encoding`` is the encoding of the bytes, if it is not the one that is declared.
    """

    def __init__(self, prolog: bytes, codec: str, *, encoding: str | None = None) -> None:
        self._prolog = prolog
        self._codec = "utf_8" if encoding else codec
        self._encoding = encoding
        self._has_defaults = bool(_DEFAULTS.search(prolog))
        self._known: dict[tuple[bytes, bytes], tuple[str, tuple[tuple[str, str], ...]]] = {}

    def read(self, name: bytes, declared: bytes) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The name, and the declared namespaces by prefix, of a tag with these bytes of declarations."""
        key = name, declared
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[key] = self._resolved(name, declared)
        return known

    def _resolved(self, name: bytes, declared: bytes) -> tuple[str, tuple[tuple[str, str], ...]]:
        if not declared and not self._has_defaults:
            try:
                return name.decode(self._codec), ()
            except UnicodeDecodeError:
                raise document_error(_INVALID_TOKEN, 1, 0, 0) from None
        found: list[str] = []
        names: list[str] = []

        def start(tag: str, attributes: list[str]) -> None:
            names.append(tag)
            found.extend(attributes)

        parser = expat.ParserCreate(self._encoding)
        parser.ordered_attributes = True
        parser.StartElementHandler = start
        try:
            parser.Parse(self._prolog + b"<" + name + declared + b"/>", True)
        except expat.ExpatError as error:
            raise document_error(error.code, 1, 0, 0) from None
        declarations = tuple(
            (attribute.partition(":")[2], value)
            for attribute, value in zip(found[::2], found[1::2], strict=True)
            if attribute == "xmlns" or attribute.startswith("xmlns:")
        )
        return names[0], declarations


_REMEMBERED = 4096
_INVALID_TOKEN = 4

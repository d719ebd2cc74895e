"""Parses the text of a DTD with expat.

Expat reads a DTD only as the external part of a document, so it gets an empty document whose external part
are these bytes.  Any other external entity is refused, and never opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.parsers import expat

from twigcast.document import codec_name, line_and_column, wide_codec
from twigcast.errors import SchemaError
from twigcast.schema.dtd_sections import without_sections


class DtdParser:
    """Parses one DTD, as often as wanted.

    Expat limits how much entities expand a document once it has 8 MiB, to 100 times its own size.  White
    space of a tenth of the DTD is the document here, so a DTD may expand to ten times its size.
    """

    def __init__(self, body: bytes, name: str) -> None:
        self.name = name
        self._body = _utf8(body, name)
        self._parser: Any = None

    def parse(self, handlers: Mapping[str, Callable[..., None]]) -> int | None:
        """Parse all of it with these handlers of expat, by name; the number of expat's error if there is one.

        The handlers are called in the order of the text, with parameter entities in their places.
        """
        document: Any = expat.ParserCreate("utf-8")
        document.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
        document.UseForeignDTD(True)

        def give(context: str, *_: object) -> int:
            self._parser = parser = document.ExternalEntityParserCreate(context, "utf-8")
            parser.ExternalEntityRefHandler = self._refuse
            for handler, function in handlers.items():
                setattr(parser, handler, function)
            parser.Parse(self._body, True)
            return 1

        document.ExternalEntityRefHandler = give
        try:
            document.Parse(_STANDALONE % (b" " * (len(self._body) // 10)), True)
        except expat.ExpatError as error:
            return error.code
        finally:
            document.ExternalEntityRefHandler = None  # otherwise a cycle would keep the body
        return None

    def take_sections_out(self, values: Mapping[str, str | None]) -> bool:
        """Read included sections without their marks from now on; whether that makes a difference."""
        before = self._body
        self._body = without_sections(before, values)
        return self._body != before

    @property
    def place(self) -> str:
        """Where the parser is; in a parameter entity, where the DTD refers to it."""
        return _place(self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1)

    def error(self, number: int, expected: str | None) -> SchemaError:
        """The error for expat's ``number``; ``expected`` is what could have stood there."""
        place = _place(self._parser.ErrorLineNumber, self._parser.ErrorColumnNumber + 1)
        if number == _AMPLIFICATION:
            message = f"{self.name} is too large: its entities expand it to more than ten times its size"
            return SchemaError(f"{message}, at {place}", code="too-complex")
        message = expat.ErrorString(number) or f"expat error {number}"
        if number in _EXPECTING and expected is not None:
            message = f"{message}: {expected} expected"
        return SchemaError(f"{self.name} is not a DTD: {message} at {place}")

    def _refuse(self, context: str, base: str | None, location: str, public: str | None) -> int:
        raise SchemaError(
            f"{self.name} refers to {location}: external entities are not read, "
            f"give it as one file, at {self.place}"
        )


# Standalone, so that expat reads on after a reference without a declaration, which is an error of ours.
_STANDALONE = b"<?xml version='1.0' standalone='yes'?>%s<x/>"
_AMPLIFICATION = 43
INCOMPLETE = 29
"""Expat's number for markup that does not end, or for an entity with declarations in a section."""

_EXPECTING = {2, INCOMPLETE}  # 2 is a syntax error
_ENCODING = re.compile(
    rb"""(?:\xef\xbb\xbf)?<\?xml(?:[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"[^"<>]*"|'[^'<>]*'))?"""
    rb"""[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*["']([A-Za-z][A-Za-z0-9._-]*)["']"""
)


def _utf8(body: bytes, name: str) -> bytes:
    """The DTD in UTF-8, in which expat reports the pieces of declarations undivided."""
    declared = _ENCODING.match(body)
    encoding = declared[1].decode("ascii") if declared else "utf-8"
    codec = wide_codec(body) or codec_name(encoding)
    if codec is None:
        raise SchemaError(f"{name} is not a DTD: its encoding {encoding!r} is unknown")
    if codec == "utf_8":
        return body
    try:
        return body.decode(codec).encode("utf-8", "surrogatepass")  # which expat refuses
    except UnicodeDecodeError as error:
        place = _place(*line_and_column([body], codec, error.start))
        raise SchemaError(f"{name} is not a DTD: these bytes are not {codec} at {place}") from None


def _place(line: int, column: int) -> str:
    return f"line {line}, column {column}"

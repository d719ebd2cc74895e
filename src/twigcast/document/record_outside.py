"""What lies around the records of a file: the open elements, namespaces, entities and encoding of records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from twigcast.document.encodings import codec_name, multibyte_codec
from twigcast.document.entities import EntityTable
from twigcast.document.faults import ENTITY_DEPTH, UNKNOWN_ENCODING, document_error
from twigcast.document.limits import DocumentLimits
from twigcast.document.prolog import declaration, make_prolog
from twigcast.document.transcription import Transcriber
from twigcast.errors import DocumentError

# Sets have possessive quantifiers, groups have not: Python 3.11.2 matches possessive groups wrongly.
_SPACE = rb"[ \t\r\n]"
_ATTRIBUTE = re.compile(
    _SPACE + rb"++([^ \t\r\n=/>\"'<]++)" + _SPACE + rb"*+=" + _SPACE + rb"*+(?:\"[^\"]*+\"|'[^']*+')"
)
_TAG_NAME = re.compile(rb"<[^ \t\r\n/>]++")
_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);|#)")


class RecordOutside:
    """Parses what lies around the records; an element deeper than ``depth`` is an error."""

    def __init__(self, record: bytes, *, depth: int) -> None:
        self._record = record
        self._depth = depth
        self._elements: list[str] = []  # the start tags of what is open
        self._declaring: list[tuple[str, str]] = []
        self._bound: dict[str, list[str]] = {}
        self._defaulted: set[str] = set()  # prefixes that the document type binds on records
        self._prologs: dict[tuple[frozenset[str], bool], bytes | None] = {}
        self._encoding: str | None = None
        self._untold: DocumentError | None = None
        self._entities = EntityTable(DocumentLimits().entity_depth)
        self.doctype: bytes | None = None
        self.subset = b""
        self.error = False
        self.codec: str | None = None  # if the encoding has several bytes per character
        self._transcriber: Transcriber | None = None

    def _begin(self, data: bytes) -> Transcriber:
        self.codec = multibyte_codec(data)
        transcriber = Transcriber(self.codec)
        self._parser = parser = expat.ParserCreate(transcriber.encoding, "\x01")
        parser.namespace_prefixes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartNamespaceDeclHandler = self._bind
        parser.EndNamespaceDeclHandler = self._unbind
        parser.XmlDeclHandler = self._declared
        parser.EntityDeclHandler = self._entity
        parser.AttlistDeclHandler = self._attribute
        return transcriber

    def tell(self, data: bytes) -> None:
        self._parse(data, final=False)

    def pass_record(self) -> None:
        """Account for a record; if it is the root element, expat is given an empty element in its place."""
        if not self._elements:
            self._parse(b"<_/>", final=False)

    def end(self) -> None:
        self._parse(b"", final=True)

    def fail(self, error: DocumentError) -> None:
        """Read nothing more because of this error."""
        if not self.error:
            self.error, self._untold = True, error

    def take_error(self) -> DocumentError | None:
        """Return the error that made the outside unreadable, the first time only."""
        error, self._untold = self._untold, None
        return error

    def prolog(self, body: bytes) -> bytes | None:
        """The prolog of the record ``body`` at this point of the file."""
        own = frozenset(_own_prefixes(body)) if b"xmlns" in body else frozenset()
        typed = bool(self.subset) and (b"<!ATTLIST" in self.subset or bool(_ENTITY.search(body)))
        if (own, typed) not in self._prologs:
            inherited = {
                prefix: uris[-1]
                for prefix, uris in self._bound.items()
                if uris and uris[-1] and prefix not in own and prefix not in self._defaulted
            }
            self._prologs[own, typed] = make_prolog(
                self._record,
                encoding=self._encoding,
                subset=self.subset if typed else b"",
                namespaces=inherited,
            )
        return self._prologs[own, typed]

    def preamble(self) -> bytes:
        encoding = self._encoding or "utf-8"
        declaration = f'<?xml version="1.0" encoding="{encoding}"?>'.encode()
        tags = "".join(self._elements).encode(encoding, "xmlcharrefreplace")
        return declaration + (self.doctype or b"") + tags

    def _parse(self, data: bytes, *, final: bool) -> None:
        if self.error:
            return
        if self._transcriber is None:
            if not data and not final:
                return
            self._transcriber = self._begin(data)  # the declaration is whole in what is told first
        try:
            self._parser.Parse(self._transcriber.utf8(data, final=final), final)
        except DocumentError as error:
            self.fail(error)
        except _TooDeep:
            message = f"more than {self._depth} elements are open (limits.depth)"
            self.fail(DocumentError(message, code="too-deep"))
        except expat.ExpatError as error:
            self.fail(document_error(error.code, 1, 0, 0))
        except (LookupError, ValueError):
            self.fail(document_error(UNKNOWN_ENCODING, 1, 0, 0, data))

    def _start(self, name: str, attributes: Any) -> None:
        _, local, prefix = [*name.split("\x01"), "", ""][:3] if "\x01" in name else ("", name, "")
        tag = f"{prefix}:{local}" if prefix else local
        for bound, uri in self._declaring:
            tag += f" {declaration(bound, uri)}"
        self._declaring = []
        if len(self._elements) >= self._depth:
            raise _TooDeep
        self._elements.append(f"<{tag}>")

    def _end(self, name: str) -> None:
        self._elements.pop()

    def _bind(self, prefix: str | None, uri: str | None) -> None:
        self._declaring.append((prefix or "", uri or ""))
        self._bound.setdefault(prefix or "", []).append(uri or "")
        self._prologs.clear()

    def _unbind(self, prefix: str | None) -> None:
        self._bound[prefix or ""].pop()
        self._prologs.clear()

    def _entity(self, name: str, is_parameter: bool, value: str | None, *_: str | None) -> None:
        if not is_parameter and not self._entities.declare(name, value):
            raise document_error(ENTITY_DEPTH, 1, 0, 0)

    def _declared(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and codec_name(encoding) is None:
            raise LookupError(encoding)
        if encoding is not None and encoding.lower() != "utf-8":
            self._encoding = encoding

    def _attribute(self, element: str, name: str, kind: str, default: str | None, required: bool) -> None:
        if element.encode() == self._record and default is not None and name.split(":")[0] == "xmlns":
            self._defaulted.add(name.partition(":")[2])


class _TooDeep(Exception):
    pass


def _own_prefixes(body: bytes) -> Iterator[str]:
    """The prefixes that the start tag of ``body`` declares itself."""
    name = _TAG_NAME.match(body)
    place = name.end() if name else 0
    while found := _ATTRIBUTE.match(body, place):
        place = found.end()
        if found[1] == b"xmlns" or found[1].startswith(b"xmlns:"):
            yield found[1][len(b"xmlns:") :].decode("utf-8", "replace")

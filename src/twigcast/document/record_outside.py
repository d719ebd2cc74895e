"""What lies around the records of a file: the open elements, namespaces, entities and encoding of records.

A record is given what it uses of that, as a part of a document is (``parts.py``): the default namespace,
prefixes that stand before a colon anywhere in it, entities that it refers to, and attribute types of its
elements.  So what a file declares and a record does not use costs that record nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from xml.parsers import expat

from twigcast.document.encodings import codec_name, multibyte_codec
from twigcast.document.entities import EntityTable
from twigcast.document.faults import ENTITY_DEPTH, UNKNOWN_ENCODING, document_error
from twigcast.document.limits import DocumentLimits
from twigcast.document.parts import PREFIX, REFERENCE, TAG
from twigcast.document.prolog import (
    attribute_type,
    declaration,
    entity_declaration,
    external_entity_declaration,
    make_prolog,
)
from twigcast.document.transcription import Transcriber
from twigcast.errors import DocumentError

# Sets have possessive quantifiers, groups have not: Python 3.11.2 matches possessive groups wrongly.
_SPACE = rb"[ \t\r\n]"
_ATTRIBUTE = re.compile(
    _SPACE + rb"++([^ \t\r\n=/>\"'<]++)" + _SPACE + rb"*+=" + _SPACE + rb"*+(?:\"[^\"]*+\"|'[^']*+')"
)
_TAG_NAME = re.compile(rb"<[^ \t\r\n/>]++")
_REMEMBERED = 64  # prologs


class RecordOutside:
    """Parses what lies around the records; an element deeper than ``depth`` is an error."""

    def __init__(self, record: bytes, *, depth: int) -> None:
        self._record = record
        self._depth = depth
        self._elements: list[str] = []  # the start tags of what is open
        self._declaring: list[tuple[str, str]] = []
        self._bound: dict[str, list[str]] = {}
        self._defaulted: set[str] = set()  # prefixes that the document type binds on records
        self._prologs: dict[_Used, bytes | None] = {}
        self._declared_entities: dict[str, _Entity] = {}
        self._attribute_types: dict[str, dict[str, str]] = {}
        self._attribute_prefixes: dict[str, set[str]] = {}
        self._encoding: str | None = None
        self._decoder = "utf-8"
        self._untold: DocumentError | None = None
        self._entities = EntityTable(DocumentLimits().entity_depth)
        self.doctype: bytes | None = None
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
        used = self._used(body)
        if used not in self._prologs:
            if len(self._prologs) >= _REMEMBERED:
                self._prologs.clear()
            encoding = self._encoding or "utf-8"
            declared = [self._declared_entities[name].declaration for name in used.entities]
            for name in used.elements:
                declared += self._attribute_types[name].values()
            self._prologs[used] = make_prolog(
                self._record,
                encoding=self._encoding,
                subset="".join(declared).encode(encoding, "xmlcharrefreplace"),
                namespaces={prefix: self._bound[prefix][-1] for prefix in used.prefixes},
            )
        return self._prologs[used]

    def _used(self, body: bytes) -> _Used:
        """What a record uses of all that it could inherit."""
        bound = self._bound
        own = frozenset(_own_prefixes(body)) if b"xmlns" in body else frozenset()
        prefixes = {""} & bound.keys()
        entities: tuple[str, ...] = ()
        elements: set[str] = set()
        if self._declared_entities or self._attribute_types or len(bound) > len(prefixes):
            text = body.decode(self._decoder, "replace")
            prefixes |= bound.keys() & set(PREFIX.findall(text))
            if self._attribute_types:
                elements |= self._attribute_types.keys() & set(TAG.findall(text))
            entities = self._used_entities(text)
            for name in entities:
                prefixes |= bound.keys() & self._declared_entities[name].prefixes
                elements |= self._attribute_types.keys() & self._declared_entities[name].elements
            for name in elements:
                prefixes |= bound.keys() & self._attribute_prefixes[name]
        inherited = {each for each in prefixes - own - self._defaulted if bound[each] and bound[each][-1]}
        return _Used(frozenset(inherited), entities, tuple(sorted(elements)))

    def _used_entities(self, text: str) -> tuple[str, ...]:
        """The declared entities that a text refers to, and those that these refer to."""
        known = self._declared_entities
        if not known or "&" not in text:
            return ()
        used: dict[str, None] = {}
        waiting = sorted(known.keys() & set(REFERENCE.findall(text)))
        while waiting:
            name = waiting.pop()
            if name not in used:
                used[name] = None
                waiting += known.keys() & known[name].references
        return tuple(sorted(used))

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

    def _entity(
        self,
        name: str,
        is_parameter: bool,
        value: str | None,
        base: str | None,
        system: str | None,
        public: str | None,
        notation: str | None,
    ) -> None:
        if is_parameter:
            return
        if not self._entities.declare(name, value):
            raise document_error(ENTITY_DEPTH, 1, 0, 0)
        if notation is None:
            self._declared_entities.setdefault(name, _Entity.of(name, value, system or ""))

    def _declared(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and codec_name(encoding) is None:
            raise LookupError(encoding)
        if encoding is not None and encoding.lower() != "utf-8":
            self._encoding = encoding
            self._decoder = codec_name(encoding) or "utf-8"

    def _attribute(self, element: str, name: str, kind: str, default: str | None, required: bool) -> None:
        if element.encode() == self._record and default is not None and name.split(":")[0] == "xmlns":
            self._defaulted.add(name.partition(":")[2])
        if default is not None or kind != "CDATA":
            types = self._attribute_types.setdefault(element, {})
            types.setdefault(name, attribute_type(element, name, kind, default, required))
            prefixes = self._attribute_prefixes.setdefault(element, set())
            prefixes.update(PREFIX.findall(types[name]))


class _TooDeep(Exception):
    pass


class _Used(NamedTuple):
    """What a record inherits: prefixes, entities, and elements with declared attributes."""

    prefixes: frozenset[str]
    entities: tuple[str, ...]
    elements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Entity:
    """An entity: its declaration, and what its replacement text uses."""

    declaration: str
    references: frozenset[str]
    prefixes: frozenset[str]
    elements: frozenset[str]

    @classmethod
    def of(cls, name: str, value: str | None, system: str) -> _Entity:
        if value is None:
            return cls(external_entity_declaration(name, system), *[frozenset()] * 3)
        found = (frozenset(expression.findall(value)) for expression in (REFERENCE, PREFIX, TAG))
        return cls(entity_declaration(name, value), *found)


def _own_prefixes(body: bytes) -> Iterator[str]:
    """The prefixes that the start tag of ``body`` declares itself."""
    name = _TAG_NAME.match(body)
    place = name.end() if name else 0
    while found := _ATTRIBUTE.match(body, place):
        place = found.end()
        if found[1] == b"xmlns" or found[1].startswith(b"xmlns:"):
            yield found[1][len(b"xmlns:") :].decode("utf-8", "replace")

"""Parses bytes with expat into the tree of ``tree.py``.

Expat reports where each event begins; where a tag or a reference ends is found in the bytes.
For a node that an entity brings in, expat reports the position of the reference, so the reference is the byte
range of that node.  Nothing external is ever read: a reference to an external entity is an error.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from xml.parsers import expat

from twigcast.document.encodings import codec_name, multibyte_codec
from twigcast.document.entities import EntityTable
from twigcast.document.faults import (
    EMPTY,
    ENTITY_DEPTH,
    EXPANSION,
    EXTERNAL_ENTITY,
    TOO_DEEP,
    TOO_LARGE,
    TOO_MANY_ATTRIBUTES,
    UNDECLARED_ENTITY,
    UNKNOWN_ENCODING,
    document_error,
)
from twigcast.document.limits import DocumentLimits
from twigcast.document.prolog import attribute_type
from twigcast.document.transcription import Locator, located, transcribe
from twigcast.document.tree import Attribute, Child, Comment, Document, Element, Instruction, Text
from twigcast.errors import DocumentError
from twigcast.system import Buffer, flat_buffer, whole_bytes

_DEFAULT_LIMITS = DocumentLimits()


def read(body: Buffer, limits: DocumentLimits = _DEFAULT_LIMITS) -> Document:
    """Parse a document; raises ``DocumentError`` if it is not well-formed or exceeds a limit."""
    given = flat_buffer(body)
    if not given:
        raise document_error(EMPTY, 1, 0, 0)
    if len(given) > limits.bytes:
        raise document_error(TOO_LARGE, 1, 0, limits.bytes, limits=limits)
    return _Reader(whole_bytes(given), limits).read()


def read_heading(body: bytes, limits: DocumentLimits = _DEFAULT_LIMITS) -> Document | None:
    """What the parts of a document inherit from it, without its tree: the place of an element is its offset.

    The ``order`` of an element in ``namespaces`` is the offset of its start tag.  ``None`` if a tree is due,
    since offsets do not tell elements apart or are not those of the parser: the document has an internal DTD
    subset, or an encoding of several bytes.  It must be well-formed.
    """
    reader = _HeadingReader(body, limits)
    if reader.width > 1 or reader.transcribed:
        return None
    document = reader.read()
    return None if reader.has_subset else document


def attribute_range(body: bytes, tag: int, name: bytes) -> tuple[int, int]:
    """The byte range of an attribute in the start tag at an offset; the name is the whole one, as written.

    The encoding must be one in which the bytes of ASCII stand for themselves only.
    """
    found = next(each for each in _attributes_of_tag(body, tag) if each[1] == name)
    return found.start(1), found.end()


_SEPARATOR = "\x01"  # between the namespace and the local name; no document can contain it
_TAG_NAME = re.compile(rb"<[^ \t\r\n/>]+")
_ATTRIBUTE = re.compile(rb"""[ \t\r\n]+([^ \t\r\n=/>]+)[ \t\r\n]*=[ \t\r\n]*("[^"]*"|'[^']*')""")
_LITTLE_ENDIAN = (b"\xff\xfe", b"<\x00")


class _Reader:
    """The state of one parse: the expat parser, the tree so far, and the node that is open in it.

    ``text`` is the text node that may still grow, ``pieces`` its character data, ``text_at`` the offset of
    its last event; ``cdata_at`` is where an open CDATA section begins.  ``signs`` is the body with one byte
    for each character of ``width`` bytes, so that markup can be searched for in UTF-16 as well.  ``body`` is
    what expat reads: the ``written`` bytes, or their transcription if they have the codec ``transcribed``.
    """

    def __init__(self, written: bytes, limits: DocumentLimits) -> None:
        self.written = written
        self.transcribed = multibyte_codec(written)
        self.body = body = transcribe(written, self.transcribed) if self.transcribed else written
        self.limits = limits
        self.document = Document(written)
        self.place: Document | Element = self.document
        self.order = 0
        self.depth = 0
        self.expanded = 0
        self.text: Text | None = None
        self.pieces: list[str] = []
        self.text_at = 0
        self.cdata_at: int | None = None
        self.in_doctype = False
        self.entities = EntityTable(limits.entity_depth)
        self.signs, self.width, self.codec = _signs(body)
        if self.width > 1:
            self.document.encoding = self.codec.replace("_", "-")
        encoding = "utf-8" if self.transcribed else None
        self.parser = parser = expat.ParserCreate(encoding, _SEPARATOR)
        parser.ordered_attributes = True
        parser.buffer_text = False
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartCdataSectionHandler = self._start_cdata
        parser.EndCdataSectionHandler = self._end_cdata
        parser.namespace_prefixes = True
        parser.CommentHandler = self._comment
        parser.ProcessingInstructionHandler = self._instruction
        parser.StartDoctypeDeclHandler = self._start_doctype
        parser.EndDoctypeDeclHandler = self._end_doctype
        parser.StartNamespaceDeclHandler = self._start_namespace
        parser.EndNamespaceDeclHandler = self._end_namespace
        parser.XmlDeclHandler = self._declares_encoding
        parser.EntityDeclHandler = self._declares_entity
        parser.AttlistDeclHandler = self._declares_attribute
        parser.ExternalEntityRefHandler = self._external
        parser.SkippedEntityHandler = self._skipped

    def read(self) -> Document:
        parser = self.parser
        try:
            parser.Parse(self.body, True)
        except expat.ExpatError as error:
            at = self._located_offset(max(parser.ErrorByteIndex, 0))
            raise document_error(
                error.code, error.lineno, error.offset, at, self.written, self.limits
            ) from None
        except (LookupError, ValueError):  # raised by pyexpat for codecs that it does not know or cannot use
            line, column, at = parser.ErrorLineNumber, parser.ErrorColumnNumber, parser.ErrorByteIndex
            raise document_error(UNKNOWN_ENCODING, line, column, at, self.written) from None
        if self.transcribed:
            self._locate(self.transcribed)
        return self.document

    # Events

    def _start(self, name: str, attributes: list[str]) -> None:
        at = self._end_text()
        self.depth += 1
        if self.depth > self.limits.depth:
            raise self._error(TOO_DEEP)
        if len(attributes) > 2 * self.limits.attributes:
            raise self._error(TOO_MANY_ATTRIBUTES)
        namespace, local, prefix = _expanded_name(name)
        names = [_expanded_name(each) for each in attributes[::2]]
        prefixes = sum(len(each) + 1 for each in [prefix, *(each for _, _, each in names)] if each)
        self._grow(len(name) + sum(map(len, attributes)) - prefixes)
        element = Element(namespace, local, self.place, self._next(), at, prefix=prefix)
        if attributes:
            element.attributes = self._located(
                element,
                [
                    Attribute(uri, own, value, element, self._next(), prefix=prefix)
                    for (uri, own, prefix), value in zip(names, attributes[1::2], strict=True)
                ],
            )
        self.place.children.append(element)
        self.place = element

    def _end(self, name: str) -> None:
        at = self._end_text()
        element = self.place
        assert isinstance(element, Element)
        if self._in_entity(element.start):
            element.end = self._after(b";", at)
        elif not element.children and self._ends_empty_tag(element.start, at):
            element.end = at
        else:
            element.end = self._after(b">", at)
        self.place = element.parent
        self.depth -= 1

    def _characters(self, data: str) -> None:
        at = self.parser.CurrentByteIndex
        self._grow(len(data))
        if self.text is None:
            assert isinstance(self.place, Element)
            start = at if self.cdata_at is None else self.cdata_at
            self.text = Text("", self.place, self._next(), start)
            self.place.children.append(self.text)
        self.pieces.append(data)
        self.text_at = at

    def _start_cdata(self) -> None:
        self.cdata_at = self.parser.CurrentByteIndex

    def _end_cdata(self) -> None:
        self.cdata_at = None

    def _comment(self, value: str) -> None:
        at = self._end_text()
        if not self.in_doctype:
            comment = Comment(value, self.place, self._next(), at, self._node_end(at, b"-->"))
            self.place.children.append(comment)

    def _instruction(self, target: str, value: str) -> None:
        at = self._end_text()
        if not self.in_doctype:
            end = self._node_end(at, b"?>")
            self.place.children.append(Instruction(target, value, self.place, self._next(), at, end))

    def _start_doctype(self, *_: object) -> None:
        self.in_doctype = True

    def _end_doctype(self) -> None:
        self.in_doctype = False

    def _start_namespace(self, prefix: str | None, uri: str | None) -> None:
        if prefix != "xml":
            self.document.namespaces.begin(prefix or "", uri or "", self.order + 1)

    def _end_namespace(self, prefix: str | None) -> None:
        if prefix != "xml":
            self.document.namespaces.end(prefix or "", self.order + 1)

    def _declares_encoding(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is None:
            return
        codec = codec_name(encoding)
        if codec is None:
            raise LookupError(encoding)  # as pyexpat does; then ErrorByteIndex is that of the name
        if self.width == 1:
            self.codec = "utf_8" if self.transcribed else codec
            self.document.encoding = encoding.lower() if _is_known(encoding) else codec.replace("_", "-")

    def _declares_entity(self, name: str, is_parameter: bool, value: str | None, *_: str | None) -> None:
        if is_parameter:
            return
        if not self.entities.declare(name, value):
            raise self._error(ENTITY_DEPTH)
        if value is not None:
            self.document.entities.setdefault(name, value)

    def _declares_attribute(
        self, element: str, name: str, kind: str, default: str | None, required: bool
    ) -> None:
        at = self.parser.CurrentByteIndex // self.width  # of the default value, which expat has just read
        quote = self.signs[at : at + 1]
        if quote in (b'"', b"'"):
            self._check_references(at, self.signs.index(quote, at + 1))
        if default is not None or kind != "CDATA":
            attributes = self.document.attribute_types.setdefault(element, {})
            attributes.setdefault(name, attribute_type(element, name, kind, default, required))

    def _external(self, *_: str | None) -> int:
        raise self._error(EXTERNAL_ENTITY)

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            raise self._error(UNDECLARED_ENTITY)

    def _end_text(self) -> int:
        """End the text node before this event, and return the offset of the event."""
        at = self.parser.CurrentByteIndex
        if self.text is not None:
            self.text.value = "".join(self.pieces)
            self.text.end = at if at > self.text_at else self._after(b";", at)
            self.text = None
            self.pieces.clear()
        return at

    # Byte ranges

    def _located(self, element: Element, attributes: list[Attribute]) -> tuple[Attribute, ...]:
        """The attributes with their byte ranges; an attribute from a DTD default has the range of the tag."""
        start = element.start
        if self._in_entity(start):
            end = self._after(b";", start)
            self._check_references(start // self.width, end // self.width)
        else:
            written, end = self._written_attributes(start)
            for attribute, (name, value_end) in zip(attributes, written, strict=False):
                attribute.start, attribute.end = name, value_end
        for attribute in attributes:
            if not attribute.end:
                attribute.start, attribute.end = start, end
        return tuple(attributes)

    def _written_attributes(self, start: int) -> tuple[list[tuple[int, int]], int]:
        """The ranges of the attributes in the start tag at ``start``, and where the tag ends."""
        signs, width = self.signs, self.width
        written: list[tuple[int, int]] = []
        place = start // width
        for found in _attributes_of_tag(signs, place):
            place = found.end()
            if found[1] != b"xmlns" and not found[1].startswith(b"xmlns:"):
                written.append((found.start(1) * width, place * width))
            if b"&" in found[2]:
                self._check_references(*found.span(2))
        return written, self._after(b">", place * width)

    def _check_references(self, start: int, end: int) -> None:
        """Refuse an undeclared entity in an attribute value, which expat drops if it has not read the DTD."""
        value = self.body[start * self.width : end * self.width].decode(self.codec, "replace")
        if self.entities.undeclared(value) is not None:
            raise self._error(UNDECLARED_ENTITY)

    def _in_entity(self, at: int) -> bool:
        return self.signs.startswith(b"&", at // self.width)

    def _ends_empty_tag(self, start: int, at: int) -> bool:
        return self.signs.endswith(b"/>", start // self.width, at // self.width)

    def _node_end(self, at: int, sign: bytes) -> int:
        """Where the comment or instruction at ``at`` ends, or the reference that brought it in."""
        return self._after(b";" if self._in_entity(at) else sign, at)

    def _after(self, sign: bytes, at: int) -> int:
        return (self.signs.index(sign, at // self.width) + len(sign)) * self.width

    def _locate(self, codec: str) -> None:
        """Change the byte ranges of all nodes from those in the transcription to those in the document."""
        nodes: list[Child | Attribute] = list(self.document.children)
        for node in nodes:  # the list grows while it is walked
            if isinstance(node, Element):
                nodes += [*node.attributes, *node.children]
        offsets = [node.start for node in nodes] + [node.end for node in nodes]
        place = located(self.written, codec, self.body, offsets)
        for node in nodes:
            node.start, node.end = place[node.start], place[node.end]

    def _located_offset(self, offset: int) -> int:
        if not self.transcribed:
            return offset
        return Locator(self.written, self.transcribed, self.body).locate(offset)

    # Counts and errors

    def _next(self) -> int:
        self.order += 1
        return self.order

    def _grow(self, characters: int) -> None:
        self.expanded += characters
        if self.expanded > max(
            self.limits.amplification_threshold, self.limits.amplification * len(self.body)
        ):
            raise self._error(EXPANSION)

    def _error(self, number: int) -> DocumentError:
        parser = self.parser
        line, column, at = parser.CurrentLineNumber, parser.CurrentColumnNumber, parser.CurrentByteIndex
        offset = self._located_offset(at)
        return document_error(number, line, column, offset, self.written, self.limits)


class _HeadingReader(_Reader):
    """Reads encoding and namespaces only, at the speed of expat."""

    def __init__(self, written: bytes, limits: DocumentLimits) -> None:
        super().__init__(written, limits)
        self.has_subset = False
        self.begun = 0
        parser = self.parser
        parser.StartElementHandler = parser.EndElementHandler = None
        parser.CharacterDataHandler = parser.CommentHandler = parser.ProcessingInstructionHandler = None
        parser.StartCdataSectionHandler = parser.EndCdataSectionHandler = None

    def _start_doctype(self, *found: object) -> None:
        self.has_subset = self.has_subset or bool(found[-1])

    def _start_namespace(self, prefix: str | None, uri: str | None) -> None:
        self.order = self.begun = self.parser.CurrentByteIndex - 1
        super()._start_namespace(prefix, uri)

    def _end_namespace(self, prefix: str | None) -> None:
        # Of an empty element, expat may report the offset of its start or that of its end.
        self.order = max(self.parser.CurrentByteIndex - 1, self.begun + 1)
        super()._end_namespace(prefix)


def _attributes_of_tag(signs: bytes, tag: int) -> Iterator[re.Match[bytes]]:
    """The written attributes of the start tag at an offset: name and quoted value."""
    name = _TAG_NAME.match(signs, tag)
    place = name.end() if name else tag
    while found := _ATTRIBUTE.match(signs, place):
        place = found.end()
        yield found


def _is_known(encoding: str) -> bool:
    """Whether Python knows the encoding by this name, too."""
    try:
        codecs.lookup(encoding)
    except LookupError:
        return False
    return True


def _expanded_name(name: str) -> tuple[str, str, str]:
    """The namespace, the local name and the prefix of a name as expat reports it."""
    parts = name.split(_SEPARATOR)
    if len(parts) == 1:
        return "", name, ""
    return parts[0], parts[1], parts[2] if len(parts) == 3 else ""


def _signs(body: bytes) -> tuple[bytes, int, str]:
    """The body with one byte per character, its bytes per character, and its codec until one is declared.

    Of UTF-16, a character beyond ASCII is 0x80; any other encoding has the body's own bytes.
    """
    if body[:2] in _LITTLE_ENDIAN:
        high, low, codec = body[1::2], body[::2], "utf_16_le"
    elif body[:2] in (b"\xfe\xff", b"\x00<"):
        high, low, codec = body[::2], body[1::2], "utf_16_be"
    else:
        return body, 1, "utf_8"
    signs = bytes([y if not x and y < 0x80 else 0x80 for x, y in zip(high, low, strict=False)])
    return signs, 2, codec

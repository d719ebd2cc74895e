"""The structure of a document: its element tree with equal siblings merged, as a value and as a few bytes.

    <r><a><b/></a><a><b/></a><a/></r>          0  b            a shape is a name and the set of the shapes
                                               1  a {0}        of the children; equal elements have one shape
    elements 6, depth 3                        2  a
                                               3  r {1, 2}     the last shape is that of the root element

Patterns look down only, and merging keeps which shapes stand below an element.
So every pattern of names, axes, wildcards, nested paths, ``and``, ``or``, ``not`` and unions has the same
answer on the structure as on the document; values, counts and positions are not in it.
Structures of regular documents are small: a news item of 7,500 bytes has one of 200, a bibliography of
3.7 million bytes one of 400.

``Structure.of`` defines the structure of a document; the kernel computes the same bytes while it parses.

The encoding, with numbers as varints (7 bits a byte, the lowest first):

    version, flags          bit 0: shapes have attribute names; bit 1: names are those of a table
    id of the table         8 bytes, if bit 1 is set
    elements, attributes    of the document: how many elements; the most attributes of one element
    names                   how many, then each with its length in bytes: ``local`` or ``Q{namespace}local``;
                            if there is a table, only names that it lacks
    shapes                  how many; then of each, in post-order: the number of its name; with bit 0, how
                            many attributes it has, and the numbers of their names; how many children it
                            has; how far back the last child stands, the last but one from there, …, less 1
    checksum                CRC-32 of all bytes before, 4 bytes, the lowest first

Each structure has one encoding, and ``decode`` refuses all other bytes.
A hostile encoding could describe a tree of 2^n elements in 4n bytes.
``decode`` refuses it before anything is expanded: a merged tree has at most as many elements as the encoding
states, and that number is limited.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias
from zlib import crc32

from twigcast.characters import illegal_character
from twigcast.document.limits import DocumentLimits
from twigcast.document.tree import Document, elements
from twigcast.errors import StructureError
from twigcast.system import append_varint, read_varint

Name: TypeAlias = tuple[str, str]
"""A namespace and a local name; the namespace is empty for a name in none."""

AttributeDetail: TypeAlias = Literal["count", "names"]
"""Whether a structure has the number of attributes only, or their names."""

_VERSION = 1
_WITH_ATTRIBUTES = 1
_WITH_TABLE = 2
_ID_BYTES = 8
_CHECKSUM_BYTES = 4
_LONGEST_NUMBER = 9
_SMALLEST_ELEMENT = len("<a/>")
_MOST_BYTES = 4 << 20  # of an encoding; only documents without equal siblings have larger ones
_DEFAULT_LIMITS = DocumentLimits()


@dataclass(frozen=True, slots=True)
class NameTable:
    """Names that sender and receiver of a structure both know, such as those of a schema.

    A structure that is written with a table has the numbers of these names in place of the names.
    ``id`` is a hash of the names, by which the receiver recognises the table.
    """

    names: tuple[Name, ...] = field(hash=False)
    id: bytes = field(init=False, compare=False, hash=True)

    def __post_init__(self) -> None:
        texts = [_text(name) for name in self.names]
        if len(set(texts)) < len(texts):
            raise ValueError("a name is twice in the table")
        for name, text in zip(self.names, texts, strict=True):
            if _name(text) != name:
                raise ValueError(f"the table has a name that is none: {name!r}")
        text = "\0".join(texts)
        object.__setattr__(self, "id", blake2b(text.encode(), digest_size=_ID_BYTES).digest())


class Shape(NamedTuple):
    """What equal elements have in common: name and child shapes, as ascending indexes of earlier shapes.

    ``attributes`` has the names of the attributes, in ascending order, if the structure records them.
    """

    name: Name
    children: tuple[int, ...]
    attributes: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class Structure:
    """The distinct shapes of a document in post-order, each once, and figures of the document.

    ``elements`` is the number of its elements, ``attributes`` the most attributes of one element.
    Invariant: each shape but the last, which is that of the root element, is a child of a later one.
    """

    shapes: tuple[Shape, ...]
    elements: int
    attributes: int
    has_attributes: bool = False

    @classmethod
    def of(cls, document: Document, attributes: AttributeDetail = "count") -> Structure:
        """The structure of a document; with ``attributes="names"``, shapes have the names of attributes.

        Raises ``StructureError`` for a document that a mapping has given several root elements, or none.
        """
        if len(list(elements(document))) != 1:
            raise StructureError(
                "a document with several root elements has no structure", code="no-structure"
            )
        known: dict[Shape, int] = {}
        count = most = 0
        below: list[set[int]] = [set()]  # the child shapes of the document and of each open element
        waiting = [(document.root, "start")]
        while waiting:
            element, event = waiting.pop()
            if event == "start":
                count += 1
                most = max(most, len(element.attributes))
                below.append(set())
                waiting.append((element, "end"))
                waiting += [(child, "start") for child in list(elements(element))[::-1]]
                continue
            names = sorted((each.namespace, each.local) for each in element.attributes)
            recorded = tuple(names) if attributes == "names" else ()
            shape = Shape((element.namespace, element.local), tuple(sorted(below.pop())), recorded)
            below[-1].add(known.setdefault(shape, len(known)))
        return cls(tuple(known), count, most, attributes == "names")

    @property
    def depth(self) -> int:
        """The greatest depth of an element; the root element has depth 1."""
        heights: list[int] = []
        for shape in self.shapes:
            heights.append(1 + max((heights[child] for child in shape.children), default=0))
        return heights[-1]

    @property
    def tree_size(self) -> int:
        """How many elements the merged tree has, with a child shape once below each of its parents."""
        return _tree_size([shape.children for shape in self.shapes], self.elements)

    def encode(self, names: NameTable | None = None) -> bytes:
        """The bytes of the structure; with a table, names that it has are written as their numbers in it."""
        number_of = {name: number for number, name in enumerate(names.names)} if names else {}
        table_size = len(number_of)
        shapes = bytearray()
        for index, shape in enumerate(self.shapes):
            append_varint(shapes, number_of.setdefault(shape.name, len(number_of)))
            if self.has_attributes:
                append_varint(shapes, len(shape.attributes))
                for name in shape.attributes:
                    append_varint(shapes, number_of.setdefault(name, len(number_of)))
            append_varint(shapes, len(shape.children))
            after = index
            for child in reversed(shape.children):
                append_varint(shapes, after - child - 1)
                after = child
        flags = (_WITH_ATTRIBUTES if self.has_attributes else 0) | (_WITH_TABLE if names else 0)
        out = bytearray([_VERSION, flags])
        if names:
            out += names.id
        append_varint(out, self.elements)
        append_varint(out, self.attributes)
        append_varint(out, len(number_of) - table_size)
        for name in list(number_of)[table_size:]:
            text = _text(name).encode()
            append_varint(out, len(text))
            out += text
        append_varint(out, len(self.shapes))
        out += shapes
        return bytes(out + crc32(out).to_bytes(_CHECKSUM_BYTES, "little"))

    @classmethod
    def decode(
        cls, data: bytes, names: NameTable | None = None, limits: DocumentLimits = _DEFAULT_LIMITS
    ) -> Structure:
        """The structure that the bytes encode; raises ``StructureError``.

        A structure of a document beyond ``limits`` is refused, also if only the number of its elements is.
        An element takes 4 bytes or more, so a document within the limits has at most ``limits.bytes / 4``
        elements, unless most of them come from entities; such a document has no structure.
        """
        return _Decoder(data, names, limits).structure()


def structure_table(data: bytes) -> bytes | None:
    """The id of the table of names that an encoded structure refers to; None if it has all its names."""
    if len(data) < 2 + _ID_BYTES or not data[1] & _WITH_TABLE:
        return None
    return data[2 : 2 + _ID_BYTES]


class _Decoder:
    """Reads an encoding from front to back; no list becomes longer than the bytes that describe it."""

    def __init__(self, data: bytes, names: NameTable | None, limits: DocumentLimits) -> None:
        if len(data) < 2 + _CHECKSUM_BYTES:
            raise StructureError("the structure is truncated")
        if data[0] != _VERSION:
            raise StructureError(f"the structure has format {data[0]}; this version reads {_VERSION}")
        if len(data) > _MOST_BYTES:
            raise StructureError(
                f"the structure has {len(data):,} bytes (limit {_MOST_BYTES:,})", code="limit"
            )
        self.data = data[:-_CHECKSUM_BYTES]
        self.at = 2
        self.names = names
        self.limits = limits
        if crc32(self.data) != int.from_bytes(data[-_CHECKSUM_BYTES:], "little"):
            raise StructureError("the structure was altered: its checksum is wrong")

    def structure(self) -> Structure:
        flags = self.data[1]
        if flags & ~(_WITH_ATTRIBUTES | _WITH_TABLE):
            raise StructureError(f"the structure has unknown flags {flags:#x}")
        known: tuple[Name, ...] = ()
        if flags & _WITH_TABLE:
            id = self._take(_ID_BYTES)
            if self.names is None or self.names.id != id:
                raise StructureError(
                    f"the structure has the names of table {id.hex()}, which is not given",
                    code="unknown-names",
                )
            known = self.names.names
        count, most = self._number(), self._number()
        if count > self.limits.bytes // _SMALLEST_ELEMENT:
            raise _beyond("elements", count, self.limits.bytes // _SMALLEST_ELEMENT)
        if most > self.limits.attributes:
            raise _beyond("attributes of an element", most, self.limits.attributes)
        table_size = len(known)
        known += tuple(self._name() for _ in range(self._count()))
        if len(set(known)) < len(known):
            raise StructureError("the structure has a name twice")
        shapes = self._shapes(known, table_size, bool(flags & _WITH_ATTRIBUTES))
        if self.at != len(self.data):
            raise StructureError("the structure has bytes after its end")
        made = Structure(shapes, count, most, bool(flags & _WITH_ATTRIBUTES))
        if made.has_attributes and most != max(len(shape.attributes) for shape in shapes):
            raise StructureError("the structure states another number of attributes than its shapes have")
        if made.depth > self.limits.depth:
            raise _beyond("levels", made.depth, self.limits.depth)
        if made.tree_size > count:
            raise StructureError("the structure has a larger tree than the document it describes")
        return made

    def _shapes(self, known: Sequence[Name], table_size: int, with_attributes: bool) -> tuple[Shape, ...]:
        shapes: dict[Shape, None] = {}
        used: set[int] = set()
        first_unused = table_size  # names that the table lacks stand in the order of their first use

        def name() -> Name:
            nonlocal first_unused
            number = self._number()
            if number > first_unused or number >= len(known):
                raise StructureError("the structure has an unknown name number")
            first_unused = max(first_unused, number + 1)
            return known[number]

        for index in range(self._count()):
            own = name()
            attributes = tuple(name() for _ in range(self._count())) if with_attributes else ()
            if any(a >= b for a, b in pairwise(attributes)):
                raise StructureError("the attributes of a shape are not in order")
            children: list[int] = []
            after = index
            for _ in range(self._count()):
                after -= self._number() + 1
                if after < 0:
                    raise StructureError("a child does not stand before its parent")
                children.append(after)
            used.update(children)
            shapes[Shape(own, tuple(children[::-1]), attributes)] = None
            if len(shapes) <= index:
                raise StructureError("the structure has a shape twice")
        if not shapes or len(used) != len(shapes) - 1:
            raise StructureError("the structure has no root element, or several")
        if first_unused != len(known):
            raise StructureError("the structure has a name that no shape uses")
        return tuple(shapes)

    def _name(self) -> Name:
        name = _name(self._take(self._number()).decode(errors="surrogateescape"))
        if name is None:
            raise StructureError("the structure has a name that is none")
        return name

    def _number(self) -> int:
        start = self.at
        try:
            number, self.at = read_varint(self.data, start)
        except ValueError:
            is_cut_off = len(self.data) - start < _LONGEST_NUMBER
            what = "is truncated" if is_cut_off else "has too large a number"
            raise StructureError(f"the structure {what}") from None
        if self.at - start > _LONGEST_NUMBER:
            raise StructureError("the structure has too large a number")
        if self.at - start > 1 and not self.data[self.at - 1]:
            raise StructureError("the structure has a number with a leading zero")
        return number

    def _count(self) -> int:
        """A number of things that take a byte or more each."""
        number = self._number()
        if number > len(self.data) - self.at:
            raise StructureError("the structure is truncated")
        return number

    def _take(self, length: int) -> bytes:
        if length > len(self.data) - self.at:
            raise StructureError("the structure is truncated")
        self.at += length
        return self.data[self.at - length : self.at]


def _tree_size(shapes: Iterable[Sequence[int]], most: int) -> int:
    """The number of elements of the expanded tree; ``most + 1`` stands for all larger ones."""
    sizes: list[int] = []
    for children in shapes:
        sizes.append(min(1 + sum(sizes[child] for child in children), most + 1))
    return sizes[-1]


def _name(text: str) -> Name | None:
    """The name that is written as this text; none if there is no such name."""
    namespace, local = "", text
    if text.startswith("Q{"):
        namespace, _, local = text[2:].rpartition("}")
        if not namespace:
            return None
    if not local or "{" in local or "}" in local or illegal_character(text) is not None:
        return None
    return namespace, local


def _text(name: Name) -> str:
    namespace, local = name
    return f"Q{{{namespace}}}{local}" if namespace else local


def _beyond(what: str, count: int, most: int) -> StructureError:
    return StructureError(
        f"the structure is of a document with {count:,} {what} (limit {most:,})", code="limit"
    )

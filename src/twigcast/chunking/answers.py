"""Runs the queries of a chunk on one of its parts, and gives the answers with byte ranges of the document.

A chunk may hold tags of elements that belong to another chunk, kept for someone's predicate; a query that
selects such a husk has no answer there.  Only answers whose label path this chunk owns are given.

Answers of patterns have the exact byte range of their node.  lxml has no byte ranges: elements get theirs by
their number in document order, attributes and text that of their element.  So a pattern that selects
elements may be left to lxml, which is faster, without a difference in the answers.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from xml.parsers import expat

from twigcast.chunking.lxml_tree import LxmlSelection, is_read_alike, lxml_tree, selection
from twigcast.chunking.query import ChunkQuery
from twigcast.chunking.reach.needs import Target
from twigcast.chunking.scheme import Chunk, Scheme, contains
from twigcast.document import (
    Attribute,
    Comment,
    Document,
    DocumentLimits,
    Element,
    LabelPath,
    Node,
    SourceMap,
    Text,
    attribute_range,
    element_ranges,
    read,
)
from twigcast.errors import ChunkingError
from twigcast.pattern import Pattern, select

_PROBE = 1 << 12
_FEW = 20  # elements of a part that are counted one by one


@dataclass(frozen=True, slots=True)
class Answer:
    """A node that a query selects: its kind, its byte range in the document, and its bytes.

    ``content`` of a function is whatever it yields, with the range of the part; of a query that asks for
    ranges it is None.  ``chunk`` and ``part`` say
    where it was found, both from 1; ``is_partial`` that the document broke off, and what follows could have
    changed the answer.
    """

    query: Hashable
    start: int
    end: int
    kind: str
    content: Any
    chunk: int
    part: int
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class QueryFailure:
    """A query that could not be run on a part; the others go on."""

    query: Hashable
    error: ChunkingError


@dataclass(frozen=True, slots=True)
class PartOfChunk:
    """A part of a chunk as it comes out of the pass; ``is_partial`` if the document broke off."""

    chunk: Chunk
    number: int
    body: bytes
    source_map: SourceMap
    is_partial: bool = False

    @property
    def start(self) -> int:
        """The offset in the document of the first record; 0 for a chunk that is one document."""
        return self.source_map.start(_first_record(self)) if self.chunk.is_divided else 0


class PartRunner:
    """Runs queries on parts; ``limits`` are those of reading a part, but for its size.

    In a second pass, ``answered`` is the scheme of the first, whose answers are not given again.
    """

    def __init__(self, scheme: Scheme, limits: DocumentLimits, *, answered: Scheme | None = None) -> None:
        self._scheme = scheme
        self._limits = limits
        self._answered = answered

    def run(self, part: PartOfChunk) -> Iterator[Answer | QueryFailure]:
        """The answers of all queries of the chunk on this part, each query's in document order."""
        trees = _Trees(part.body, self._limits)
        for number in part.chunk.targets:
            query = self._scheme.queries[number].query
            if query.runs_on_lxml:
                yield from self._by_lxml(number, query, part, trees)
                continue
            assert query.pattern is not None
            selected = trees.selection_by_lxml(query.pattern) if query.engine == "auto" else None
            if selected is not None:
                yield from self._selected(number, query, part, trees, selected)
                continue
            for node in select(query.pattern, trees.document):
                if self.owns(part.chunk, number, node):
                    yield self._answer(query, part, node.start, node.end, kind_of(node), None)

    def _by_lxml(
        self, number: int, query: ChunkQuery, part: PartOfChunk, trees: _Trees
    ) -> Iterator[Answer | QueryFailure]:
        try:
            found = _evaluated(query, trees.lxml)
        except Exception as error:
            text = f"the query {query.id} failed on part {part.number}: {error}"
            yield QueryFailure(query.id, ChunkingError(text, code="query-failed", query=query.id))
            return
        if query.function is not None:
            for row in found if found is not None else ():
                yield self._answer(query, part, 0, len(part.body), "row", row)
        elif not isinstance(found, list):
            yield self._value(query, part, found)
        else:
            yield from self._located(number, query, part, trees, found)

    def owns(self, chunk: Chunk, number: int, node: Node) -> bool:
        """Whether a node of a part that a query selects, by its number in the scheme, is an answer there."""
        return self._owns(chunk, number, label_path(node))

    def _owns(self, chunk: Chunk, number: int, path: LabelPath) -> bool:
        """Whether an answer at a label path counts in this chunk."""
        if self._answered is not None and self._answered.owner(number, path) is not None:
            return False
        owner = self._scheme.owner(number, path)
        return owner is not None and owner.number == chunk.number

    def _value(self, query: ChunkQuery, part: PartOfChunk, value: object) -> Answer | QueryFailure:
        """A number, a string or a truth value: an answer of one document, but not of one part of several."""
        if part.chunk.is_divided:
            text = f"the query {query.id} gives no nodes, and its values on parts are not added up"
            return QueryFailure(query.id, ChunkingError(text, code="not-nodes", query=query.id))
        return self._answer(query, part, 0, len(part.body), "value", value)

    def _selected(
        self, number: int, query: ChunkQuery, part: PartOfChunk, trees: _Trees, selected: LxmlSelection
    ) -> Iterator[Answer]:
        """Answers for elements of lxml, or for an attribute of each of them."""
        if selected.attribute is None:
            yield from self._located(number, query, part, trees, selected.elements)
            return
        encoding = trees.lxml.docinfo.encoding or "utf-8"
        trees.places.expect(len(selected.elements))
        for element in selected.elements:
            if self._owns(part.chunk, number, _tree_path(element)):
                name = selected.attribute.encode(encoding)  # one that is nowhere may have no bytes
                start, end = attribute_range(part.body, trees.places[element][0], name)
                yield self._answer(query, part, start, end, "attribute", None)

    def _located(
        self,
        number: int,
        query: ChunkQuery,
        part: PartOfChunk,
        trees: _Trees,
        found: Sequence[Any],
    ) -> Iterator[Answer]:
        """Answers for nodes of lxml, by their numbers in document order."""
        from lxml import etree

        places = trees.places
        places.expect(len(found))
        for each in found:
            is_element = isinstance(each, etree._Element)
            holder: Any = each if is_element else each.getparent() if hasattr(each, "getparent") else None
            if holder is not None and (
                getattr(each, "is_tail", False) or (is_element and not isinstance(each.tag, str))
            ):
                holder = holder.getparent()
            if holder is None:
                yield self._answer(query, part, 0, len(part.body), "value", str(each))
                continue
            if not self._owns(part.chunk, number, _tree_path(holder)):
                continue
            start, end = places[holder]
            if is_element and isinstance(each.tag, str):
                yield self._answer(query, part, start, end, "element", None)
            else:
                kind = "attribute" if getattr(each, "is_attribute", False) else "text"
                kind = "comment" if is_element else kind
                yield self._answer(query, part, start, end, kind, each.text if is_element else str(each))

    def _answer(
        self, query: ChunkQuery, part: PartOfChunk, start: int, end: int, kind: str, content: object
    ) -> Answer:
        if kind not in ("row", "value"):
            if query.answers == "ranges":
                content = None
            elif content is None:
                content = part.body[start:end]
        source = part.source_map
        first = source.start(start) if start < len(part.body) else 0
        last = first if end <= start else source.end(end)
        chunk = part.chunk
        return Answer(query.id, first, last, kind, content, chunk.number, part.number, part.is_partial)


class _Trees:
    """The trees of a part, each made when it is first needed, for all queries."""

    def __init__(self, body: bytes, limits: DocumentLimits) -> None:
        self._body = body
        self._limits = limits

    @cached_property
    def document(self) -> Document:
        """What twigcast reads."""
        return read(self._body, self._limits)

    @cached_property
    def lxml(self) -> Any:
        """What lxml reads."""
        return lxml_tree(self._body)

    @cached_property
    def places(self) -> _ElementPlaces:
        """Where the elements of the tree of lxml are."""
        return _ElementPlaces(self._body, self.lxml)

    def selection_by_lxml(self, pattern: Pattern) -> LxmlSelection | None:
        """What a pattern selects in the tree of lxml; ``None`` if lxml might differ."""
        return selection(pattern, self.lxml) if self._is_read_alike else None

    @cached_property
    def _is_read_alike(self) -> bool:
        try:
            return is_read_alike(self._body, self.lxml)
        except Exception:  # lxml cannot read it, for example because of a limit of libxml2
            return False


class _Found(Exception):
    """Ends a parse at an offset."""

    def __init__(self, offset: int) -> None:
        self.offset = offset


def _first_record(part: PartOfChunk) -> int:
    """The offset of the first record in a part, which begins with the start tags of its ancestors."""
    parser = expat.ParserCreate(namespace_separator="\x01")
    path: list[tuple[str, str]] = []

    def start(name: str, attributes: object) -> None:
        namespace, _, local = name.rpartition("\x01")
        path.append((namespace, local))
        if any(contains(Target(record), tuple(path)) for record in part.chunk.records):
            raise _Found(parser.CurrentByteIndex)

    parser.StartElementHandler = start
    try:
        for at in range(0, len(part.body), _PROBE):
            parser.Parse(part.body[at : at + _PROBE], False)
    except _Found as found:
        return found.offset
    except (expat.ExpatError, LookupError, ValueError):  # an encoding that pyexpat does not know
        pass
    return 0


def label_path(node: Node) -> LabelPath:
    """The label path of an element, or of the element that another node is in."""
    names: list[tuple[str, str]] = []
    place: Node = node if isinstance(node, Element | Document) else node.parent
    while isinstance(place, Element):
        names.append((place.namespace, place.local))
        place = place.parent
    return tuple(reversed(names))


def kind_of(node: Node) -> str:
    """The kind of a node, in a word."""
    if isinstance(node, Document):
        return "document"
    kinds = {Element: "element", Attribute: "attribute", Text: "text", Comment: "comment"}
    return kinds.get(type(node), "instruction")


class _ElementPlaces:
    """The byte ranges of the elements of a tree of lxml, by their numbers in document order.

    A few elements are counted one by one in libxml2; for many, all elements are numbered once, which takes
    a Python object for each of them.  All are numbered, too, if there is a DTD: the axis ``preceding`` of
    libxml2 leads into the elements of its entity declarations.
    """

    def __init__(self, body: bytes, tree: Any) -> None:
        self._body = body
        self._tree = tree
        self._ranges: array[int] | None = None
        self._numbers: dict[Any, int] | None = None
        self._expected = 0 if tree.docinfo.internalDTD is None else _FEW + 1

    def expect(self, count: int) -> None:
        """Say that so many more elements will be asked for."""
        self._expected += count

    def __getitem__(self, element: Any) -> tuple[int, int]:
        from lxml import etree

        if self._ranges is None:
            self._ranges = array("Q")
            self._ranges.frombytes(element_ranges(self._body))
        if self._numbers is None and self._expected > _FEW:
            found = self._tree.getroot().iter(etree.Element)
            self._numbers = {each: number for number, each in enumerate(found)}
        if self._numbers is None:
            number = int(element.xpath("count(preceding::*) + count(ancestor::*)"))
        else:
            number = self._numbers[element]
        return self._ranges[2 * number], self._ranges[2 * number + 1]


def _tree_path(element: Any) -> LabelPath:
    """The label path of an element of lxml."""
    names: list[tuple[str, str]] = []
    while element is not None:
        namespace, _, local = element.tag.rpartition("}")
        names.append((namespace[1:], local))
        element = element.getparent()
    return tuple(reversed(names))


def _evaluated(query: ChunkQuery, tree: Any) -> Any:
    if query.function is not None:
        return list(query.function(tree))
    namespaces = {prefix: uri for prefix, uri in query.namespaces.items() if prefix}
    return tree.xpath(query.text, namespaces=namespaces or None, **query.variables)

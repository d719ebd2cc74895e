"""Runs the queries of a chunk on one of its parts, and gives the answers with byte ranges of the document.

A chunk may hold tags of elements that belong to another chunk, kept for someone's predicate; a query that
selects such a husk has no answer there.  Only answers whose label path this chunk owns are given.

Answers of patterns have the exact byte range of their node.  lxml has no byte ranges: elements get theirs by
their number in document order, attributes and text that of their element.  So a pattern that selects
elements may be left to lxml, which is faster, without a difference in the answers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any
from xml.parsers import expat

from twigcast.chunking.evaluation.contents import AnswerContents
from twigcast.chunking.evaluation.lxml_cost import text_steps
from twigcast.chunking.evaluation.part_trees import PartTrees
from twigcast.chunking.query import ChunkQuery
from twigcast.chunking.reach.full_xpath import lxml_namespaces
from twigcast.chunking.reach.needs import Target
from twigcast.chunking.reach.xpath_syntax import read_terms
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
)
from twigcast.errors import ChunkingError, DocumentError, EvaluationError
from twigcast.pattern import evaluate, select

_PROBE = 1 << 12


@dataclass(frozen=True, slots=True)
class Answer:
    """A node that a query selects: its kind, its byte range in the document, and its bytes.

    The content of an element is a document of its own, unless the query has another ``form``: the bytes with
    the namespaces, entities and encoding that it needs.  Of a function it is whatever that yields, of a query
    for a value the number, string or truth value, both with the range of the part; of a query that asks for
    ranges it is None.  ``chunk`` and ``part`` say where it was found, both from 1; ``is_partial`` that the
    document broke off, and what follows could have changed the answer.
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
        trees = PartTrees(part.body, self._limits)
        contents = AnswerContents(trees)
        for number in part.chunk.targets:
            query = self._scheme.queries[number].query
            try:
                if query.runs_on_lxml:
                    yield from self._by_lxml(number, query, part, trees, contents)
                elif query.value is not None:
                    value = evaluate(query.value, trees.document, trees.steps)
                    yield self._value(query, part, value)
                else:
                    yield from self._selected(number, query, part, trees, contents)
            except (DocumentError, EvaluationError) as error:
                text = f"the query {query.id} on part {part.number}: {error.message}"
                yield QueryFailure(query.id, ChunkingError(text, code=error.code, query=query.id))

    def owns(self, chunk: Chunk, number: int, node: Node) -> bool:
        """Whether a node of a part that a query selects, by its number in the scheme, is an answer there."""
        return self._owns(chunk, number, label_path(node))

    def _owns(self, chunk: Chunk, number: int, path: LabelPath) -> bool:
        """Whether an answer at a label path counts in this chunk."""
        if self._answered is not None and self._answered.owner(number, path) is not None:
            return False
        owner = self._scheme.owner(number, path)
        return owner is not None and owner.number == chunk.number

    def _selected(
        self, number: int, query: ChunkQuery, part: PartOfChunk, trees: PartTrees, contents: AnswerContents
    ) -> Iterator[Answer]:
        """The answers of a pattern, by lxml where it is certain to agree and to end."""
        pattern = query.pattern
        assert pattern is not None
        selected = trees.selection_by_lxml(pattern) if query.engine == "auto" else None
        if selected is None:
            found = select(pattern, trees.document, trees.steps)
            nodes = [node for node in found if self.owns(part.chunk, number, node)]
            cut = contents.of_nodes(nodes, query.form) if query.answers == "content" else repeat(None)
            for node, content in zip(nodes, cut, strict=False):
                yield self._answer(query, part, node.start, node.end, kind_of(node), content)
            return
        trees.places.expect(len(selected.elements))
        owned = [each for each in selected.elements if self._owns(part.chunk, number, tree_path(each))]
        if selected.attribute is None:
            yield from self._elements(
                query, part, [trees.places.number(each) for each in owned], trees, contents
            )
            return
        encoding = trees.lxml.docinfo.encoding or "utf-8"
        for element in owned:
            name = selected.attribute.encode(encoding)  # one that is nowhere may have no bytes
            tag, _ = trees.places.of(trees.places.number(element))
            start, end = attribute_range(part.body, tag, name)
            yield self._answer(query, part, start, end, "attribute", part.body[start:end])

    def _by_lxml(
        self, number: int, query: ChunkQuery, part: PartOfChunk, trees: PartTrees, contents: AnswerContents
    ) -> Iterator[Answer | QueryFailure]:
        try:
            found = self._evaluated(query, trees)
        except EvaluationError:
            raise
        except Exception as error:
            text = f"the query {query.id} failed on part {part.number}: {error}"
            yield QueryFailure(query.id, ChunkingError(text, code="query-failed", query=query.id))
            return
        if query.function is not None:
            for row in found if found is not None else ():
                yield self._answer(query, part, 0, len(part.body), "row", row)
        elif not isinstance(found, list):
            yield self._value(query, part, str(found) if isinstance(found, str) else found)
        else:
            yield from self._located(number, query, part, trees, contents, found)

    def _evaluated(self, query: ChunkQuery, trees: PartTrees) -> Any:
        from lxml import etree

        if query.function is not None:
            return list(query.function(trees.lxml))
        if text_steps(read_terms(query.text), trees.figures, query.variables) > trees.steps:
            raise EvaluationError(
                f"lxml may take more than {trees.steps:,} steps, and cannot be stopped (limit work): "
                "leave it to twigcast's evaluator, which counts them (the engine auto), "
                "or use a function of the tree"
            )
        namespaces = lxml_namespaces(query.namespaces)
        expression = etree.XPath(query.text, namespaces=namespaces, regexp=False)
        return expression(trees.lxml, **query.variables)

    def _value(self, query: ChunkQuery, part: PartOfChunk, value: object) -> Answer | QueryFailure:
        """A number, a string or a truth value: an answer of one document, but not of one part of several."""
        if part.chunk.is_divided:
            text = f"the query {query.id} gives no nodes, and its values on parts are not added up"
            return QueryFailure(query.id, ChunkingError(text, code="not-nodes", query=query.id))
        return self._answer(query, part, 0, len(part.body), "value", value)

    def _elements(
        self,
        query: ChunkQuery,
        part: PartOfChunk,
        numbers: Sequence[int],
        trees: PartTrees,
        contents: AnswerContents,
    ) -> Iterator[Answer]:
        """Answers for elements of lxml, by their numbers in document order."""
        cut = contents.of_elements(numbers, query.form) if query.answers == "content" else repeat(None)
        for each, content in zip(numbers, cut, strict=False):
            start, end = trees.places.of(each)
            yield self._answer(query, part, start, end, "element", content)

    def _located(
        self,
        number: int,
        query: ChunkQuery,
        part: PartOfChunk,
        trees: PartTrees,
        contents: AnswerContents,
        found: Sequence[Any],
    ) -> Iterator[Answer]:
        """Answers for nodes of lxml, by their numbers in document order."""
        from lxml import etree

        trees.places.expect(len(found))
        owned: list[tuple[int, str, Any]] = []  # number of the element, kind, content if it is no element
        for each in found:
            is_node = isinstance(each, etree._Element)
            is_element = is_node and isinstance(each.tag, str)
            holder: Any = each if is_node else each.getparent() if hasattr(each, "getparent") else None
            if holder is not None and (getattr(each, "is_tail", False) or (is_node and not is_element)):
                holder = holder.getparent()
            if holder is None:
                yield self._answer(query, part, 0, len(part.body), "value", str(each))
            elif self._owns(part.chunk, number, tree_path(holder)):
                kind = "attribute" if getattr(each, "is_attribute", False) else "text"
                kind = "element" if is_element else "comment" if is_node else kind
                content = None if is_element else each.text if is_node else str(each)
                owned.append((trees.places.number(holder), kind, content))
        numbers = [place for place, kind, _ in owned if kind == "element"]
        elements = self._elements(query, part, numbers, trees, contents)
        for place, kind, content in owned:
            if kind == "element":
                yield next(elements)
            else:
                yield self._answer(query, part, *trees.places.of(place), kind, content)

    def _answer(
        self, query: ChunkQuery, part: PartOfChunk, start: int, end: int, kind: str, content: object
    ) -> Answer:
        if kind not in ("row", "value") and query.answers == "ranges":
            content = None
        source = part.source_map
        first = source.start(start) if start < len(part.body) else 0
        last = first if end <= start else source.end(end)
        chunk = part.chunk
        return Answer(query.id, first, last, kind, content, chunk.number, part.number, part.is_partial)


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


def tree_path(element: Any) -> LabelPath:
    """The label path of an element of lxml."""
    names: list[tuple[str, str]] = []
    while element is not None:
        namespace, _, local = element.tag.rpartition("}")
        names.append((namespace[1:], local))
        element = element.getparent()
    return tuple(reversed(names))

"""Infers an element graph from sample documents, for real data without a schema.

The graph has only what was observed: children with their numbers, attributes with their values, examples of
text.  So subscriptions that are generated from it ask for things that do occur.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from lxml import etree

from twigcast.document import TOO_LARGE, DocumentLimits, document_error, read
from twigcast.errors import DocumentError, SchemaError
from twigcast.schema import (
    AttributeDeclaration,
    AttributeKind,
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    Particle,
    Presence,
    Sequence,
    element_graph,
)

KEPT = 200
"""Examples of values kept for an element or attribute, the most frequent first."""

SHORT = 40
"""Up to this many characters a text counts as one value; of a longer text, the words are examples."""

ENUMERATED = 16
"""An attribute with at most this many values is taken for an enumeration."""


DEFAULT_LIMITS = DocumentLimits()


def infer(documents: Iterable[bytes], limits: DocumentLimits = DEFAULT_LIMITS) -> ElementGraph:
    """The graph of all elements seen; its root is the most frequent document element.

    Children are sorted by their average position, and a child that was seen twice in one parent may occur
    there any number of times.  Prefixes are those of the documents, changed only if one prefix stands for two
    namespaces.
    """
    inference = SchemaInference(limits)
    for body in documents:
        inference.add(body)
    return inference.graph()


class SchemaInference:
    """Observations of documents, one after the other; what cannot be read leaves no trace in them."""

    def __init__(self, limits: DocumentLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._seen: dict[str, _Seen] = {}
        self._roots: Counter[str] = Counter()
        self._prefixes: dict[str, str | None] = {}

    def add(self, body: bytes) -> None:
        """Observe a document; raises ``DocumentError`` if it cannot be read or is too large."""
        if len(body) > self._limits.bytes:
            raise document_error(TOO_LARGE, 1, 0, self._limits.bytes, limits=self._limits)
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
        )
        try:
            root = etree.fromstring(body, parser)
        except etree.XMLSyntaxError as error:
            raise _document_error(body, error, self._limits) from error
        self._roots[str(root.tag)] += 1
        for node in root.iter(etree.Element):
            _observe(node, self._seen, self._prefixes)

    def graph(self) -> ElementGraph:
        """The graph of all elements seen; raises ``SchemaError`` if there is none."""
        if not self._roots:
            raise SchemaError("no document was given to infer a schema from")
        namespaces = _namespaces(self._seen, self._prefixes)
        elements = [_element(tag, each, namespaces) for tag, each in self._seen.items()]
        bound = sorted((prefix, uri) for uri, prefix in namespaces.items() if prefix != "xml")
        return element_graph(elements, _name(self._roots.most_common(1)[0][0], namespaces), bound)


def _document_error(body: bytes, error: etree.XMLSyntaxError, limits: DocumentLimits) -> DocumentError:
    """The error that ``read`` raises for a document; lxml's own error if only lxml refuses the document."""
    try:
        read(body, limits)
    except DocumentError as known:
        return known
    line, column = error.position
    return DocumentError(error.msg or "not XML", code="malformed", line=line, column=max(column, 1))


_XML = "http://www.w3.org/XML/1998/namespace"


@dataclass(slots=True)
class _Seen:
    """Observations of one element name."""

    times: int = 0
    children: dict[str, _SeenChild] = field(default_factory=dict)
    has_text: bool = False
    texts: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    attributes: dict[str, Counter[str]] = field(default_factory=dict)


@dataclass(slots=True)
class _SeenChild:
    """Observations of a child in its parents; ``places`` adds up the positions of its first occurrence."""

    parents: int = 0
    most: int = 0
    places: float = 0.0


def _observe(node: etree._Element, seen: dict[str, _Seen], prefixes: dict[str, str | None]) -> None:
    tag = str(node.tag)
    each = seen.setdefault(tag, _Seen())
    each.times += 1
    if tag[0] == "{":
        prefixes.setdefault(_split(tag)[0], node.prefix)
    for name, value in node.attrib.items():
        _count(each.attributes.setdefault(str(name), Counter()), str(value))
        if str(name)[0] == "{":
            uri = _split(str(name))[0]
            known = prefixes.get(uri) or next(
                (prefix for prefix, bound in node.nsmap.items() if prefix and bound == uri), None
            )
            prefixes[uri] = "xml" if uri == _XML else known
    text = " ".join(_own_text(node).split())
    if text:
        each.has_text = True
        if len(text) <= SHORT:
            _count(each.texts, text)
        else:
            for word in text.split()[:50]:
                if word.isalnum() and len(word) > 3:
                    _count(each.words, word)
    children = [str(child.tag) for child in node.iterchildren(etree.Element)]
    for name, times in Counter(children).items():
        child = each.children.setdefault(name, _SeenChild())
        child.parents += 1
        child.most = max(child.most, times)
        child.places += children.index(name) / len(children)


def _own_text(node: etree._Element) -> str:
    return (node.text or "") + "".join(child.tail or "" for child in node)


def _count(counter: Counter[str], value: str) -> None:
    if value in counter or len(counter) < 10 * KEPT:
        counter[value] += 1


def _namespaces(seen: dict[str, _Seen], prefixes: dict[str, str | None]) -> dict[str, str]:
    """A prefix for each namespace; the empty prefix for a default namespace of the documents."""
    namespaces: dict[str, str] = {}
    default_is_free = all(tag[0] == "{" for tag in seen)
    of_attributes = {_split(name)[0] for each in seen.values() for name in each.attributes if name[0] == "{"}
    for uri, prefix in prefixes.items():
        if prefix is None and default_is_free and uri not in of_attributes and "" not in namespaces.values():
            namespaces[uri] = ""
            continue
        wanted = prefix or "ns"
        taken = set(namespaces.values())
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}{number}"
        namespaces[uri] = name
    return namespaces


def _element(tag: str, each: _Seen, namespaces: dict[str, str]) -> ElementDeclaration:
    attributes = [
        _attribute(_name(name, namespaces), values, each.times)
        for name, values in sorted(each.attributes.items())
    ]
    ordered = sorted(each.children.items(), key=lambda item: item[1].places / item[1].parents)
    model: Particle | None = None
    if ordered and each.has_text:
        model = Choice(tuple(Child(_name(name, namespaces)) for name, _ in ordered), 0, None)
    elif ordered:
        model = Sequence(
            tuple(
                Child(
                    _name(name, namespaces), int(child.parents == each.times), 1 if child.most == 1 else None
                )
                for name, child in ordered
            )
        )
    content = ContentKind.MIXED if each.has_text else ContentKind.ELEMENTS if ordered else ContentKind.EMPTY
    examples = each.texts if sum(each.texts.values()) >= sum(each.words.values()) / 50 else each.words
    return ElementDeclaration(
        _name(tag, namespaces), content, model, tuple(attributes), _most_frequent(examples)
    )


def _attribute(name: str, values: Counter[str], times: int) -> AttributeDeclaration:
    kind = AttributeKind.ENUMERATION if len(values) <= ENUMERATED else AttributeKind.CDATA
    presence = Presence.REQUIRED if sum(values.values()) >= times else Presence.IMPLIED
    return AttributeDeclaration(name, kind, presence, _most_frequent(values))


def _most_frequent(values: Counter[str]) -> tuple[str, ...]:
    ranked = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    return tuple(value for value, _ in ranked[:KEPT])


def _name(tag: str, namespaces: dict[str, str]) -> str:
    if tag[0] != "{":
        return tag
    uri, local = _split(tag)
    prefix = namespaces[uri]
    return f"{prefix}:{local}" if prefix else local


def _split(tag: str) -> tuple[str, str]:
    uri, _, local = tag[1:].partition("}")
    return uri, local

"""The tree of a document in XPath's data model, in which every node knows the bytes it was read from.

    Document           the bytes, and one root
    └── Element        namespace, local name, attributes, children in order
        ├── Attribute  namespace, local name, value
        ├── Text       adjacent character data, whether plain, CDATA or from an entity
        ├── Comment, Instruction
        └── Element …

Comments and processing instructions can be children of the document too, but not those inside its DTD.
Invariants: ``body[node.start:node.end]`` is the source text of the node (of a node that an entity brought in,
the reference); ``order`` grows in document order, an element before its attributes before its children.
``read`` creates the nodes, and nothing changes them afterwards; they are compared by identity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from twigcast.document.namespace_scopes import NamespaceScopes


@dataclass(slots=True, eq=False, repr=False)
class Document:
    """A document: its bytes and its root element; as a node, the parent of the root.

    The other fields are what a part of it needs to be read by itself.  ``encoding`` is a codec of Python.
    ``entities`` has the replacement texts of the entities of the internal DTD subset, and ``attribute_types``
    its attribute declarations, as text, by the names of element and attribute as they are written.
    """

    body: bytes
    children: list[Child] = field(default_factory=list)
    encoding: str = "utf-8"
    namespaces: NamespaceScopes = field(default_factory=NamespaceScopes)
    entities: dict[str, str] = field(default_factory=dict)
    attribute_types: dict[str, dict[str, str]] = field(default_factory=dict)

    order = 0
    start = 0

    @property
    def root(self) -> Element:
        """The root element."""
        return next(elements(self))

    @property
    def end(self) -> int:
        """The number of bytes of the document."""
        return len(self.body)

    def sources(self, node: Node) -> list[Node]:
        """The nodes whose bytes are delivered where ``node`` is selected: itself.

        A document that was rewritten to another schema has nodes that were made of others.
        """
        return [node]

    def __repr__(self) -> str:
        return f"Document({len(self.body)} bytes)"


@dataclass(slots=True, eq=False, repr=False)
class Element:
    """An element, from the ``<`` of its start tag to the ``>`` of its end tag."""

    namespace: str
    local: str
    parent: Document | Element
    order: int
    start: int
    end: int = 0
    attributes: tuple[Attribute, ...] = ()
    children: list[Child] = field(default_factory=list)
    prefix: str = ""

    def __repr__(self) -> str:
        return f"Element({node_path(self)})"


@dataclass(slots=True, eq=False, repr=False)
class Attribute:
    """An attribute, from its name to its closing quote; from a DTD default, with the range of the tag."""

    namespace: str
    local: str
    value: str
    parent: Element
    order: int
    start: int = 0
    end: int = 0
    prefix: str = ""

    def __repr__(self) -> str:
        return f"Attribute({node_path(self)}={self.value!r})"


@dataclass(slots=True, eq=False, repr=False)
class Text:
    """Adjacent character data as one node."""

    value: str
    parent: Element
    order: int
    start: int
    end: int = 0

    def __repr__(self) -> str:
        return f"Text({self.value!r})"


@dataclass(slots=True, eq=False, repr=False)
class Comment:
    """A comment, from ``<!--`` to ``-->``; ``value`` is the text between."""

    value: str
    parent: Document | Element
    order: int
    start: int
    end: int = 0

    def __repr__(self) -> str:
        return f"Comment({self.value!r})"


@dataclass(slots=True, eq=False, repr=False)
class Instruction:
    """A processing instruction, from ``<?`` to ``?>``."""

    target: str
    value: str
    parent: Document | Element
    order: int
    start: int
    end: int = 0

    def __repr__(self) -> str:
        return f"Instruction({self.target!r}, {self.value!r})"


Child: TypeAlias = Element | Text | Comment | Instruction
Node: TypeAlias = Document | Element | Attribute | Text | Comment | Instruction
"""A node of the tree of a document."""


def elements(node: Document | Element) -> Iterator[Element]:
    """The elements that are children of ``node``."""
    for child in node.children:
        if isinstance(child, Element):
            yield child


def descendants(node: Document | Element) -> Iterator[Element]:
    """The elements below ``node``, in document order."""
    waiting = list(elements(node))[::-1]
    while waiting:
        element = waiting.pop()
        yield element
        waiting += list(elements(element))[::-1]


def string_value(node: Node) -> str:
    """The value of an attribute, text, comment or instruction; of an element or document, all text in it."""
    if not isinstance(node, Document | Element):
        return node.value
    parts: list[str] = []
    waiting: list[Child] = node.children[::-1]
    while waiting:
        child = waiting.pop()
        if isinstance(child, Text):
            parts.append(child.value)
        elif isinstance(child, Element):
            waiting += child.children[::-1]
    return "".join(parts)


def node_path(node: Node) -> str:
    """The path of a node, for people: ``/nitf/body/p[2]/@id``, numbered among siblings of the same name."""
    parts: list[str] = []
    while not isinstance(node, Document):
        if isinstance(node, Attribute):
            parts.append(f"@{node.local}")
        elif not isinstance(node, Element):
            alike = [child for child in node.parent.children if type(child) is type(node)]
            parts.append(_KINDS[type(node)] + _number(node, alike))
        else:
            twins = [child for child in elements(node.parent) if child.local == node.local]
            parts.append(node.local + _number(node, twins))
        node = node.parent
    return "/" + "/".join(reversed(parts))


def _number(node: Child, among: Sequence[Child]) -> str:
    return f"[{among.index(node) + 1}]" if len(among) > 1 else ""


_KINDS: dict[type, str] = {Text: "text()", Comment: "comment()", Instruction: "processing-instruction()"}

"""Documents that are turned into a dialect: small trees that can be changed, read and written.

Only what a schema says is kept: comments, processing instructions and white space between elements are left
out, and so are elements that should contain elements but do not, since no operator makes an empty element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from twigcast.document import Element, Text, read
from twigcast.errors import SchemaError
from twigcast.schema import ContentKind, ElementGraph


@dataclass(slots=True)
class Value:
    """An attribute of an item; ``identity`` is that of its part, if it was an element."""

    name: str
    value: str
    identity: str | None = None


@dataclass(slots=True, eq=False)
class Item:
    """An element; ``identity`` is that of its part, or the name of a shared type."""

    identity: str
    name: str
    attributes: list[Value] = field(default_factory=list)
    children: list[Item | str] = field(default_factory=list)

    @property
    def items(self) -> list[Item]:
        """The children that are elements."""
        return [child for child in self.children if isinstance(child, Item)]

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def below(self) -> Iterator[Item]:
        """It and all elements below it."""
        waiting = [self]
        while waiting:
            item = waiting.pop()
            yield item
            waiting += item.items[::-1]


def read_item(graph: ElementGraph, body: bytes) -> Item:
    """The root of a document of the schema; raises ``SchemaError`` for a name that the schema lacks."""
    names = {graph.expanded(element.name): element.name for element in graph}
    prefixes = {uri: prefix for prefix, uri in graph.bindings.items() if prefix}
    return _item(graph, names, prefixes, read(body).root)


def write_item(root: Item, graph: ElementGraph) -> bytes:
    """The document of an item, without white space that is not part of a text."""
    pieces: list[str] = []
    declared = "".join(
        f" xmlns{':' if prefix else ''}{prefix}={_quoted(uri)}" for prefix, uri in graph.namespaces
    )
    _write(root, pieces, declared)
    pieces.append("\n")
    return "".join(pieces).encode()


def normal_document(graph: ElementGraph, body: bytes) -> bytes:
    """A document of a schema without comments, white space between elements, and empty inner elements.

    This is what every dialect can express, so it is the document to compare images with.
    """
    return write_item(read_item(graph, body), graph)


def _item(
    graph: ElementGraph, names: dict[tuple[str | None, str], str], prefixes: dict[str, str], element: Element
) -> Item:
    name = names.get((element.namespace, element.local))
    if name is None:
        message = f"the document has the element {element.local!r}, which the schema does not have"
        raise SchemaError(message)
    item = Item(name, name)
    for attribute in element.attributes:
        prefix = "xml" if attribute.prefix == "xml" else prefixes.get(attribute.namespace, attribute.prefix)
        item.attributes.append(
            Value(f"{prefix}:{attribute.local}" if prefix else attribute.local, attribute.value)
        )
    has_text = graph[name].has_text
    for child in element.children:
        if isinstance(child, Text):
            if has_text:
                item.children.append(child.value)
        elif isinstance(child, Element):
            below = _item(graph, names, prefixes, child)
            if below.children or below.attributes or graph[below.name].content is not ContentKind.ELEMENTS:
                item.children.append(below)
    return item


def _write(item: Item, pieces: list[str], declared: str = "") -> None:
    attributes = "".join(f" {each.name}={_quoted(each.value)}" for each in item.attributes)
    pieces.append(f"<{item.name}{declared}{attributes}")
    if not item.children:
        pieces.append("/>")
        return
    pieces.append(">")
    for child in item.children:
        if isinstance(child, str):
            pieces.append(escape(child, {"\r": "&#13;"}))
        else:
            _write(child, pieces)
    pieces.append(f"</{item.name}>")


def _quoted(value: str) -> str:
    return '"' + escape(value, {'"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}) + '"'

"""The size of an XML Schema after its groups were put in their places, found without doing it.

Thirty groups of which each refers twice to the one before describe a content model of 2³⁰ particles.  The
sizes are computed group by group on the tree of the file, before the library that expands them sees it.
"""

from __future__ import annotations

from typing import Any

from twigcast.errors import SchemaError
from twigcast.schema.limits import SchemaLimits

_XSD = "{http://www.w3.org/2001/XMLSchema}"
_MODELS = frozenset({f"{_XSD}sequence", f"{_XSD}choice", f"{_XSD}all"})
_NO_ATTRIBUTES = _MODELS | {f"{_XSD}group", f"{_XSD}annotation"}


def check_size(schema: Any, name: str, limits: SchemaLimits) -> None:
    """Raise ``SchemaError`` if the content models of the schema, an lxml element, would exceed a limit."""
    sizes = _Sizes(schema)
    particles = pairs = elements = attributes = 0
    try:
        for node in schema.iter(f"{_XSD}complexType", f"{_XSD}group", f"{_XSD}element"):
            elements += node.tag == f"{_XSD}element"
            size = 0 if node.tag == f"{_XSD}element" or node.get("ref") else sizes.of(node)
            attributes += sizes.attributes_of(node) if node.tag == f"{_XSD}complexType" else 0
            particles += size
            pairs += size * size
    except RecursionError:
        message = f"{name} is too large: its groups and types refer to one another too deeply"
        raise SchemaError(message, code="too-complex") from None
    for limit, number in (
        ("elements", elements),
        ("attributes", attributes),
        ("particles", particles),
        ("pairs", pairs),
    ):
        limits.check(limit, number, name)


class _Sizes:
    """The expanded sizes of types and groups, by local name: a file has one target namespace."""

    def __init__(self, schema: Any) -> None:
        self._named = {
            (child.tag, child.get("name")): child
            for child in schema
            if child.tag in (f"{_XSD}complexType", f"{_XSD}group", f"{_XSD}attributeGroup")
        }
        self._known: dict[Any, int] = {}
        self._attributes: dict[Any, int] = {}
        self._substitutes: dict[str, list[str]] = {}
        for child in schema.iterchildren(f"{_XSD}element"):
            if child.get("substitutionGroup"):
                head = _local(child.get("substitutionGroup"))
                self._substitutes.setdefault(head, []).append(child.get("name", ""))
        self._standing: dict[str, int] = {}

    def of(self, node: Any) -> int:
        """The number of particles of a type or group; one that refers to itself counts as empty there."""
        if node not in self._known:
            self._known[node] = 0
            self._known[node] = sum(self._below(child) for child in node)
        return self._known[node]

    def attributes_of(self, node: Any) -> int:
        """The number of attributes of a type or group of attributes, with those of groups and base types."""
        if node not in self._attributes:
            self._attributes[node] = 0
            self._attributes[node] = sum(self._attributes_below(child) for child in node)
        return self._attributes[node]

    def _attributes_below(self, node: Any) -> int:
        if node.tag in _NO_ATTRIBUTES:
            return 0
        if node.tag == f"{_XSD}attribute":
            return 1
        own = sum(self._attributes_below(child) for child in node)
        for tag, reference in ((f"{_XSD}attributeGroup", "ref"), (f"{_XSD}complexType", "base")):
            found = self._named.get((tag, _local(node.get(reference) or "")))
            own += 0 if found is None else self.attributes_of(found)
        return own

    def _below(self, node: Any) -> int:
        if node.tag == f"{_XSD}element":
            return self._standing_for(_local(node.get("ref") or ""))
        if node.tag == f"{_XSD}any":
            return 1
        if node.tag == f"{_XSD}group":
            return 1 + self._reference(f"{_XSD}group", node.get("ref"))
        own = sum(self._below(child) for child in node)
        if node.tag == f"{_XSD}extension":
            return own + self._reference(f"{_XSD}complexType", node.get("base"))
        return own + 1 if node.tag in _MODELS else own

    def _reference(self, tag: str, name: str | None) -> int:
        found = self._named.get((tag, _local(name or "")))
        return 0 if found is None else self.of(found)

    def _standing_for(self, name: str) -> int:
        """One, and the number of elements that can be substituted for the element of this name."""
        if name not in self._standing:
            found, waiting = {name}, [name]
            while waiting:
                for each in self._substitutes.get(waiting.pop(), ()):
                    if each not in found:
                        found.add(each)
                        waiting.append(each)
            self._standing[name] = len(found)
        return self._standing[name]


def _local(name: str) -> str:
    return name.rpartition(":")[2].strip()

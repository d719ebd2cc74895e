"""Writes an element graph as the text of a DTD, which ``read_dtd`` reads.

    <!ELEMENT list (title?, item+)>
    <!ATTLIST list id ID #REQUIRED>

What came from a DTD is read back as the same graph.  A DTD has no numbers, so ``{2,5}`` becomes ``+``.
Prefixes that the graph binds are declared by ``xmlns`` attributes of the root, as DTDs do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap

from twigcast.schema.graph import (
    AttributeDeclaration,
    AttributeKind,
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    Particle,
    Presence,
)

WIDTH = 108
_TOKEN = re.compile(r"[\w.:·-]+")
_KINDS = {
    AttributeKind.ID: "ID",
    AttributeKind.IDREF: "IDREF",
    AttributeKind.IDREFS: "IDREFS",
    AttributeKind.NMTOKEN: "NMTOKEN",
    AttributeKind.NMTOKENS: "NMTOKENS",
    AttributeKind.ENTITY: "ENTITY",
}
_REFERENCES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
_PRESENCES = {Presence.REQUIRED: "#REQUIRED", Presence.IMPLIED: "#IMPLIED"}


def write_dtd(graph: ElementGraph) -> str:
    """The text of a DTD with the elements of the graph, in their order."""
    return "".join(_declarations(graph))


def _declarations(graph: ElementGraph) -> Iterator[str]:
    for element in graph:
        yield _wrapped(f"<!ELEMENT {element.name} {_content(element)}>")
        attributes = [_attribute(each) for each in element.attributes]
        if element.name == graph.root:
            declared = {each.name for each in element.attributes}
            names = {f"xmlns:{prefix}" if prefix else "xmlns": uri for prefix, uri in graph.namespaces if uri}
            attributes += [
                f"{name} CDATA #FIXED {_quoted(uri)}" for name, uri in names.items() if name not in declared
            ]
        for attribute in attributes:
            yield _wrapped(f"<!ATTLIST {element.name} {attribute}>")


def _wrapped(declaration: str) -> str:
    if '"' in declaration:  # white space in a value is part of it
        return f"{declaration}\n"
    lines = wrap(declaration, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def _content(element: ElementDeclaration) -> str:
    if element.content is ContentKind.ANY:
        return "ANY"
    if element.content is ContentKind.MIXED:
        names = list(dict.fromkeys(_names(element.model))) if element.model is not None else []
        return f"(#PCDATA | {' | '.join(names)})*" if names else "(#PCDATA)"
    model = "" if element.model is None else _particle(element.model)
    if not model:
        return "EMPTY"
    return f"({model})" if isinstance(element.model, Child) else model


def _particle(particle: Particle) -> str:
    times = _times(particle)
    if isinstance(particle, Child):
        return f"{particle.name}{times}"
    parts = [part for part in map(_particle, particle.parts) if part]
    if not parts or particle.most == 0:
        return ""
    return f"({(' | ' if isinstance(particle, Choice) else ', ').join(parts)}){times}"


def _times(particle: Particle) -> str:
    if particle.most == 1:
        return "" if particle.least else "?"
    return "+" if particle.least else "*"


def _names(particle: Particle) -> Iterator[str]:
    if isinstance(particle, Child):
        yield particle.name
    else:
        for part in particle.parts:
            yield from _names(part)


def _attribute(attribute: AttributeDeclaration) -> str:
    kind = _KINDS.get(attribute.kind, "CDATA")
    tokens = all(_TOKEN.fullmatch(value) for value in attribute.values)
    if attribute.kind is AttributeKind.ENUMERATION and attribute.values and tokens:
        kind = f"({' | '.join(attribute.values)})"
    presence = _PRESENCES.get(attribute.presence)
    if presence is None:
        fixed = "#FIXED " if attribute.presence is Presence.FIXED else ""
        presence = f"{fixed}{_quoted(attribute.default or '')}"
    return f"{attribute.name} {kind} {presence}"


def _quoted(value: str) -> str:
    return f'"{value.translate(_REFERENCES)}"'

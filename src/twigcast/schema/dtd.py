"""A DTD read as an element graph.

lxml parses the declarations and expands parameter entities; this module flattens its binary content models
(``(a, (b, c))``) and translates its terms.
Nothing external is read: a DTD that refers to another file is refused.  libxml2 bounds the expansion of
entities and the depth of content models, ``SchemaLimits`` their number.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from lxml import etree

from twigcast.errors import SchemaError
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
    Sequence,
    element_graph,
)
from twigcast.schema.limits import DEFAULT, SchemaLimits
from twigcast.schema.source import read_source


def read_dtd(
    source: Path | str | bytes, root: str | None = None, limits: SchemaLimits = DEFAULT
) -> ElementGraph:
    """The element graph of a DTD, given as the path of its file or as its bytes.

    Without a ``root``, the root is the declared element that occurs in no other element; of several, the one
    with the most elements below it.
    """
    body, name = read_source(source, "the DTD", limits)
    document = _parse(body, name)
    declarations = list(islice(document.iterelements(), limits.elements + 1))
    if not declarations:
        raise SchemaError(f"{name} declares no element")
    limits.check("elements", len(declarations), name)
    names = _Names([_name(declaration) for declaration in declarations])
    particles = 0
    elements = []
    for declaration in declarations:
        particles += _size(declaration.content, limits.particles - particles)
        limits.check("particles", particles, name)
        elements.append(_element(declaration, names))
    return element_graph(elements, root)


_OURS = "twigcast:dtd"
_OCCURS: dict[str, tuple[int, int | None]] = {
    "once": (1, 1),
    "opt": (0, 1),
    "mult": (0, None),
    "plus": (1, None),
}
_CONTENTS = {
    "empty": ContentKind.EMPTY,
    "any": ContentKind.ANY,
    "mixed": ContentKind.MIXED,
    "element": ContentKind.ELEMENTS,
}
_KINDS = {
    "cdata": AttributeKind.CDATA,
    "enumeration": AttributeKind.ENUMERATION,
    "notation": AttributeKind.ENUMERATION,
    "id": AttributeKind.ID,
    "idref": AttributeKind.IDREF,
    "idrefs": AttributeKind.IDREFS,
    "nmtoken": AttributeKind.NMTOKEN,
    "nmtokens": AttributeKind.NMTOKENS,
    "entity": AttributeKind.ENTITY,
    "entities": AttributeKind.ENTITY,
}
_PRESENCES = {
    "required": Presence.REQUIRED,
    "implied": Presence.IMPLIED,
    "fixed": Presence.FIXED,
    "none": Presence.DEFAULT,
}


class _OnlyOurs(etree.Resolver):
    """A resolver that gives the parser the DTD itself and refuses everything else."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.body = body
        self.refused: str | None = None

    def resolve(self, system_url: str, public_id: str, *context: Any) -> Any:
        answer: Any = super()  # the stubs of lxml know neither the context nor the empty answer
        if system_url == _OURS:
            return answer.resolve_string(self.body, *context)
        self.refused = self.refused or system_url
        return answer.resolve_empty(*context)


def _parse(body: bytes, name: str) -> Any:
    # etree.DTD(file) would follow external parameter entities; a parser with a resolver of its own does not.
    resolver = _OnlyOurs(body)
    parser = etree.XMLParser(load_dtd=True, no_network=True, resolve_entities=True)
    parser.resolvers.add(resolver)
    try:
        document = etree.fromstring(f'<!DOCTYPE x SYSTEM "{_OURS}"><x/>'.encode(), parser)
    except etree.XMLSyntaxError as error:
        entry = next(iter(parser.error_log), None)  # that of the error is shared by all parsers
        place = "" if entry is None else f" at line {entry.line}, column {entry.column}"
        raise SchemaError(
            f"{name} is not a DTD: {error.msg if entry is None else entry.message}{place}"
        ) from error
    if resolver.refused is not None:
        raise SchemaError(
            f"{name} refers to {resolver.refused}: external entities are not read, give it as one file"
        )
    return document.getroottree().docinfo.externalDTD


class _Names:
    """The declared names, used to restore the prefixes that lxml leaves out of content models.

    A ``name`` in the model of ``p:a`` stands for ``p:name`` if that is declared, else for ``name``, else for
    the first declared name with another prefix.
    """

    def __init__(self, declared: list[str]) -> None:
        self.declared = frozenset(declared)
        self.by_local: dict[str, str] = {}
        for name in declared:
            self.by_local.setdefault(name.rpartition(":")[2], name)

    def full(self, local: str, parent: str) -> str:
        prefix, colon, _ = parent.rpartition(":")
        sibling = f"{prefix}{colon}{local}"
        if sibling in self.declared or local in self.declared:
            return sibling if sibling in self.declared else local
        return self.by_local.get(local, local)


def _element(declaration: Any, names: _Names) -> ElementDeclaration:
    # The order in which libxml2 keeps attributes is its own affair, so they are sorted.
    attributes = sorted(
        (_attribute(each) for each in declaration.iterattributes()), key=lambda each: each.name
    )
    name = _name(declaration)
    content = _CONTENTS[declaration.type]
    model: Particle | None = None
    if content is ContentKind.MIXED:
        children = tuple(Child(names.full(local, name)) for local in _mixed(declaration.content))
        model = Choice(children, 0, None) if children else None
    elif declaration.content is not None:
        model = _particle(declaration.content, names, name)
    return ElementDeclaration(name, content, model, tuple(attributes))


def _attribute(declaration: Any) -> AttributeDeclaration:
    return AttributeDeclaration(
        _name(declaration),
        _KINDS[declaration.type],
        _PRESENCES[declaration.default],
        tuple(declaration.values()),
        declaration.default_value,
    )


def _particle(node: Any, names: _Names, parent: str) -> Particle:
    least, most = _OCCURS[node.occur]
    if node.type == "element":
        return Child(names.full(node.name, parent), least, most)
    parts = tuple(_particle(part, names, parent) for part in _operands(node))
    return Sequence(parts, least, most) if node.type == "seq" else Choice(parts, least, most)


def _size(node: Any, most: int) -> int:
    """The number of particles of a content model; counting ends one beyond ``most``."""
    size, waiting = 0, [node]
    while waiting and size <= most:
        node = waiting.pop()
        if node is not None:
            size += 1
            if node.type in ("seq", "or"):
                waiting += (node.left, node.right)
    return size


def _operands(node: Any) -> list[Any]:
    """The operands of nested pairs with one connector: a, b, c of ``(a, (b, c))``."""
    operands = []
    kind = node.type
    while True:
        operands.append(node.left)
        node = node.right
        if node is None:
            return operands
        if node.type != kind or node.occur != "once":
            operands.append(node)
            return operands


def _mixed(node: Any) -> list[str]:
    """The element names of mixed content."""
    if node is None or node.type == "pcdata":
        return []
    if node.type == "element":
        return [node.name]
    return [name for operand in _operands(node) for name in _mixed(operand)]


def _name(declaration: Any) -> str:
    return f"{declaration.prefix}:{declaration.name}" if declaration.prefix else str(declaration.name)

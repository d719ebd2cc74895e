"""An XML Schema read as an element graph.

The library xmlschema parses the types; this module walks them from the global elements down.
An element graph has one element for each name, while an XSD may give a name several types: their contents
become alternatives.  ``xs:any`` admits every declared element, an abstract element its substitutes.
Nothing external is read: a schema that includes another file is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml import etree

from twigcast.errors import ExtraError, SchemaError, TwigcastError
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
from twigcast.schema.xsd_size import check_size

if TYPE_CHECKING:
    from xmlschema import XMLSchema10


def read_xsd(
    source: Path | str | bytes, root: str | None = None, limits: SchemaLimits = DEFAULT
) -> ElementGraph:
    """The element graph of an XML Schema, given as the path of its file or as its bytes.

    Names are written with the schema's own prefixes, or without a prefix if all elements are in one
    namespace.  Without a ``root``, the root is the global element that occurs in no other element; of
    several, the one with the most elements below it.
    """
    body, name = read_source(source, "the schema", limits)
    try:
        return _read(body, name, root, limits)
    except TwigcastError:
        raise
    except Exception as error:  # the library raises many kinds, and more with each of its versions
        reason = next(iter(str(error).strip().splitlines()), "").rstrip(":") or type(error).__name__
        raise SchemaError(f"{name} is not an XML Schema that can be read: {reason[:REASON]}") from error


REASON = 300  # characters of the library's message that are shown


def _read(body: bytes, name: str, root: str | None, limits: SchemaLimits) -> ElementGraph:
    schema = _parse(body, name, limits)
    declarations = _declarations(schema)
    if not declarations:
        raise SchemaError(f"{name} declares no element")
    names = _Names(_prefixes(schema, declarations))
    elements = [_merged([_element(each, names) for each in same]) for same in declarations.values()]
    if root is None and len(schema.elements) < len(declarations):
        starts = {names.full(each.name) for each in schema.elements.values()}
        graph = element_graph(elements, namespaces=names.bound())
        if graph.root not in starts:
            root = max(sorted(starts), key=graph.reach.__getitem__)
    return element_graph(elements, root, names.bound())


_XSD = "http://www.w3.org/2001/XMLSchema"
_XML = "http://www.w3.org/XML/1998/namespace"
_KINDS = {
    "ID": AttributeKind.ID,
    "IDREF": AttributeKind.IDREF,
    "IDREFS": AttributeKind.IDREFS,
    "NMTOKEN": AttributeKind.NMTOKEN,
    "NMTOKENS": AttributeKind.NMTOKENS,
    "ENTITY": AttributeKind.ENTITY,
    "ENTITIES": AttributeKind.ENTITY,
}
_BREADTH = (ContentKind.EMPTY, ContentKind.ELEMENTS, ContentKind.MIXED, ContentKind.ANY)


def _parse(body: bytes, name: str, limits: SchemaLimits) -> XMLSchema10:
    try:
        import xmlschema
    except ImportError as error:
        raise ExtraError("xmlschema", extra="xsd") from error
    parser = etree.XMLParser(no_network=True, resolve_entities=False, load_dtd=False)
    try:
        document = etree.fromstring(body, parser)
    except etree.XMLSyntaxError as error:
        raise SchemaError(f"{name} is not XML: {error.msg}") from error
    if document.tag != f"{{{_XSD}}}schema":
        raise SchemaError(f"{name} is not an XML Schema: it starts with {etree.QName(document).localname!r}")
    for directive in ("include", "import", "redefine", "override"):
        for found in document.iterfind(f"{{{_XSD}}}{directive}"):
            location = found.get("schemaLocation")
            if location is not None and found.get("namespace") != _XML:
                raise SchemaError(
                    f"{name} refers to {location}: other files are not read, give it as one file"
                )
    check_size(document, name, limits)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a model that it cannot verify is an error below
            return xmlschema.XMLSchema10(body, allow="none", defuse="always")
    except (xmlschema.XMLSchemaException, ValueError, TypeError, KeyError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(":")
        raise SchemaError(f"{name} is not an XML Schema: {reason[:REASON]}") from error


class _Names:
    """Turns names with a namespace in braces into names as documents write them."""

    def __init__(self, prefixes: dict[str, str]) -> None:
        self.prefixes = prefixes

    def full(self, name: str) -> str:
        namespace, local = _split(name)
        prefix = self.prefixes.get(namespace, "")
        return f"{prefix}:{local}" if prefix else local

    def attribute(self, name: str) -> str:
        namespace, local = _split(name)
        if namespace == _XML:
            return f"xml:{local}"
        prefix = self.prefixes.get(namespace, "") if namespace else ""
        return f"{prefix}:{local}" if prefix else local

    def bound(self) -> list[tuple[str, str]]:
        return sorted((prefix, namespace) for namespace, prefix in self.prefixes.items() if namespace)


def _declarations(schema: XMLSchema10) -> dict[str, list[Any]]:
    """The element declarations that can be reached from the global ones, by name, in order."""
    found: dict[str, list[Any]] = {}
    waiting: list[Any] = list(schema.elements.values())[::-1]
    types: dict[str, set[int]] = {}
    while waiting:
        declaration = waiting.pop()
        seen = types.setdefault(declaration.name, set())
        if id(declaration.type) in seen:
            continue
        seen.add(id(declaration.type))
        if not declaration.abstract:
            found.setdefault(declaration.name, []).append(declaration)
        waiting += list(_elements_in(declaration.type))[::-1]
    return found


def _elements_in(type: Any) -> Iterator[Any]:
    if type.is_complex() and not type.has_simple_content():
        for particle in type.content.iter_elements():
            if _is_element(particle):
                yield from _standing_for(particle)


def _standing_for(particle: Any) -> Iterator[Any]:
    """The declarations of an element in a content model: its own, and those that can be substituted."""
    declaration = particle if particle.ref is None else particle.ref
    yield declaration
    yield from sorted(declaration.iter_substitutes(), key=lambda each: str(each.name))


def _is_element(particle: Any) -> bool:
    return hasattr(particle, "abstract")  # neither groups nor xs:any have it


def _prefixes(schema: XMLSchema10, names: Iterable[str]) -> dict[str, str]:
    """A prefix for each namespace of an element."""
    namespaces = list(dict.fromkeys(_split(name)[0] for name in names))
    if len(namespaces) == 1:
        return {namespaces[0]: ""}
    prefixes = {"": ""}
    taken = {""}
    for namespace in namespaces:
        if namespace and namespace not in prefixes:
            own = [each for each, uri in schema.namespaces.items() if each and uri == namespace]
            free = (each for each in [*own, *(f"n{n}" for n in range(len(taken) + 1))] if each not in taken)
            prefixes[namespace] = next(free)
            taken.add(prefixes[namespace])
    return prefixes


def _element(declaration: Any, names: _Names) -> ElementDeclaration:
    type = declaration.type
    name = names.full(declaration.name)
    attributes = sorted((_attribute(each, names) for each in _attributes(type)), key=lambda each: each.name)
    if type.is_simple() or type.has_simple_content():
        simple = type if type.is_simple() else type.content
        return ElementDeclaration(name, ContentKind.MIXED, None, tuple(attributes), _values(simple))
    if any(not _is_element(each) for each in type.content.iter_elements()):
        return ElementDeclaration(name, ContentKind.ANY, None, tuple(attributes))
    model = _particle(type.content, names)
    content = (
        ContentKind.MIXED if type.mixed else ContentKind.ELEMENTS if model is not None else ContentKind.EMPTY
    )
    return ElementDeclaration(name, content, model, tuple(attributes))


def _attributes(type: Any) -> Iterator[Any]:
    for key, attribute in getattr(type, "attributes", {}).items():
        if key is not None and attribute.use != "prohibited":  # None stands for xs:anyAttribute
            yield attribute


def _attribute(declaration: Any, names: _Names) -> AttributeDeclaration:
    values = _values(declaration.type)
    kind = _KINDS.get(_split(declaration.type.name or "")[1], AttributeKind.CDATA)
    if values:
        kind = AttributeKind.ENUMERATION
    presence = Presence.REQUIRED if declaration.use == "required" else Presence.IMPLIED
    if declaration.fixed is not None:
        presence = Presence.FIXED
    elif declaration.default is not None:
        presence = Presence.DEFAULT
    default = declaration.fixed if declaration.fixed is not None else declaration.default
    return AttributeDeclaration(names.attribute(declaration.name), kind, presence, values, default)


def _values(type: Any) -> tuple[str, ...]:
    return tuple(str(value) for value in getattr(type, "enumeration", None) or ())


def _particle(particle: Any, names: _Names) -> Particle | None:
    """The particle in terms of the element graph; None if it admits nothing."""
    least, most = particle.min_occurs, particle.max_occurs
    if most == 0:
        return None
    if _is_element(particle):
        able = [each for each in _standing_for(particle) if not each.abstract]
        options = tuple(dict.fromkeys(names.full(each.name) for each in able))
        if len(options) == 1:
            return Child(options[0], least, most)
        return Choice(tuple(Child(option) for option in options), least, most)
    parts = tuple(part for part in (_particle(each, names) for each in particle) if part is not None)
    if not parts:
        return None
    if particle.model == "choice":
        return Choice(parts, least, most)
    return Sequence(parts, least, most)  # of xs:all, one of the orders


def _merged(same: list[ElementDeclaration]) -> ElementDeclaration:
    """One declaration for several of the same name, which admits what each of them admits."""
    if len(same) == 1:
        return same[0]
    content = max((each.content for each in same), key=_BREADTH.index)
    models = tuple(dict.fromkeys(each.model for each in same if each.model is not None))
    model: Particle | None = None
    if models and content is not ContentKind.ANY:
        least = int(all(each.model is not None for each in same))
        model = models[0] if len(models) == 1 and least else Choice(models, least, 1)
    attributes: dict[str, AttributeDeclaration] = {}
    for each in same:
        for attribute in each.attributes:
            known = attributes.setdefault(attribute.name, attribute)
            if known != attribute:
                attributes[attribute.name] = AttributeDeclaration(attribute.name)
    for name, attribute in attributes.items():
        everywhere = all(any(a.name == name for a in each.attributes) for each in same)
        if attribute.presence is Presence.REQUIRED and not everywhere:
            attributes[name] = AttributeDeclaration(name, attribute.kind, Presence.IMPLIED, attribute.values)
    values = tuple(dict.fromkeys(value for each in same for value in each.values))
    ordered = tuple(attributes[name] for name in sorted(attributes))
    return ElementDeclaration(same[0].name, content, model, ordered, values)


def _split(name: str) -> tuple[str, str]:
    namespace, _, local = name[1:].partition("}") if name.startswith("{") else ("", "", name)
    return namespace, local

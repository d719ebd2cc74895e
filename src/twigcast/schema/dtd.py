"""A DTD read as an element graph.

The text is parsed twice.  First expat reports entities, so that chains of them are refused before anything
uses them, and attributes with their values; then it gives the text piece by piece, from which content models
are read and references without a declaration are found.
Nothing external is read: a DTD that refers to another file is refused.
"""

from __future__ import annotations

from pathlib import Path

from twigcast.document import EntityTable
from twigcast.errors import SchemaError
from twigcast.schema.dtd_parser import INCOMPLETE, DtdParser
from twigcast.schema.dtd_text import DtdText
from twigcast.schema.graph import (
    AttributeDeclaration,
    AttributeKind,
    ElementDeclaration,
    ElementGraph,
    Presence,
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
    parser = DtdParser(body, name)
    reported = _Reported(parser, limits)
    for _ in range(ROUNDS):
        if reported.wrong != INCOMPLETE or not parser.take_sections_out(reported.values):
            break
        reported = _Reported(parser, limits)
    text = DtdText(parser, limits, reported.values)
    if not text.models:
        raise SchemaError(f"{name} declares no element")
    elements = [
        ElementDeclaration(element, content, model, reported.sorted_attributes(element))
        for element, (content, model) in text.models.items()
    ]
    return element_graph(elements, root)


ROUNDS = 10
"""How often sections may switch on entities that switch on further sections which expat refuses."""

_KINDS = {
    "CDATA": AttributeKind.CDATA,
    "ID": AttributeKind.ID,
    "IDREF": AttributeKind.IDREF,
    "IDREFS": AttributeKind.IDREFS,
    "NMTOKEN": AttributeKind.NMTOKEN,
    "NMTOKENS": AttributeKind.NMTOKENS,
    "ENTITY": AttributeKind.ENTITY,
    "ENTITIES": AttributeKind.ENTITY,
}


class _Reported:
    """What expat reports of a DTD: the attributes of each element, and the ``values`` of entities.

    A value has the key that a reference begins with: ``%name`` or ``&name``; external entities have none.
    """

    def __init__(self, parser: DtdParser, limits: SchemaLimits) -> None:
        self.values: dict[str, str | None] = {}
        self._attributes: dict[str, dict[str, AttributeDeclaration]] = {}
        self._parser = parser
        self._limits = limits
        self._number = 0
        self._parameters = EntityTable(limits.entity_depth, "%")
        self._general = EntityTable(limits.entity_depth)
        # Where the text is wrong, DtdText finds it too, and knows what was expected there.
        self.wrong = parser.parse({"EntityDeclHandler": self._entity, "AttlistDeclHandler": self._attribute})

    def sorted_attributes(self, element: str) -> tuple[AttributeDeclaration, ...]:
        """The attributes of an element by name, as their order means nothing."""
        attributes = self._attributes.get(element, {})
        return tuple(attributes[name] for name in sorted(attributes))

    def _entity(self, name: str, is_parameter: bool, value: str | None, *_: str | None) -> None:
        table = self._parameters if is_parameter else self._general
        self.values.setdefault(f"{'%' if is_parameter else '&'}{name}", value)
        if not table.declare(name, value):
            name = f"{self._parser.name}, at {self._parser.place},"
            self._limits.check("entity_depth", self._limits.entity_depth + 1, name)

    def _attribute(self, element: str, name: str, kind: str, default: str | None, required: bool) -> None:
        self._number += 1
        self._limits.check("attributes", self._number, self._parser.name)
        values = tuple(kind[kind.index("(") + 1 : -1].split("|")) if kind.endswith(")") else ()
        if default is None:
            presence = Presence.REQUIRED if required else Presence.IMPLIED
        else:
            presence = Presence.FIXED if required else Presence.DEFAULT
        declaration = AttributeDeclaration(
            name, AttributeKind.ENUMERATION if values else _KINDS[kind], presence, values, default
        )
        self._attributes.setdefault(element, {}).setdefault(name, declaration)  # the first one counts

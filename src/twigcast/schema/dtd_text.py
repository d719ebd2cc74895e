"""Reads content models from the text of a DTD, as expat gives it piece by piece.

    <!ELEMENT list (title?, item+)>      '<!ELEMENT'  'list'  '('  'title?'  ','  'item+'  ')'  '>'

The pieces come with parameter entities in their places and without divided names.  Expat's own report of a
content model is not used: pyexpat makes nested tuples of it by a recursion that overflows the stack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from twigcast.document import EntityTable
from twigcast.errors import SchemaError
from twigcast.schema.dtd_parser import DtdParser
from twigcast.schema.graph import Child, Choice, ContentKind, Particle, Sequence
from twigcast.schema.limits import SchemaLimits

_DECLARATIONS = ("<!ELEMENT", "<!ATTLIST", "<!ENTITY", "<!NOTATION")
_CONTENTS = {"EMPTY": ContentKind.EMPTY, "ANY": ContentKind.ANY}
_TIMES: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_QUOTES = ("'", '"')


@dataclass(slots=True)
class _Group:
    """A group whose closing parenthesis has not come yet."""

    parts: list[Particle] = field(default_factory=list)
    connector: str = ""


class DtdText:
    """The content models that the text of a DTD declares, by the names of elements, in their order.

    ``values`` are those of the entities.  A reference to an entity that is not declared before it is refused,
    since expat leaves out what it stands for.
    """

    def __init__(self, parser: DtdParser, limits: SchemaLimits, values: Mapping[str, str | None]) -> None:
        self.models: dict[str, tuple[ContentKind, Particle | None]] = {}
        self._parser = parser
        self._limits = limits
        self._values = values
        self._parameters = EntityTable(limits.entity_depth, "%")
        self._general = EntityTable(limits.entity_depth)
        self._declaration: list[str] = []  # the keyword and the name of the open declaration
        self._content: ContentKind | None = None
        self._model: Particle | None = None
        self._groups: list[_Group] = []
        self._previous = ""
        self._particles = 0
        wrong = parser.parse({"DefaultHandler": self._piece, "SkippedEntityHandler": self._skipped})
        if wrong is not None:
            raise parser.error(wrong, self._expected())

    def _piece(self, text: str) -> None:
        if text.isspace():
            return
        if not self._declaration:
            if text in _DECLARATIONS:
                self._declaration = [text]
        elif text == ">":
            self._end()
        elif text[0] == "%" and len(text) > 1:
            self._refuse(text)
        elif self._declaration[0] == "<!ELEMENT":
            self._element(text)
        elif self._declaration[0] == "<!ENTITY":
            self._entity(text)
        elif self._declaration[0] == "<!ATTLIST" and text.startswith(_QUOTES):
            self._check("&", self._general.undeclared(text))
        self._previous = text

    def _end(self) -> None:
        kind, *names = self._declaration
        if kind == "<!ELEMENT":
            assert self._content is not None
            self.models[names[0]] = self._content, self._model
            self._content = self._model = None
        elif kind == "<!ENTITY":
            sign = "%" if names[0] == "%" else "&"
            table = self._parameters if sign == "%" else self._general
            table.declare(names[-1], self._values.get(f"{sign}{names[-1]}"))
        self._declaration = []

    def _skipped(self, name: str, is_parameter: bool) -> None:
        self._refuse(f"{'%' if is_parameter else '&'}{name};")

    # Entities

    def _entity(self, text: str) -> None:
        if self._previous in ("<!ENTITY", "%"):
            self._declaration.append(text)
        elif text.startswith(_QUOTES) and self._previous == self._declaration[-1]:
            self._check("%", self._parameters.undeclared(text))

    def _check(self, sign: str, undeclared: str | None) -> None:
        if undeclared is not None:
            self._refuse(f"{sign}{undeclared};")

    def _refuse(self, reference: str) -> None:
        raise SchemaError(
            f"{self._parser.name} refers to {reference} at {self._parser.place}: "
            "no entity of this name is declared before"
        )

    # Elements

    def _element(self, text: str) -> None:
        if len(self._declaration) == 1:
            self._name(text)
        elif text == "(":
            self._limits.check("depth", len(self._groups) + 1, self._parser.name)
            self._content = self._content or ContentKind.ELEMENTS
            self._groups.append(_Group())
        elif not self._groups:
            self._content = _CONTENTS[text]
        elif text[0] == ")":
            self._close(text)
        elif text in (",", "|"):
            self._count()
            self._groups[-1].connector = text
        elif text == "#PCDATA":
            self._content = ContentKind.MIXED
        else:
            self._count()
            name = text.rstrip("?*+")
            self._groups[-1].parts.append(Child(name, *_TIMES.get(text[len(name) :], (1, 1))))

    def _name(self, text: str) -> None:
        if text in self.models:
            raise SchemaError(f"{self._parser.name} declares element {text} again at {self._parser.place}")
        self._limits.check("elements", len(self.models) + 1, self._parser.name)
        self._declaration.append(text)

    def _count(self) -> None:
        self._particles += 1
        self._limits.check("particles", self._particles, self._parser.name)

    def _close(self, text: str) -> None:
        group = self._groups.pop()
        parts, (least, most) = tuple(group.parts), _TIMES.get(text[1:], (1, 1))
        particle: Particle | None
        if self._content is ContentKind.MIXED:
            particle = Choice(parts, 0, None) if parts else None
        elif len(parts) == 1:
            only = parts[0]
            bounded = most is not None and only.most is not None
            particle = replace(only, least=least * only.least, most=1 if bounded else None)
        else:
            particle = (Choice if group.connector == "|" else Sequence)(parts, least, most)
        if self._groups:
            assert particle is not None
            self._groups[-1].parts.append(particle)
        else:
            self._model = particle

    def _expected(self) -> str | None:
        """What can stand after the last piece, for the message of an error there."""
        if not self._declaration:
            return "a declaration"
        if self._declaration[0] != "<!ELEMENT":
            return None
        if len(self._declaration) == 1:
            return "a name"
        if not self._groups:
            return "EMPTY, ANY or '('" if self._content is None else "'>'"
        if self._previous in ("(", ",", "|"):
            return "a name" if self._content is ContentKind.MIXED else "a name or '('"
        connector = "|" if self._content is ContentKind.MIXED else self._groups[-1].connector
        return f"{repr(connector) if connector else repr(',') + ', ' + repr('|')} or ')'"

"""The schema of a dialect while changes turn the global schema into it.

    course ── title                    a part is an element type that occurs at one place only;
       │                               only parts are changed
       └──── schedule ── days, time    a part knows its name in the dialect; its identity stays

Types that occur at several places, or in themselves, are left as they are: an element graph has one
declaration for each name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from twigcast.rewriting.labels import QName
from twigcast.schema import (
    AttributeDeclaration,
    Child,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    Particle,
    Presence,
    Sequence,
    element_graph,
)


@dataclass(slots=True, eq=False)
class Slot:
    """A child of a part: another part, or a shared type by name; ``most`` is None without a bound."""

    part: Part | None
    name: str
    least: int
    most: int | None


@dataclass(slots=True, eq=False)
class Part:
    """An element type of the dialect at its only place; ``identity`` is its name in the global schema.

    A part that only the dialect has (``is_extra``) groups others.  ``as_attribute`` says that the element of
    the global schema is an attribute here.
    """

    identity: str
    name: str
    declaration: ElementDeclaration
    parent: Part | None = field(default=None, repr=False)
    children: list[Slot] = field(default_factory=list, repr=False)
    attributes: list[Part] = field(default_factory=list, repr=False)
    is_extra: bool = False
    as_attribute: bool = False
    is_required: bool = False
    """Of an attribute, whether it is always there."""
    is_changed: bool = False
    """Whether its content is no longer that of its declaration."""

    @property
    def is_plain(self) -> bool:
        """Whether it has elements only: no text, no attributes, and nothing that was made one."""
        return self.has_elements and not self.attributes and not self.declaration.attributes

    @property
    def has_elements(self) -> bool:
        """Whether it contains elements, and no text between them."""
        return bool(self.children) and self.declaration.content is ContentKind.ELEMENTS

    @property
    def is_text(self) -> bool:
        """Whether it contains text only, so that an attribute can have it."""
        declaration = self.declaration
        return not self.children and declaration.has_text and not declaration.attributes

    @property
    def parts(self) -> list[Part]:
        """The children that are parts."""
        return [slot.part for slot in self.children if slot.part is not None]

    def slot(self, part: Part) -> Slot:
        """The slot of a child."""
        return next(slot for slot in self.children if slot.part is part)


class DialectSchema:
    """The parts of a dialect by identity, and the shared types; it becomes an element graph at the end."""

    def __init__(self, graph: ElementGraph) -> None:
        self.graph = graph
        self.names: set[str] = {element.name for element in graph}
        """All names in use, in the global schema or the dialect."""
        reachable = graph.descendants[graph.root] | {graph.root}
        parents: dict[str, set[str]] = {}
        for name in reachable:
            for child in graph.children(name):
                parents.setdefault(child.name, set()).add(name)
        self.parts: dict[str, Part] = {}
        self.shared = [element.name for element in graph if element.name in reachable]
        if graph.root not in parents:
            self._grow(graph.root, None, parents)
        self.shared = [name for name in self.shared if name not in self.parts]

    @property
    def root(self) -> Part | None:
        """The root, None if it can occur elsewhere, too: then nothing can be changed."""
        return next((part for part in self.parts.values() if part.parent is None), None)

    def label(self, name: str) -> QName:
        """The label of a name of the schema."""
        namespace, local = self.graph.expanded(name)
        return QName(namespace or "", local)

    def elements(self) -> Iterator[Part]:
        """The parts that are elements of the dialect now, from the root down."""
        waiting = [self.root] if self.root is not None else []
        while waiting:
            part = waiting.pop()
            yield part
            waiting += part.parts[::-1]

    def path(self, part: Part) -> str:
        """The key of a part in the source tree of the dialect."""
        step = ("@" if part.as_attribute else "") + str(
            QName("", part.name) if part.as_attribute else self.label(part.name)
        )
        return step if part.parent is None else f"{self.path(part.parent)}/{step}"

    def extra(self, name: str, near: Part) -> Part:
        """A new part that only the dialect has, with the prefix of another."""
        prefix, colon, _ = near.name.rpartition(":")
        declaration = ElementDeclaration(prefix + colon + name, ContentKind.ELEMENTS)
        part = Part(f"+{prefix}{colon}{name}", prefix + colon + name, declaration, is_extra=True)
        part.is_changed = True
        self.names.add(part.name)
        self.parts[part.identity] = part
        return part

    def to_graph(self) -> ElementGraph:
        """The element graph of the dialect."""
        names = {part.identity: part.name for part in self.parts.values() if not part.is_extra}
        declarations = [_declared(part, names) for part in self.elements()]
        declarations += [self.graph[name] for name in self.shared]
        root = self.root
        return element_graph(declarations, root.name if root else self.graph.root, self.graph.namespaces)

    def _grow(self, name: str, parent: Part | None, parents: dict[str, set[str]]) -> Part:
        part = Part(name, name, self.graph[name], parent)
        self.parts[name] = part
        for child in self.graph.children(name):
            alone = len(parents[child.name]) == 1 and self.graph[name].content is not ContentKind.ANY
            below = self._grow(child.name, part, parents) if alone else None
            part.children.append(Slot(below, child.name, child.least, child.most))
        return part


def _declared(part: Part, names: dict[str, str]) -> ElementDeclaration:
    attributes = part.declaration.attributes + tuple(
        AttributeDeclaration(
            each.name,
            presence=Presence.REQUIRED if each.is_required else Presence.IMPLIED,
            values=each.declaration.values,
        )
        for each in part.attributes
    )
    changed = replace(part.declaration, name=part.name, attributes=attributes)
    if not part.is_changed:
        model = part.declaration.model
        return replace(changed, model=None if model is None else _renamed(model, names))
    children = tuple(
        Child(slot.part.name if slot.part else slot.name, slot.least, slot.most) for slot in part.children
    )
    if not children:
        return replace(changed, content=ContentKind.EMPTY, model=None)
    return replace(changed, model=Sequence(children))


def _renamed(particle: Particle, names: dict[str, str]) -> Particle:
    if isinstance(particle, Child):
        return replace(particle, name=names.get(particle.name, particle.name))
    return replace(particle, parts=tuple(_renamed(part, names) for part in particle.parts))

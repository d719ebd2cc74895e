"""The element graph of a schema: which elements may contain which others, in what order and how often.

An ElementGraph says for each element which children it admits, in what order and number, which attributes
it has, and whether it holds text.  A ``list`` of ``(title?, item+)``, an ``item`` of text and lists:

    list ──title 0..1──► title            Sequence(Child title 0..1, Child item 1..n)
     │ ▲
     │ └──list 0..n──┐                     Choice(Child list) 0..n, with text between
     └──item 1..n──► item

DTDs and XSDs are both read into this value; nothing here depends on the schema language.
Names are written as in documents, with their prefixes; ``namespaces`` binds the prefixes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TypeAlias

from twigcast.errors import SchemaError


@dataclass(frozen=True, slots=True)
class Child:
    """An element by name, ``least`` to ``most`` times; ``most`` is None where there is no bound."""

    name: str
    least: int = 1
    most: int | None = 1


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts one after the other; the sequence occurs ``least`` to ``most`` times."""

    parts: tuple[Particle, ...]
    least: int = 1
    most: int | None = 1


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the parts, ``least`` to ``most`` times, each time another choice."""

    parts: tuple[Particle, ...]
    least: int = 1
    most: int | None = 1


Particle: TypeAlias = Child | Sequence | Choice
"""A part of a content model: a child, a sequence or a choice."""


class ContentKind(Enum):
    """What may stand between the tags of an element."""

    EMPTY = "empty"
    ELEMENTS = "elements"
    MIXED = "mixed"
    """Text, with the elements of the model (if there is one) anywhere between."""
    ANY = "any"
    """Text and every declared element."""


class AttributeKind(Enum):
    """What values an attribute admits."""

    CDATA = "cdata"
    ENUMERATION = "enumeration"
    ID = "id"
    IDREF = "idref"
    IDREFS = "idrefs"
    NMTOKEN = "nmtoken"
    NMTOKENS = "nmtokens"
    ENTITY = "entity"
    """An unparsed entity (or several), which a document without a DOCTYPE cannot name."""


class Presence(Enum):
    """Whether an attribute is required, optional, defaulted or fixed."""

    REQUIRED = "required"
    IMPLIED = "implied"
    FIXED = "fixed"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class AttributeDeclaration:
    """An attribute of an element.

    ``values`` are the admitted values of an enumeration, and otherwise examples (none, if none are known);
    ``default`` is the fixed or the default value.
    """

    name: str
    kind: AttributeKind = AttributeKind.CDATA
    presence: Presence = Presence.IMPLIED
    values: tuple[str, ...] = ()
    default: str | None = None


@dataclass(frozen=True, slots=True)
class ElementDeclaration:
    """An element: its content, its attributes, and examples of its text where some are known."""

    name: str
    content: ContentKind = ContentKind.EMPTY
    model: Particle | None = None
    attributes: tuple[AttributeDeclaration, ...] = ()
    values: tuple[str, ...] = ()

    @property
    def has_text(self) -> bool:
        """Whether the element may contain text."""
        return self.content in (ContentKind.MIXED, ContentKind.ANY)


@dataclass(frozen=True, slots=True)
class Cardinality:
    """How often a child can occur in its parent, over the whole content model."""

    name: str
    least: int
    most: int | None


@dataclass(frozen=True)  # without slots, since cached properties need a __dict__
class ElementGraph:
    """The declared elements of a schema in their order, and the root element of its documents.

    Invariant: names are distinct, and ``root`` is one of them.  A content model may mention a name that is
    not declared; such a child is never part of a valid document and is left out of every derived fact.
    """

    elements: tuple[ElementDeclaration, ...]
    root: str
    namespaces: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if len(self._by_name) != len(self.elements):
            raise SchemaError("an element is declared twice")
        if self.root not in self._by_name:
            raise SchemaError(f"the root {self.root!r} is not a declared element")

    def __getitem__(self, name: str) -> ElementDeclaration:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[ElementDeclaration]:
        return iter(self.elements)

    def __len__(self) -> int:
        return len(self.elements)

    def rooted(self, root: str) -> ElementGraph:
        """The same elements with another root."""
        return replace(self, root=root)

    def children(self, name: str) -> tuple[Cardinality, ...]:
        """The declared children of an element, in the order of its content model."""
        return self._children[name]

    def expanded(self, name: str) -> tuple[str | None, str]:
        """The namespace and the local name of an element; None for a namespace that is not known.

        Prefixes are bound by ``namespaces``, or by an ``xmlns`` attribute whose value the schema fixes.
        """
        prefix, _, local = name.rpartition(":")
        return self._bound.get(prefix, None if prefix else ""), local

    @property
    def bindings(self) -> dict[str, str]:
        """The namespace of each prefix, if it is known; an expression with names of the graph needs them."""
        return {prefix: uri for prefix, uri in self._bound.items() if uri}

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """The elements that occur in no other element, not counting elements with content ANY."""
        below = {
            child.name
            for element in self.elements
            if element.content is not ContentKind.ANY
            for child in self._children[element.name]
            if child.name != element.name
        }
        return tuple(element.name for element in self.elements if element.name not in below)

    @cached_property
    def descendants(self) -> dict[str, frozenset[str]]:
        """For each element, the elements that can occur below it at any depth."""
        return {element.name: frozenset(self._reach(element.name)) for element in self.elements}

    @cached_property
    def reach(self) -> dict[str, int]:
        """For each element, the number of elements that can occur below it at any depth."""
        return {name: below.bit_count() for name, below in self._below.items()}

    @cached_property
    def recursive(self) -> frozenset[str]:
        """The elements that can contain themselves, directly or further down."""
        return frozenset(name for name, below in self._below.items() if below >> self._numbers[name] & 1)

    @cached_property
    def heights(self) -> dict[str, int]:
        """The height of the shallowest valid tree of each element (1 without children).

        An element without a valid tree, since it requires itself or an undeclared element, is left out.
        """
        parents: dict[str, list[str]] = {}
        for element in self.elements:
            if element.content is not ContentKind.ANY:
                for child in self._children[element.name]:
                    parents.setdefault(child.name, []).append(element.name)
        heights: dict[str, int] = {}
        waiting = [element.name for element in self.elements]
        while waiting:  # round n finds exactly the elements of height n, among the parents of those before
            found = {}
            for name in waiting:
                model = self._by_name[name].model
                below = 0 if model is None else particle_height(model, heights)
                if below is not None:
                    found[name] = below + 1
            heights.update(found)
            above = dict.fromkeys(parent for name in found for parent in parents.get(name, ()))
            waiting = [name for name in above if name not in heights]
        return heights

    @cached_property
    def _bound(self) -> dict[str, str | None]:
        """The namespace of each prefix, None for a prefix that elements bind differently."""
        declared: dict[str, set[str | None]] = {}
        for element in self.elements:
            for attribute in element.attributes:
                if attribute.name == "xmlns" or attribute.name.startswith("xmlns:"):
                    declared.setdefault(attribute.name[6:], set()).add(attribute.default)
        bound = {prefix: next(iter(uris)) if len(uris) == 1 else None for prefix, uris in declared.items()}
        return {**bound, **dict(self.namespaces)}

    @cached_property
    def _by_name(self) -> dict[str, ElementDeclaration]:
        return {element.name: element for element in self.elements}

    @cached_property
    def _children(self) -> dict[str, tuple[Cardinality, ...]]:
        everything = tuple(Cardinality(element.name, 0, None) for element in self.elements)
        children: dict[str, tuple[Cardinality, ...]] = {}
        for element in self.elements:
            if element.content is ContentKind.ANY:
                children[element.name] = everything
            elif element.model is None:
                children[element.name] = ()
            else:
                children[element.name] = tuple(
                    Cardinality(name, least, most)
                    for name, (least, most) in _cardinalities(element.model).items()
                    if name in self._by_name
                )
        return children

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {element.name: number for number, element in enumerate(self.elements)}

    @cached_property
    def _below(self) -> dict[str, int]:
        """For each element, the set of elements below it at any depth, as a bitmap of their numbers.

        Elements that contain each other have the same set.
        """
        numbers = self._numbers
        children = {
            element.name: []
            if element.content is ContentKind.ANY
            else [child.name for child in self._children[element.name]]
            for element in self.elements
        }
        below: dict[str, int] = {}
        for cycle in _cycles(children):
            together = 0
            for name in cycle:
                if self._by_name[name].content is ContentKind.ANY:
                    together = (1 << len(self.elements)) - 1
                for child in children[name]:
                    together |= 1 << numbers[child] | below.get(child, 0)
            below.update(dict.fromkeys(cycle, together))
        return below

    def _reach(self, start: str) -> set[str]:
        reached: set[str] = set()
        waiting = [start]
        while waiting:
            for child in self._children[waiting.pop()]:
                if child.name not in reached:
                    reached.add(child.name)
                    waiting.append(child.name)
        return reached


def element_graph(
    elements: Iterable[ElementDeclaration],
    root: str | None = None,
    namespaces: Iterable[tuple[str, str]] = (),
) -> ElementGraph:
    """The graph of these elements; the default root is the candidate with the most elements below it."""
    declared = tuple(elements)
    if not declared:
        raise SchemaError("the schema declares no element")
    graph = ElementGraph(declared, declared[0].name if root is None else root, tuple(namespaces))
    if root is None:
        # An element with content ANY reaches everything, so it is no candidate for the root.
        roots = [name for name in graph.roots if graph[name].content is not ContentKind.ANY] or graph.roots
        if roots:
            graph = graph.rooted(max(roots, key=graph.reach.__getitem__) if len(roots) > 1 else roots[0])
    return graph


def particle_height(particle: Particle, heights: dict[str, int]) -> int | None:
    """The height of the shallowest content of a model, from the heights of elements; None if it has none."""
    if particle.least == 0:
        return 0
    if isinstance(particle, Child):
        return heights.get(particle.name)
    below = [particle_height(part, heights) for part in particle.parts]
    possible = [height for height in below if height is not None]
    if isinstance(particle, Choice):
        return min(possible, default=None if below else 0)
    return max(possible, default=0) if len(possible) == len(below) else None


def _cycles(children: dict[str, list[str]]) -> Iterator[list[str]]:
    """The strongly connected components, each after all that it leads to (Tarjan's algorithm)."""
    indices: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    open_names: set[str] = set()
    for start in children:
        waiting = [] if start in indices else [(start, iter(children[start]))]
        while waiting:
            name, rest = waiting[-1]
            if name not in indices:
                indices[name] = lowest[name] = len(indices)
                path.append(name)
                open_names.add(name)
            for child in rest:
                if child not in indices:
                    waiting.append((child, iter(children[child])))
                    break
                if child in open_names:
                    lowest[name] = min(lowest[name], lowest[child])
            else:
                waiting.pop()
                if waiting:
                    above = waiting[-1][0]
                    lowest[above] = min(lowest[above], lowest[name])
                if lowest[name] == indices[name]:
                    cycle = [path.pop()]
                    while cycle[-1] != name:
                        cycle.append(path.pop())
                    open_names.difference_update(cycle)
                    yield cycle


def _cardinalities(particle: Particle) -> dict[str, tuple[int, int | None]]:
    if isinstance(particle, Child):
        return {particle.name: (particle.least, particle.most)}
    in_parts: dict[str, list[tuple[int, int | None]]] = {}
    for part in particle.parts:
        for name, bounds in _cardinalities(part).items():
            in_parts.setdefault(name, []).append(bounds)
    cardinalities: dict[str, tuple[int, int | None]] = {}
    for name, found in in_parts.items():
        leasts = [least for least, _ in found]
        mosts = [most for _, most in found if most is not None]
        if isinstance(particle, Sequence):
            least, most = sum(leasts), sum(mosts)
        else:
            least, most = min(leasts) if len(found) == len(particle.parts) else 0, max(mosts, default=0)
        bounded = particle.most is not None and len(mosts) == len(found)
        cardinalities[name] = least * particle.least, most * (particle.most or 0) if bounded else None
    return cardinalities

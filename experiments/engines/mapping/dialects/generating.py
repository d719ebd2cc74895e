"""Generates dialects: source schemas of a global schema, each with its true mapping.

    global schema ──changes──► dialect          a document in the global schema ──changes──► in the dialect
         ▲                        │                            ▲                                     │
         └──────true mapping──────┘                            └─────────────true mapping────────────┘

The numbers of operators are those of the paper on heterogeneous data: 148 for 40 catalogues.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from experiments.engines.mapping.dialects.changes import (
    DialectChange,
    Enclosing,
    Grouping,
    IntoAttribute,
    LiftingOut,
    NewName,
    TurningAround,
    Unwrapping,
)
from experiments.engines.mapping.dialects.dialect_schema import DialectSchema, Part
from experiments.engines.mapping.dialects.items import read_item, write_item
from experiments.engines.mapping.dialects.new_names import group_name, new_name, root_name
from twigcast.rewriting.mapping import Mapping
from twigcast.rewriting.matching.thesaurus import Thesaurus
from twigcast.rewriting.operators import Insert, InsertAll, InsertEach, Operator, apply, made_keys
from twigcast.rewriting.schema_tree import SchemaTree
from twigcast.schema import ElementGraph

PROPORTIONS = {"Rename": 89, "Insert": 31, "ToElement": 17, "Upgrade": 6, "Downgrade": 3, "Exchange": 2}
"""The operators of the paper's 40 mappings."""
OPERATORS = 3.7
"""Operators of a dialect on average, as in the paper."""


@dataclass(frozen=True)
class Dialect:
    """A source schema that was made from the global schema, and its true mapping."""

    graph: ElementGraph
    """The schema of its documents."""
    mapping: Mapping
    global_graph: ElementGraph
    changes: tuple[DialectChange, ...] = field(repr=False)

    @property
    def name(self) -> str:
        """The name of its mapping."""
        return self.mapping.name

    @property
    def tree(self) -> SchemaTree:
        """The source tree of the mapping."""
        return self.mapping.source

    @cached_property
    def pairs(self) -> dict[str, str]:
        """The true matching: each place of the dialect and the place of the global schema that it means."""
        target = SchemaTree.of(self.global_graph)
        found = {node.key: node.path_text for node in self.mapping.image.nodes()}
        return {node.key: found[node.key] for node in self.tree.nodes() if found.get(node.key, "?") in target}

    def document(self, body: bytes) -> bytes:
        """The document of the dialect whose image is this document of the global schema.

        The image is ``normal_document(global_graph, body)``, up to the order of siblings of different names.
        Raises ``SchemaError`` if the document has elements that the global schema lacks.
        """
        root = read_item(self.global_graph, body)
        for change in self.changes:
            root = change.change_document(root)
        return write_item(root, self.graph)


def make_dialects(
    graph: ElementGraph,
    count: int,
    seed: int = 0,
    *,
    operators: float = OPERATORS,
    thesaurus: Thesaurus | None = None,
) -> list[Dialect]:
    """Dialects of a global schema, with ``operators`` on average in the paper's proportions.

    The roots of all dialects have different names.  Only element types that occur at one place are changed;
    operators that the schema has no place for are left out.  The same arguments give the same dialects.
    """
    random = Random(f"dialects/{seed}")
    words = Thesaurus.built_in() if thesaurus is None else thesaurus
    drafts = [_Draft(graph, random, words) for _ in range(count)]
    roots: set[str] = set()
    for draft in drafts:
        draft.rename_root(roots)
    wanted = _apportioned(round(count * operators))
    wanted["Rename"] -= sum(bool(draft.changes) for draft in drafts)
    for kind in ("Exchange", "Downgrade", "Upgrade", "Insert", "ToElement", "Rename"):
        for _ in range(wanted[kind]):
            for draft in random.sample(drafts, len(drafts)):
                change = draft.draw(kind)
                if change is not None:
                    draft.add(change)
                    wanted["Upgrade"] -= isinstance(change, Enclosing)
                    break
            else:
                break
    width = len(str(count))
    return [draft.dialect(f"dialect-{number:0{width}}") for number, draft in enumerate(drafts, start=1)]


def _apportioned(total: int) -> Counter[str]:
    """So many operators, divided by the paper's proportions."""
    whole = sum(PROPORTIONS.values())
    exact = {kind: total * times / whole for kind, times in PROPORTIONS.items()}
    found = Counter({kind: int(number) for kind, number in exact.items()})
    rest = sorted(exact, key=lambda kind: int(exact[kind]) - exact[kind])
    for kind in rest[: total - found.total()]:
        found[kind] += 1
    return found


class _Draft:
    """A dialect to which changes are added."""

    def __init__(self, graph: ElementGraph, random: Random, thesaurus: Thesaurus) -> None:
        self.graph, self.random, self.thesaurus = graph, random, thesaurus
        self.schema = DialectSchema(graph)
        self.changes: list[DialectChange] = []

    def add(self, change: DialectChange) -> None:
        change.change_schema(self.schema)
        self.changes.append(change)

    def rename_root(self, taken: set[str]) -> None:
        root = self.schema.root
        if root is not None:
            name = root_name(root.name, taken | self.schema.names, self.random)
            taken.add(name)
            self.add(NewName(root.identity, name, self.schema.label(root.name)))

    def draw(self, kind: str) -> DialectChange | None:
        """A random change whose inverse is an operator of this kind, None if there is no place for one."""
        found: list[DialectChange] = []
        for part in self.schema.elements():
            if not part.is_extra and part.parent is not None:
                found += self._changes(kind, part, part.parent)
            if kind == "Upgrade" and part.has_elements:
                found += self._groupings(part)
        return self.random.choice(found) if found else None

    def _changes(self, kind: str, part: Part, parent: Part) -> list[DialectChange]:
        slot, label = parent.slot(part), self.schema.label(part.name)
        taken = self.schema.names
        once = slot.most == 1 and parent.has_elements
        members = tuple(each.identity for each in part.parts if not each.is_extra)
        if kind == "Rename" and part.name == part.identity:
            above = "" if parent.is_extra else parent.name
            name = new_name(part.name, above, self.thesaurus, taken, self.random)
            return [NewName(part.identity, name, label)]
        if kind == "ToElement" and once and part.is_text:
            name = part.name.rpartition(":")[2]
            used = {each.name for each in parent.attributes}
            used |= {each.name for each in parent.declaration.attributes}
            return [] if name in used else [IntoAttribute(part.identity, name, label)]
        if kind == "Insert" and once and part.is_plain and len(members) == len(part.children):
            alone = len(parent.children) == 1
            return [Unwrapping(part.identity, parent.identity, members, label, alone)]
        if kind == "Downgrade" and once and part.has_elements and len(part.children) > 1 and members:
            some = self._some(members, len(part.children) - 1)
            return [LiftingOut(part.identity, parent.identity, some)]
        if kind == "Exchange" and part.has_elements and len(part.children) > 1 and members:
            inner = [each for each in part.parts if _always_there(each, part)]
            if inner:
                return [TurningAround(part.identity, each.identity) for each in inner]
            some = self._some(members, len(part.children) - 1)
            return [Enclosing(part.identity, some, group_name(taken, self.random))]
        return []

    def _groupings(self, parent: Part) -> list[DialectChange]:
        """Runs of neighbours; one child by itself only if it repeats."""
        slots = parent.children
        found: list[DialectChange] = []
        for start in range(len(slots)):
            length = self.random.randint(1, 4)
            run = slots[start : start + length]
            parts = [slot.part for slot in run if slot.part is not None and not slot.part.is_extra]
            if len(parts) == len(run) and (len(run) > 1 or run[0].most != 1):
                members = tuple(part.identity for part in parts)
                name = group_name(self.schema.names, self.random)
                found.append(Grouping(parent.identity, members, name))
        return found

    def _some(self, members: tuple[str, ...], most: int) -> tuple[str, ...]:
        chosen = set(self.random.sample(members, self.random.randint(1, min(len(members), most))))
        return tuple(each for each in members if each in chosen)

    def dialect(self, name: str) -> Dialect:
        graph = self.schema.to_graph()
        source = SchemaTree.of(graph)
        keys = {part.identity: self.schema.path(part) for part in self.schema.elements()}
        keys |= {
            attribute.identity: self.schema.path(attribute)
            for part in self.schema.elements()
            for attribute in part.attributes
        }
        tree = source.copy()
        operators: list[Operator] = []
        for change in reversed(self.changes):
            for operator in change.undone_by(keys.__getitem__):
                if change.makes is not None and isinstance(operator, Insert | InsertEach | InsertAll):
                    keys[change.makes] = made_keys(tree, operator)[-1]
                apply(tree, operator)
                operators.append(operator)
        mapping = Mapping(name, source, tuple(operators), target=self.graph.root)
        return Dialect(graph, mapping, self.graph, tuple(self.changes))


def _always_there(child: Part, parent: Part) -> bool:
    """Whether each element of the parent has exactly one such child, and it is never left out as empty."""
    slot = parent.slot(child)
    if child.is_extra or (slot.least, slot.most) != (1, 1) or not child.has_elements:
        return False
    return any(
        each.least > 0 and each.part is not None and (each.part.is_text or _always_there(each.part, child))
        for each in child.children
    )

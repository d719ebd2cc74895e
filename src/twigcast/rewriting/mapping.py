"""A mapping from a publisher's schema to the global schema: the source tree and the operators.

A mapping is identified by the hash of its canonical text, a JSON array:

    [["Mapping","cmu"],["Rename","cmu","catalogue"],["Upgrade","cmu/Course",["cmu/Course/Day_"]], …]
    [["Mapping","nitf"],["Inside",["block","media"],["block"]],["Rename","nitf/body/block","part"]]

The text names everything that the operators need, so a router can use a mapping that arrived in the header of
a document without knowing the source schema: ``Mapping.parse``.  Where a named element can contain itself,
``Inside`` says by way of which elements: those on the left can contain those on the right.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

from twigcast.document import Document, DocumentLimits
from twigcast.errors import MappingError
from twigcast.rewriting import operators as kinds
from twigcast.rewriting.documents import Image, rewrite_with
from twigcast.rewriting.labels import XML_NAMESPACE, QName, is_made, parse_label, parse_path
from twigcast.rewriting.operators import AppliedOperator, Operator, apply_in_order
from twigcast.rewriting.places import NamedPlace, named_places, recursive_children
from twigcast.rewriting.planning import compile_plan
from twigcast.rewriting.schema_tree import SchemaTree
from twigcast.schema import (
    AttributeDeclaration,
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    element_graph,
)

KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        kinds.Rename,
        kinds.ToElement,
        kinds.Insert,
        kinds.InsertEach,
        kinds.InsertAll,
        kinds.Upgrade,
        kinds.UpgradeAll,
        kinds.Downgrade,
        kinds.Exchange,
        kinds.Hide,
    )
}
HASH = 16
"""How many hexadecimal digits of the hash identify a mapping."""
LONGEST_TEXT = 1 << 18
DEEPEST_KEY = 256
MOST_INSIDE = 100_000
MOST_MADE = 1_000
"""Limits on a canonical text, which may come from anywhere: its characters, the steps of a key, the pairs of
elements of which one can contain the other, and the names in the paths that operators make.
"""


@dataclass(frozen=True, eq=False)
class Mapping:
    """How documents of one publisher become documents of the global schema.

    ``version`` counts the mappings of one name; ``target`` names the global schema, where several are in use.
    Mappings are equal if their canonical texts are.
    """

    name: str
    source: SchemaTree
    operators: tuple[Operator, ...]
    version: int = 1
    target: str = ""

    @classmethod
    def parse(cls, name: str, text: str, version: int = 1) -> Mapping:
        """The mapping of a canonical text; raises ``MappingError`` (``mapping-rules``)."""
        try:
            if len(text) > LONGEST_TEXT:
                raise ValueError(f"they have more than {LONGEST_TEXT:,} characters")
            (kind, root), *rest = json.loads(text)
            if kind != "Mapping":
                raise ValueError("it does not begin with the root of the source")
            inside = [(entry[1], entry[2]) for entry in rest if entry[0] == "Inside"]
            if sum(len(parents) * len(children) for parents, children in inside) > MOST_INSIDE:
                raise ValueError(f"more than {MOST_INSIDE:,} elements contain others")
            found = tuple(_operator(entry) for entry in rest if entry[0] != "Inside")
            if sum(len(getattr(operator, "path", ())) for operator in found) > MOST_MADE:
                raise ValueError(f"the paths that are made have more than {MOST_MADE:,} names")
            mapping = cls(name, _named_tree(root, inside, found), found, version)
            _ = mapping.image, mapping.hash  # half a surrogate pair has no hash
        except MappingError:
            raise
        except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            message = f"the rules of the mapping {name!r} cannot be read: {error}"
            raise MappingError(message, code="mapping-rules", name=name) from error
        return mapping

    @cached_property
    def canonical(self) -> str:
        """The canonical text; ``Mapping.parse`` reads it."""
        entries: list[list[object]] = [["Mapping", str(self.source.root.label)]]
        entries += self._inside()
        entries += [_entry(operator) for operator in self.operators]
        return json.dumps(entries, ensure_ascii=False, separators=(",", ":"))

    @cached_property
    def hash(self) -> str:
        return hashlib.sha256(self.canonical.encode()).hexdigest()[:HASH]

    @property
    def reference(self) -> str:
        """How headers, metrics and the journal name the mapping: ``cmu@3#9f2c41d0…``."""
        return f"{self.name}@{self.version}#{self.hash}"

    @property
    def image(self) -> SchemaTree:
        """The schema tree of the images; raises ``MappingError`` for an operator that cannot be applied."""
        return self._applied[0]

    @property
    def applied(self) -> tuple[AppliedOperator, ...]:
        """The operators with the keys of what they make; raises ``MappingError`` as ``image`` does."""
        return self._applied[1]

    @property
    def root(self) -> QName:
        """The root element of the documents that the mapping is for."""
        return self.source.root.label

    @cached_property
    def plan(self) -> bytes:
        """The mapping for the compiled rewriter; raises ``MappingError`` as ``image`` does."""
        return compile_plan(self.source, self.operators)

    @property
    def places(self) -> list[NamedPlace]:
        """Which places of the source the operators name; see ``named_places``."""
        return named_places(self.source, _keys(self.operators))

    def apply(self, document: Document, limits: DocumentLimits | None = None) -> Image:
        """The image of a document; raises ``MappingError`` or ``DocumentError``, as ``rewrite_with`` does."""
        return rewrite_with(document, self.source, self.applied, limits)

    @cached_property
    def _applied(self) -> tuple[SchemaTree, tuple[AppliedOperator, ...]]:
        return apply_in_order(self.source, self.operators)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self.canonical == other.canonical

    def __hash__(self) -> int:
        return hash(self.hash)

    def _inside(self) -> list[list[object]]:
        """The elements through which named elements contain themselves; those with the same children once."""
        parents: dict[tuple[str, ...], list[str]] = {}
        for label, children in recursive_children(self.source, _keys(self.operators)).items():
            parents.setdefault(tuple(sorted(map(str, children))), []).append(str(label))
        return sorted(["Inside", sorted(labels), list(children)] for children, labels in parents.items())


def rewrite(document: Document, mapping: Mapping, limits: DocumentLimits | None = None) -> Image:
    """The image of a document under a mapping: a document in the global schema that knows its source."""
    return mapping.apply(document, limits)


def _entry(operator: Operator) -> list[object]:
    entry: list[object] = [type(operator).__name__]
    for each in fields(operator):
        value = getattr(operator, each.name)
        if isinstance(value, QName):
            entry.append(str(value))
        elif isinstance(value, tuple):
            entry.append([str(item) for item in value])
        else:
            entry.append(value)
    return entry


def _operator(entry: list[Any]) -> Operator:
    kind = KINDS.get(entry[0])
    if kind is None:
        raise ValueError(f"there is no operator {entry[0]!r}")
    names = [each.name for each in fields(kind)]
    if len(entry) != len(names) + 1:
        raise ValueError(f"{entry[0]} needs {', '.join(names)}")
    values: list[Any] = []
    for name, value in zip(names, entry[1:], strict=True):
        if name == "label":
            values.append(parse_label(value))
        elif name == "path":
            values.append(tuple(parse_label(each) for each in value))
        elif name == "members":
            values.append(tuple(map(str, value)))
        else:
            values.append(str(value))
    made: Operator = kind(*values)
    return made


def _keys(operators: Iterable[Operator]) -> Iterator[str]:
    """All keys that operators name."""
    for operator in operators:
        yield operator.node
        if isinstance(operator, kinds.Insert | kinds.InsertEach | kinds.Upgrade | kinds.Downgrade):
            yield from operator.members
        if isinstance(operator, kinds.Downgrade):
            yield operator.into
        if isinstance(operator, kinds.Exchange):
            yield operator.above


def _named_tree(
    root: str, inside: list[tuple[list[str], list[str]]], operators: tuple[Operator, ...]
) -> SchemaTree:
    """A source tree with just the nodes that operators name, and those through which they are recursive."""
    top = parse_label(root)
    children: dict[QName, dict[QName, None]] = {top: {}}
    attributes: dict[QName, dict[QName, None]] = {}
    for key in _keys(operators):
        if is_made(key):
            continue
        steps = parse_path(key)
        if steps[0] != (top, False):
            raise MappingError(f"{key!r} is not below the root {root!r}", code="mapping-rules", name=key)
        if len(steps) > DEEPEST_KEY:
            message = f"{key[:60]!r}… has more than {DEEPEST_KEY} steps"
            raise MappingError(message, code="mapping-rules", name=key)
        for above, step in pairwise(steps):
            (attributes if step.is_attribute else children).setdefault(above.label, {})[step.label] = None
    for parents, below in inside:
        labels = [parse_label(each) for each in below]
        for parent in parents:
            children.setdefault(parse_label(parent), {}).update(dict.fromkeys(labels))
    return SchemaTree.of(_graph(top, children, attributes))


def _graph(
    root: QName, children: dict[QName, dict[QName, None]], attributes: dict[QName, dict[QName, None]]
) -> ElementGraph:
    """A graph of elements that can contain these elements and attributes, in any number."""
    labels = dict.fromkeys([*children, *(label for below in children.values() for label in below)])
    used = (*labels, *(label for each in attributes.values() for label in each))
    uris = sorted({label.namespace for label in used} - {"", XML_NAMESPACE})
    prefixes = {uri: f"n{number}" for number, uri in enumerate(uris)} | {XML_NAMESPACE: "xml"}

    def name(label: QName) -> str:
        return f"{prefixes[label.namespace]}:{label.local}" if label.namespace else label.local

    declarations = [
        ElementDeclaration(
            name(label),
            ContentKind.MIXED,
            Choice(tuple(Child(name(below)) for below in children.get(label, ())), 0, None),
            tuple(AttributeDeclaration(name(each)) for each in attributes.get(label, ())),
        )
        for label in labels
    ]
    bindings = [(prefix, uri) for uri, prefix in prefixes.items() if prefix != "xml"]
    return element_graph(declarations, name(root), bindings)

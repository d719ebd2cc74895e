"""A mapping from a publisher's schema to the global schema: the source tree and the operators.

A mapping is identified by the hash of its canonical text, a JSON array:

    [["Mapping","cmu"],["Rename","cmu","catalogue"],["Upgrade","cmu/Course",["cmu/Course/Day_"]], …]

The text names everything that the operators need, so a router can use a mapping that arrived in the header of
a document without knowing the source schema: ``Mapping.parse``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from twigcast.document import Document, DocumentLimits
from twigcast.errors import MappingError
from twigcast.rewriting import operators as kinds
from twigcast.rewriting.documents import Image, rewrite
from twigcast.rewriting.labels import QName, is_made, parent_key, parse_label, parse_path
from twigcast.rewriting.operators import Operator, apply_all
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree

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
            entries = json.loads(text)
            (_, root), *rest = entries
            loops = [(entry[1], entry[2]) for entry in rest if entry[0] == "Loop"]
            found = tuple(_operator(entry) for entry in rest if entry[0] != "Loop")
            mapping = cls(name, _named_tree(root, loops, found), found, version)
            _ = mapping.image
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
        entries += [["Loop", key, to] for key, to in sorted(self._loops())]
        entries += [_entry(operator) for operator in self.operators]
        return json.dumps(entries, ensure_ascii=False, separators=(",", ":"))

    @cached_property
    def hash(self) -> str:
        return hashlib.sha256(self.canonical.encode()).hexdigest()[:HASH]

    @property
    def reference(self) -> str:
        """How headers, metrics and the journal name the mapping: ``cmu@3#9f2c41d0…``."""
        return f"{self.name}@{self.version}#{self.hash}"

    @cached_property
    def image(self) -> SchemaTree:
        """The schema tree of the images."""
        return apply_all(self.source, self.operators)

    def apply(self, document: Document, limits: DocumentLimits | None = None) -> Image:
        """The image of a document; raises ``MappingError`` or ``DocumentError``, as ``rewrite`` does."""
        return rewrite(document, self.source, self.operators, limits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self.canonical == other.canonical

    def __hash__(self) -> int:
        return hash(self.hash)

    def _loops(self) -> set[tuple[str, str]]:
        """The loops of the source that lead from and to nodes that the operators name, or above these."""
        named = {
            node.key: node for key in _keys(self.operators) if (node := self.source.find(key)) is not None
        }
        nodes = {each.key: each for node in named.values() for each in (node, *node.ancestors())}
        found: set[tuple[str, str]] = set()
        waiting = list(nodes.values())
        seen = set(nodes)
        while waiting:
            # A loop may begin below the named nodes: block/media/block leads back to block.
            node = waiting.pop()
            self.source.expand(node)
            for label, key in node.loops.items():
                if key in nodes:
                    found.add((f"{node.key}/{label}", key))
            for child in node.children:
                if child.key not in seen and self.source.is_recursive(child):
                    seen.add(child.key)
                    waiting.append(child)
        return found


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
    kind = KINDS[entry[0]]
    names = [each.name for each in fields(kind)]
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


def _named_tree(root: str, loops: list[tuple[str, str]], operators: tuple[Operator, ...]) -> SchemaTree:
    """A source tree with just the nodes that operators and loops name."""
    label = parse_label(root)
    top = SchemaNode(str(label), label)
    tree = SchemaTree(None, [top])
    starts = [parent_key(key)[0] for key, _ in loops]
    for key in (*starts, *_keys(operators)):
        if is_made(key):
            continue
        steps = parse_path(key)
        if steps[0].label != label:
            raise MappingError(f"{key!r} is not below the root {root!r}", code="mapping-rules", name=key)
        node = top
        for step in steps[1:]:
            below = tree.child(node, step.label, step.is_attribute)
            if below is None:
                below = SchemaNode(f"{node.key}/{step}", step.label, node, 0, None, step.is_attribute)
                (node.attributes if step.is_attribute else node.children).append(below)
                tree.register(below)
            node = below
    for key, to in loops:
        before, name = parent_key(key)
        tree[before].loops[parse_label(name)] = tree[to].key
    return tree

"""Random schemas, mappings and documents for property tests, small enough that they meet.

    random_schema            a tree of few names: attributes, mixed content, repetition, namespaces, recursion
    random_mapping           operators of all kinds that can be applied, also to nodes that others made
    random_source_document   what such a schema allows, and what it does not: strangers, too many, too few
    random_pattern           a pattern of the whole language over the same names, so over the image's names

All have the vocabulary of ``tests/pattern/strategies.py``.  They are made from a source of random choices:
hypothesis' own in ``cases``, which shrinks, or a seeded ``random.Random`` in a loop, which is faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from tests.pattern.strategies import LOCAL_NAMES, NAMESPACES, Expression, general_pattern, pattern
from twigcast.errors import MappingError
from twigcast.rewriting import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertEach,
    Mapping,
    Operator,
    Rename,
    SchemaTree,
    ToElement,
    Upgrade,
    apply,
)
from twigcast.rewriting.labels import QName
from twigcast.rewriting.operators import InsertAll, UpgradeAll
from twigcast.rewriting.schema_tree import SchemaNode
from twigcast.schema import (
    AttributeDeclaration,
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    Particle,
    Sequence,
    element_graph,
)

KINDS = (
    *(Rename, ToElement, Insert, InsertEach, InsertAll),
    *(Upgrade, UpgradeAll, Downgrade, Exchange, Hide),
)


@dataclass(frozen=True, slots=True)
class Case:
    """A mapping, and a document of its source."""

    mapping: Mapping
    body: bytes


def cases(operators: int = 5) -> st.SearchStrategy[Case]:
    """Mappings of up to so many operators, each with a document."""
    return st.randoms(use_true_random=False).map(lambda random: random_case(random, operators))


def random_case(random: Random, operators: int = 5, *, recursive: bool | None = None) -> Case:
    """One mapping of up to so many operators, with a document."""
    tree = random_schema(random, recursive=recursive)
    mapping = random_mapping(random, tree, random.randint(1, operators))
    return Case(mapping, random_source_document(random, tree))


def random_pattern(random: Random) -> Expression:
    """A pattern of the whole language: one time in three with general expressions."""
    return pattern(random) if random.randint(0, 2) else general_pattern(random)


# Schemas

_CARDINALITIES = ((1, 1), (1, 1), (0, 1), (0, None), (0, None), (1, None), (2, 3))
_CONTENTS = (ContentKind.ELEMENTS, ContentKind.ELEMENTS, ContentKind.MIXED)
_ATTRIBUTES = ("x", "y", "p:x", "ü")


def random_schema(random: Random, *, recursive: bool | None = None) -> SchemaTree:
    """A schema of two to eight elements; one in four has elements that can contain themselves."""
    if recursive is None:
        recursive = random.randint(0, 3) == 0
    prefixes = random.choice([("",), ("",), ("", "", "p:", "q:")])
    names = [prefix + local for prefix in sorted(set(prefixes)) for local in LOCAL_NAMES]
    random.shuffle(names)
    names = names[: random.randint(2, 8)]
    elements = [_declaration(random, names, at, recursive) for at in range(len(names))]
    return SchemaTree.of(element_graph(elements, names[0], tuple(NAMESPACES.items())))


def _declaration(random: Random, names: list[str], at: int, recursive: bool) -> ElementDeclaration:
    below = names[at + 1 :]
    inside = random.sample(below, min(len(below), random.choice([0, 1, 2, 3, 3]) or (at == 0)))
    if recursive and random.randint(0, 2) == 0:
        inside.append(random.choice(names[: at + 1]))
    attributes = random.sample(_ATTRIBUTES, random.choice([0, 0, 1, 2]))
    declared = tuple(map(AttributeDeclaration, attributes))
    if not inside:
        content = random.choice([ContentKind.MIXED, ContentKind.MIXED, ContentKind.EMPTY])
        return ElementDeclaration(names[at], content, attributes=declared)
    return ElementDeclaration(names[at], random.choice(_CONTENTS), _model(random, inside), declared)


def _model(random: Random, names: list[str]) -> Particle:
    parts: tuple[Particle, ...] = tuple(Child(name, *random.choice(_CARDINALITIES)) for name in names)
    if len(parts) > 1 and random.randint(0, 4) == 0:
        return Choice(parts, *random.choice(_CARDINALITIES))
    return Sequence(parts)


# Mappings


def random_mapping(random: Random, tree: SchemaTree, operators: int = 5) -> Mapping:
    """A mapping of about so many operators; each is one that can be applied after those before it."""
    image = tree.copy()
    chosen: list[Operator] = []
    for _ in range(operators * 6):
        if len(chosen) == operators:
            break
        operator = random_operator(random, image, random.choice(KINDS))
        if operator is None:
            continue
        try:
            changed = image.copy()
            apply(changed, operator)
        except MappingError:
            continue
        image = changed
        chosen.append(operator)
    return Mapping("random", tree, tuple(chosen))


def random_operator(random: Random, tree: SchemaTree, kind: type) -> Operator | None:
    """An operator of a kind for this tree, which may yet be refused; None where there is no place for it."""
    nodes = tree.nodes(200)
    attributes = [node for node in nodes if node.is_attribute]
    elements = [node for node in nodes if not node.is_attribute]
    parents = [node for node in elements if node.children]
    node = random.choice(parents or elements)
    if kind is Rename:
        renamed = random.choice(nodes)
        return Rename(renamed.key, random.choice([renamed.label, _label(random), _label(random)]))
    if kind is ToElement:
        return ToElement(random.choice(attributes).key, _label(random)) if attributes else None
    if kind is InsertAll:
        return InsertAll(random.choice(elements).key, _labels(random))
    if kind is UpgradeAll:
        return UpgradeAll(node.key)
    if kind is Hide:
        return Hide(random.choice(nodes).key)
    if not parents:
        return None
    members = tuple(each.key for each in _some(random, list(node.children)))
    if kind is Insert:
        return Insert(node.key, _labels(random), members)
    if kind is InsertEach:
        return InsertEach(node.key, _labels(random), members)
    if kind is Upgrade:
        return Upgrade(node.key, members)
    into = random.choice(list(node.children)).key
    if kind is Exchange:
        return Exchange(node.key, into)
    members = tuple(key for key in members if key != into)
    return Downgrade(node.key, members, into) if members else None


def _some(random: Random, nodes: list[SchemaNode]) -> list[SchemaNode]:
    return random.sample(nodes, random.randint(1, len(nodes)))


def _label(random: Random) -> QName:
    return QName(random.choice(["", "", "", "urn:p"]), random.choice([*LOCAL_NAMES, "made"]))


def _labels(random: Random) -> tuple[QName, ...]:
    return tuple(_label(random) for _ in range(random.choice([1, 1, 1, 2])))


# Documents

_TEXTS = ("x", "5", " 5 ", "-1", "ab", "é", "&lt;", "&#x35;", "\n", "&t;", "<![CDATA[x<5]]>", "<![CDATA[]]>")
_APART = ("<!--c-->", "<?pi x?>", "<!---->")
_VALUES = ("x", "5", "5", "-1", " 5", "ab", "&lt;", "&#x35;", "&t;", "", "", "é", "a\tb")
_DOCTYPE = '<!DOCTYPE a [<!ENTITY t "5"><!ENTITY m "x<b x=\'5\'>5<c/></b>ab">]>'


def random_source_document(random: Random, tree: SchemaTree, size: int = 30) -> bytes:
    """A document of the schema with about so many elements, which does not always keep to it."""
    encoding = random.choice(["utf-8", "utf-8", "utf-8", "utf-16", "iso-8859-1"])
    before = random.choice(["", "", "<!--c-->", "<?pi x?>\n"])
    after = random.choice(["", "", "\n<!--c-->"])
    root = _Writer(random, tree, size).element(tree.root, tree.root.label, "", 0)
    return f"<?xml version='1.0' encoding='{encoding}'?>{_DOCTYPE}{before}{root}{after}".encode(encoding)


class _Writer:
    def __init__(self, random: Random, tree: SchemaTree, size: int) -> None:
        self.random, self.tree, self.left = random, tree, size

    def element(self, node: SchemaNode | None, label: QName, default: str, depth: int) -> str:
        """An element of a node, or a stranger; ``default`` is the default namespace in force."""
        self.left -= 1
        declared = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
        tag = name = label.local
        if label.namespace and (default == label.namespace or self.random.randint(0, 3) == 0):
            if default != label.namespace:
                default = label.namespace
                tag += f' xmlns="{default}"'
        elif label.namespace:
            prefix = next(prefix for prefix, uri in NAMESPACES.items() if uri == label.namespace)
            tag = name = f"{prefix}:{name}"
        elif default:
            default = ""
            tag += ' xmlns=""'
        tag += (declared if depth == 0 else "") + self._attributes(node)
        inside = "".join(self._content(node, default, depth))
        return f"<{tag}>{inside}</{name}>" if inside or self.random.randint(0, 1) else f"<{tag}/>"

    def _attributes(self, node: SchemaNode | None) -> str:
        random = self.random
        names = set(random.sample(_ATTRIBUTES, random.choice([0, 0, 0, 1])))
        if node is not None:
            self.tree.expand(node)
            for each in node.attributes:
                if random.randint(0, 3):
                    prefixes = {uri: f"{prefix}:" for prefix, uri in NAMESPACES.items()}
                    names.add(prefixes.get(each.label.namespace, "") + each.label.local)
        order = sorted(names)
        random.shuffle(order)
        return "".join(f' {name}="{random.choice(_VALUES)}"' for name in order)

    def _content(self, node: SchemaNode | None, default: str, depth: int) -> list[str]:
        random = self.random
        pieces = [self.element(child, child.label, default, depth + 1) for child in self._children(node)]
        if random.randint(0, 5) == 0:
            random.shuffle(pieces)
        if depth < 8 and self.left > 0:
            for _ in range(random.choice([0, 0, 0, 0, 1, 1, 2] if depth else [0, 1, 2])):
                stranger = QName(random.choice(["", "", "urn:q"]), random.choice([*LOCAL_NAMES, "odd"]))
                known = node and self.tree.child(node, stranger)
                piece = self.element(known, stranger, default, depth + 1)
                pieces.insert(random.randint(0, len(pieces)), piece)
        if node is None or node.has_text or random.randint(0, 4) == 0:
            for _ in range(random.choice([0, 1, 1, 2, 3])):
                pieces.insert(random.randint(0, len(pieces)), random.choice(_TEXTS))
        for _ in range(random.choice([0, 0, 0, 0, 1])):
            apart = random.choice([*_APART, "&m;"] if not default else _APART)
            pieces.insert(random.randint(0, len(pieces)), apart)
        return pieces

    def _children(self, node: SchemaNode | None) -> list[SchemaNode]:
        if node is None:
            return []
        self.tree.expand(node)
        children = list(node.children)
        children += [self.tree[key] for key in node.loops.values() if self.random.randint(0, 1)]
        chosen: list[SchemaNode] = []
        for child in children:
            times = self.random.choice([child.least, child.least, child.least + 1, 0, 1, 2])
            if child.most is not None and self.random.randint(0, 4):
                times = min(times, child.most)
            chosen += [child] * min(times, max(self.left - len(chosen), 0))
        return chosen


__all__ = [
    "KINDS",
    "Case",
    "cases",
    "random_case",
    "random_mapping",
    "random_operator",
    "random_pattern",
    "random_schema",
    "random_source_document",
]

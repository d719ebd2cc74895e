"""The tree of a schema: each element type at each place where it can occur.

    catalogue                       catalogue
    └── course +                    catalogue/course
        ├── @nr                     catalogue/course/@nr
        └── instructor *            catalogue/course/instructor
            └── name                catalogue/course/instructor/name

An element that can contain itself is a loop: the inner element has the node of the outer one, so the tree is
finite.  A node is known by its key, which stays the same when an operator renames or moves the node: the path
of the node in the source schema or, if an operator made the node, a path such as ``cmu/Course/+schedule``.

Nodes are created when they are asked for: a schema such as NITF has more places than memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from twigcast.errors import MappingError, SchemaError
from twigcast.rewriting.labels import ATTRIBUTE, PathStep, QName, is_made, parent_key, parse_path
from twigcast.schema import ElementGraph, Presence

LARGEST = 5000
"""How many nodes of a schema are looked at, from the root down, where all of them are asked for."""


@dataclass(slots=True, eq=False)
class SchemaNode:
    """An element type or attribute at one place; ``most`` is None where there is no bound.

    ``element`` is the name of its declaration, None for attributes and for nodes that operators made.
    ``loops`` has the labels of children that are instances of an ancestor or of this node, with its key.
    """

    key: str
    label: QName
    parent: SchemaNode | None = field(default=None, repr=False)
    least: int = 1
    most: int | None = 1
    is_attribute: bool = False
    has_text: bool = False
    element: str | None = None
    attributes: list[SchemaNode] = field(default_factory=list, repr=False)
    children: list[SchemaNode] = field(default_factory=list, repr=False)
    loops: dict[QName, str] = field(default_factory=dict, repr=False)

    @property
    def cardinality(self) -> str:
        """Nothing for once, ``?``, ``*``, ``+``, or the numbers."""
        known = {(1, 1): "", (0, 1): "?", (0, None): "*", (1, None): "+"}
        most = "" if self.most is None else str(self.most)
        return known.get((self.least, self.most), f"{{{self.least},{most}}}")

    @property
    def is_leaf(self) -> bool:
        """Whether it can have text, but no elements; attributes are leaves, too."""
        return self.is_attribute or (not self.children and not self.loops)

    @property
    def path(self) -> tuple[PathStep, ...]:
        """Where it is now: the labels from the root, which operators change."""
        steps: list[PathStep] = []
        node: SchemaNode | None = self
        while node is not None:
            steps.append(PathStep(node.label, node.is_attribute))
            node = node.parent
        return tuple(reversed(steps))

    @property
    def path_text(self) -> str:
        return "/".join(map(str, self.path))

    def ancestors(self) -> Iterator[SchemaNode]:
        """Its parent, the parent of that, and so on."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class SchemaTree:
    """The places of a schema, found by key or by path; operators change a copy of it."""

    def __init__(self, graph: ElementGraph | None, roots: list[SchemaNode]) -> None:
        self.graph = graph
        self.roots = roots
        """One root, until an operator such as Exchange gives the image several."""
        self._by_key: dict[str, SchemaNode] = {}
        self._expanded: set[str] = set()
        for node in self._below(roots):
            self._by_key[node.key] = node

    @classmethod
    def of(cls, graph: ElementGraph, root: str | None = None) -> SchemaTree:
        """The tree of a schema; raises ``SchemaError`` if a namespace of it is not known."""
        name = root or graph.root
        if name not in graph:
            raise SchemaError(f"the schema has no element {name!r}")
        label = _label(graph, name)
        node = SchemaNode(str(label), label, has_text=graph[name].has_text, element=name)
        return cls(graph, [node])

    @property
    def root(self) -> SchemaNode:
        return self.roots[0]

    def __getitem__(self, key: str) -> SchemaNode:
        """The node of a key; raises ``MappingError`` (``place``)."""
        node = self.find(key)
        if node is None:
            raise self._unknown(key)
        return node

    def __contains__(self, key: str) -> bool:
        return self.find(key) is not None

    def find(self, key: str) -> SchemaNode | None:
        """The node of a key, None if there is none."""
        node = self._by_key.get(key)
        if node is not None or self.graph is None or is_made(key):
            return node
        steps = parse_path(key)
        node = self._by_key.get(str(steps[0]))
        for step in steps[1:]:
            if node is None:
                return None
            node = self.child(node, step.label, step.is_attribute)
        return node

    def child(self, node: SchemaNode, label: QName, is_attribute: bool = False) -> SchemaNode | None:
        """The node of a child element or attribute in a document, None if the schema has none there."""
        self.expand(node)
        for each in node.attributes if is_attribute else node.children:
            if each.label == label:
                return each
        if not is_attribute and label in node.loops:
            return self._by_key[node.loops[label]]
        return None

    def expand(self, node: SchemaNode) -> None:
        """Create the children and attributes of a node of the schema, if they are not there yet."""
        if node.key in self._expanded or self.graph is None or node.element is None:
            return
        self._expanded.add(node.key)
        for attribute in self.graph[node.element].attributes:
            if attribute.name == "xmlns" or attribute.name.startswith("xmlns:"):
                continue
            label = _label(self.graph, attribute.name) if ":" in attribute.name else QName("", attribute.name)
            required = attribute.presence is Presence.REQUIRED
            key = f"{node.key}/{ATTRIBUTE}{label}"
            new = SchemaNode(key, label, node, int(required), 1, is_attribute=True, has_text=True)
            node.attributes.append(new)
            self._by_key[key] = new
        above = {each.element: each.key for each in (node, *node.ancestors()) if each.element is not None}
        for child in self.graph.children(node.element):
            label = _label(self.graph, child.name)
            if child.name in above:
                node.loops[label] = above[child.name]
                continue
            new = SchemaNode(f"{node.key}/{label}", label, node, child.least, child.most)
            new.has_text, new.element = self.graph[child.name].has_text, child.name
            node.children.append(new)
            self._by_key[new.key] = new

    def nodes(self, limit: int = LARGEST) -> list[SchemaNode]:
        """All elements and attributes; of a large schema, the first ``limit`` from the root down.

        They are in preorder: a node before its attributes before its children.
        """
        found = 0
        waiting = deque(self.roots)
        while waiting and found < limit:
            node = waiting.popleft()
            self.expand(node)
            found += 1 + len(node.attributes)
            waiting.extend(node.children)
        return list(self._below(self.roots))

    @property
    def known(self) -> list[SchemaNode]:
        """The nodes that have been created so far, in preorder."""
        return list(self._below(self.roots))

    def is_recursive(self, node: SchemaNode) -> bool:
        """Whether an instance of this node can lie in another one."""
        keys = {node.key} | {each.key for each in node.ancestors()}
        # A loop that begins at or below the node and leads to it or above it contains the node.
        return any(key in keys for each in self._below([node]) for key in each.loops.values())

    def copy(self) -> SchemaTree:
        """A copy with the same keys."""
        copies: dict[int, SchemaNode] = {}
        for node in self._below(self.roots):
            new = SchemaNode(
                node.key, node.label, None, node.least, node.most, node.is_attribute, node.has_text
            )
            new.element, new.loops = node.element, dict(node.loops)
            copies[id(node)] = new
            if node.parent is not None:
                new.parent = parent = copies[id(node.parent)]
                (parent.attributes if node.is_attribute else parent.children).append(new)
        tree = SchemaTree(self.graph, [copies[id(root)] for root in self.roots])
        tree._expanded = set(self._expanded)
        return tree

    # For operators

    def register(self, node: SchemaNode) -> None:
        """Make a node that an operator made known by its key."""
        self._by_key[node.key] = node

    def free_key(self, base: str) -> str:
        """A key that is not in use yet."""
        number, key = 2, base
        while key in self._by_key:
            key = f"{base}.{number}"
            number += 1
        return key

    def siblings(self, node: SchemaNode) -> list[SchemaNode]:
        """The list in which an element lies: the children of its parent, or the roots."""
        return self.roots if node.parent is None else node.parent.children

    def _below(self, roots: list[SchemaNode]) -> Iterator[SchemaNode]:
        waiting = roots[::-1]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.children[::-1]
            waiting += node.attributes[::-1]

    def _unknown(self, key: str) -> MappingError:
        parent, _ = parent_key(key)
        above = self.find(parent) if parent else None
        if above is None:
            there = ", ".join(str(root.label) for root in self.roots)
            return MappingError(f"there is no {key!r}; the root is {there}", code="place", name=key)
        self.expand(above)
        names = [str(each.path[-1]) for each in (*above.attributes, *above.children)]
        there = ", ".join(names) or "nothing"
        return MappingError(f"there is no {key!r}; {parent!r} contains {there}", code="place", name=key)


def _label(graph: ElementGraph, name: str) -> QName:
    if name.startswith("xml:"):
        return QName("http://www.w3.org/XML/1998/namespace", name[4:])
    namespace, local = graph.expanded(name)
    if namespace is None:
        message = f"the schema does not say which namespace the prefix of {name!r} stands for"
        raise SchemaError(message)
    return QName(namespace, local)

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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from twigcast.errors import MappingError, SchemaError
from twigcast.rewriting.labels import (
    ATTRIBUTE,
    XML_NAMESPACE,
    PathStep,
    QName,
    is_made,
    parent_key,
    parse_path,
)
from twigcast.rewriting.siblings import Siblings
from twigcast.schema import ElementGraph, Presence

LARGEST = 5000
"""How many nodes of a schema are looked at, from the root down, where all of them are asked for."""


@dataclass(slots=True, eq=False)
class SchemaNode:
    """An element type or attribute at one place; ``most`` is None where there is no bound.

    ``element`` is the name of its declaration, None for attributes and for nodes that operators made.
    ``loops`` has the children that are instances of an ancestor or of this node: the key of that node, by the
    label that it has in the source.  ``is_recursive`` says that an instance of this node can lie in another.
    ``is_expanded`` says that attributes, children and loops are there; see ``SchemaTree.expand``.
    """

    key: str
    label: QName
    parent: SchemaNode | None = field(default=None, repr=False)
    least: int = 1
    most: int | None = 1
    is_attribute: bool = False
    has_text: bool = False
    element: str | None = None
    attributes: Siblings = field(default_factory=Siblings, repr=False)
    children: Siblings = field(default_factory=Siblings, repr=False)
    loops: dict[QName, str] = field(default_factory=dict, repr=False)
    is_recursive: bool = False
    is_expanded: bool = field(default=False, repr=False)

    @property
    def cardinality(self) -> str:
        """Nothing for once, ``?``, ``*``, ``+``, or the numbers."""
        known = {(1, 1): "", (0, 1): "?", (0, None): "*", (1, None): "+"}
        most = "" if self.most is None else str(self.most)
        return known.get((self.least, self.most), f"{{{self.least},{most}}}")

    @property
    def is_leaf(self) -> bool:
        """Whether it can have text, but no elements; attributes are leaves, too.  It must be expanded."""
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
        """The path with ``/`` between the names."""
        return "/".join(map(str, self.path))

    @property
    def depth(self) -> int:
        """How many steps its path has."""
        return 1 + sum(1 for _ in self.ancestors())

    def with_all_below(self) -> Iterator[SchemaNode]:
        """It and all nodes that have been created below it, in preorder."""
        return _below((self,))

    def ancestors(self) -> Iterator[SchemaNode]:
        """Its parent, the parent of that, and so on."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class SchemaTree:
    """The places of a schema, found by key or by path; operators change a copy of it.

    Asking creates nodes and changes nothing else, so several threads may use one tree.
    """

    def __init__(self, graph: ElementGraph | None, roots: list[SchemaNode]) -> None:
        self.graph = graph
        self.roots = Siblings(roots)
        """One root: operators replace it, but never add one.  An image, however, may have several roots."""
        self._by_key = {node.key: node for node in _below(roots)}
        self._made = {key for key in self._by_key if is_made(key)}
        self._numbers: dict[str, int] = {}  # the next one to try for a made key
        for node in list(self._by_key.values()) if graph is None else ():
            for key in node.loops.values():
                for each in (node, *node.ancestors()):
                    each.is_recursive = True
                    if each.key == key:
                        break

    @classmethod
    def of(cls, graph: ElementGraph, root: str | None = None) -> SchemaTree:
        """The tree of a schema; raises ``SchemaError`` if a namespace of it is not known."""
        name = root or graph.root
        if name not in graph:
            raise SchemaError(f"the schema has no element {name!r}")
        label = element_label(graph, name)
        return cls(graph, [_element(graph, name, str(label), label)])

    @property
    def root(self) -> SchemaNode:
        """The root; the first one, if there are several."""
        return next(iter(self.roots))

    def __getitem__(self, key: str) -> SchemaNode:
        """The node of a key; raises ``MappingError`` (``place``)."""
        node = self.find(key)
        if node is None:
            raise self._unknown(key)
        return node

    def __contains__(self, key: str) -> bool:
        return self.find(key) is not None

    def find(self, key: str) -> SchemaNode | None:
        """The node of a key, None if there is none.

        A path of the source that leads through a loop, such as ``block/media/block``, finds the node that it
        leads to, which has another key.
        """
        waiting: list[str] = []
        while key not in self._by_key:
            if is_made(key):
                return None
            key, step = parent_key(key)
            if not key:
                return None
            waiting.append(step)
        node = self._by_key[key]
        for step in reversed(waiting):
            self.expand(node)
            key = f"{node.key}/{step}"
            if key not in self._by_key:
                loops = {str(label): to for label, to in node.loops.items()}
                if step not in loops:
                    return None
                key = loops[step]
            node = self._by_key[key]
        return node

    def at(self, path: Iterable[QName]) -> SchemaNode | None:
        """The node of an element by the labels from the root to it, None if the schema has none there."""
        node: SchemaNode | None = None
        for number, label in enumerate(path):
            if number == 0:
                node = next((root for root in self.roots if root.label == label), None)
            elif node is not None:
                node = self.child(node, label)
        return node

    def child(self, node: SchemaNode, label: QName, is_attribute: bool = False) -> SchemaNode | None:
        """The node of a child element or attribute in a document, None if the schema has none there."""
        self.expand(node)
        found = (node.attributes if is_attribute else node.children).with_label(label)
        if found is not None:
            return found
        if not is_attribute:
            for key in node.loops.values():
                if self._by_key[key].label == label:
                    return self._by_key[key]
        return None

    def expand(self, node: SchemaNode) -> None:
        """Create the children and attributes of a node of the schema, if they are not there yet."""
        if node.is_expanded or self.graph is None or node.element is None:
            return
        # The lists are complete before the node has them: another thread may be reading the tree.
        children: dict[QName, SchemaNode] = {}
        loops: dict[QName, str] = {}
        key, above = "", dict[QName, str]()  # the ancestors in the source, wherever the node is now
        for step in parse_path(node.key):
            key = f"{key}/{step}" if above else str(step)
            above[step.label] = key
        for child in self.graph.children(node.element):
            label = element_label(self.graph, child.name)
            if label in above:
                loops[label] = above[label]
            elif label not in children:  # it is, if two prefixes stand for one namespace
                new = _element(self.graph, child.name, f"{node.key}/{label}", label)
                new.parent, new.least, new.most = node, child.least, child.most
                children[label] = new
        attributes = _attributes(self.graph, node)
        self._by_key.update((new.key, new) for new in (*attributes, *children.values()))
        node.attributes, node.children, node.loops = Siblings(attributes), Siblings(children.values()), loops
        node.is_expanded = True

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
        return list(_below(self.roots))

    def has_more_places_than(self, limit: int) -> bool:
        """Whether the schema has more elements at places than this; counts without creating nodes."""
        graph = self.graph
        if graph is None:
            return sum(not node.is_attribute for node in self.known) > limit
        found = 1
        waiting = [(root.element, frozenset((root.element,))) for root in self.roots if root.element]
        while waiting and found <= limit:
            element, above = waiting.pop()
            below = [child.name for child in graph.children(element) if child.name not in above]
            found += len(below)
            waiting += [(name, above | {name}) for name in below]
        return found > limit

    @property
    def known(self) -> list[SchemaNode]:
        """The nodes that have been created so far, in preorder."""
        return list(_below(self.roots))

    def is_recursive(self, node: SchemaNode) -> bool:
        """Whether an instance of this node can lie in another one."""
        return node.is_recursive

    def copy(self) -> SchemaTree:
        """A copy with the same keys."""
        copies: dict[int, SchemaNode] = {}
        for node in _below(self.roots):
            new = SchemaNode(
                node.key, node.label, None, node.least, node.most, node.is_attribute, node.has_text
            )
            new.element, new.loops = node.element, dict(node.loops)
            new.is_recursive, new.is_expanded = node.is_recursive, node.is_expanded
            copies[id(node)] = new
            if node.parent is not None:
                new.parent = parent = copies[id(node.parent)]
                (parent.attributes if node.is_attribute else parent.children).append(new)
        tree = SchemaTree(self.graph, [copies[id(root)] for root in self.roots])
        tree._made, tree._numbers = set(self._made), dict(self._numbers)
        return tree

    # For operators

    def register(self, node: SchemaNode) -> None:
        """Make a node that an operator made known by its key."""
        self._by_key[node.key] = node
        self._made.add(node.key)

    def free_key(self, base: str) -> str:
        """A key that no operator has used yet, not even for a node that has been hidden since."""
        key = base
        if base in self._made:
            number = self._numbers.get(base, 2)
            while (key := f"{base}.{number}") in self._made:
                number += 1
            self._numbers[base] = number
        return key

    def siblings(self, node: SchemaNode) -> Siblings:
        """The nodes among which a node lies: the attributes or children of its parent, or the roots."""
        if node.parent is None:
            return self.roots
        return node.parent.attributes if node.is_attribute else node.parent.children

    def remove(self, node: SchemaNode) -> None:
        """Take a node out, with all below it; their keys lead nowhere then."""
        self.siblings(node).remove(node)
        for each in _below([node]):
            del self._by_key[each.key]

    def _unknown(self, key: str) -> MappingError:
        parent, _ = parent_key(key)
        above = self.find(parent) if parent else None
        if above is None:
            there = ", ".join(str(root.label) for root in self.roots)
            return MappingError(f"there is no {key!r}; the root is {there}", code="place", name=key)
        self.expand(above)
        names = [str(each.path[-1]) for each in (*above.attributes, *above.children)]
        names += [str(self._by_key[loop].label) for loop in above.loops.values()]
        there = ", ".join(names) or "nothing"
        return MappingError(f"there is no {key!r}; {parent!r} contains {there}", code="place", name=key)


def _below(roots: Iterable[SchemaNode]) -> Iterator[SchemaNode]:
    """These nodes and all that have been created below them, in preorder."""
    waiting = list(roots)[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)
        waiting += reversed(node.attributes)


def _element(graph: ElementGraph, name: str, key: str, label: QName) -> SchemaNode:
    node = SchemaNode(key, label, has_text=graph[name].has_text, element=name)
    # An element that can contain itself does so at each of its places: the way back to it leads through
    # children, or through a loop to a node above, from where its own node is reached again.
    node.is_recursive = name in graph.recursive
    return node


def _attributes(graph: ElementGraph, node: SchemaNode) -> list[SchemaNode]:
    assert node.element is not None
    found: list[SchemaNode] = []
    for attribute in graph[node.element].attributes:
        if attribute.name == "xmlns" or attribute.name.startswith("xmlns:"):
            continue
        label = element_label(graph, attribute.name) if ":" in attribute.name else QName("", attribute.name)
        least = int(attribute.presence is Presence.REQUIRED)
        key = f"{node.key}/{ATTRIBUTE}{label}"
        found.append(SchemaNode(key, label, node, least, 1, is_attribute=True, has_text=True))
    return found


def element_label(graph: ElementGraph, name: str) -> QName:
    """The label of a declared element; raises ``SchemaError`` if the namespace of its prefix is not known."""
    if name.startswith("xml:"):
        return QName(XML_NAMESPACE, name[4:])
    namespace, local = graph.expanded(name)
    if namespace is None:
        message = f"the schema does not say which namespace the prefix of {name!r} stands for"
        raise SchemaError(message)
    return QName(namespace, local)

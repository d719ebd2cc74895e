"""Which of the places that operators name an element of a document has: a finite automaton over labels.

    operators name r/x/y; the schema has r(x), x(y, u), u(x), y              state   key     x    y    u
                                                                             0       r       1
    An element can contain itself by way of elements that nobody names:      1       r/x          2    3
    these are told apart by the last named place and their own label only,   2       r/x/y
    however many places of the schema they are.                              3       -       1

So the automaton has at most (named places) x (recursive elements + 1) states, where a schema such as NITF has
more places than memory.  Elements without a state keep their names and places, whether the schema knows them
or not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from twigcast.rewriting.labels import QName, is_made, parent_key
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree, element_label


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A state: the label of its elements, the key of the place, and the states of child elements.

    ``key`` is None between two named places.  ``attributes`` has the keys of attributes that are named.
    """

    label: QName
    key: str | None
    children: dict[QName, int] = field(default_factory=dict)
    attributes: dict[QName, str] = field(default_factory=dict)


def named_places(tree: SchemaTree, keys: Iterable[str]) -> list[NamedPlace]:
    """The automaton for these keys of a source tree; the root element has the first state."""
    nodes, attributes = _named_nodes(tree, keys)
    component = RecursiveComponents(tree)
    numbers: dict[tuple[str, QName | None], int] = {}
    places: list[NamedPlace] = []

    def number(node: SchemaNode, between: QName | None = None) -> int:
        at = numbers.setdefault((node.key, between), len(places))
        if at == len(places):
            places.append(NamedPlace(between or node.label, None if between else node.key))
            waiting.append((node, between))
        return at

    waiting: list[tuple[SchemaNode, QName | None]] = []
    number(tree.root)
    while waiting:
        node, between = waiting.pop()
        place = places[numbers[node.key, between]]
        if between is None:
            place.attributes.update(attributes.get(node.key, {}))
            for child in node.children:
                if child.key in nodes:
                    place.children[child.label] = number(child)
        inside = component.of(node)
        above = {each.label: each for each in (node, *node.ancestors()) if each.label in inside}
        for label in inside.get(between or node.label, ()):
            if label in above:
                place.children[label] = number(above[label])
            elif label not in place.children:
                place.children[label] = number(node, label)
    return places


def recursive_children(tree: SchemaTree, keys: Iterable[str]) -> dict[QName, set[QName]]:
    """The elements through which named places can contain themselves, and their children among these."""
    component = RecursiveComponents(tree)
    found: dict[QName, set[QName]] = {}
    for node in _named_nodes(tree, keys)[0].values():
        found.update(component.of(node))
    return found


def _named_nodes(
    tree: SchemaTree, keys: Iterable[str]
) -> tuple[dict[str, SchemaNode], dict[str, dict[QName, str]]]:
    """The named elements and those above them, and the named attributes of each."""
    nodes = {tree.root.key: tree.root}
    attributes: dict[str, dict[QName, str]] = {}
    for key in keys:
        if is_made(key):
            continue
        node = tree[key]
        if node.is_attribute:
            attributes.setdefault(parent_key(key)[0], {})[node.label] = key
        nodes.update({each.key: each for each in (node, *node.ancestors()) if not each.is_attribute})
    for each in nodes.values():
        tree.expand(each)
    return nodes, attributes


class RecursiveComponents:
    """The strongly connected parts of a schema: elements that can contain each other, by label."""

    def __init__(self, tree: SchemaTree) -> None:
        self._children = _children_by_label(tree)
        self._parents: dict[QName, set[QName]] = {}
        for label, children in self._children.items():
            for child in children:
                self._parents.setdefault(child, set()).add(label)
        self._found: dict[QName, dict[QName, set[QName]]] = {}

    def of(self, node: SchemaNode) -> dict[QName, set[QName]]:
        """The elements that can contain this one and be contained in it, each with its children of these."""
        if not node.is_recursive:
            return {}
        if node.label not in self._found:
            labels = _reached(node.label, self._children) & _reached(node.label, self._parents)
            part = {label: self._children[label] & labels for label in labels}
            self._found.update(dict.fromkeys(part, part))
        return self._found[node.label]


def _children_by_label(tree: SchemaTree) -> dict[QName, set[QName]]:
    children: dict[QName, set[QName]] = {}
    graph = tree.graph
    if graph is not None:
        for element in graph:
            inside = children.setdefault(element_label(graph, element.name), set())
            inside.update(element_label(graph, child.name) for child in graph.children(element.name))
    else:
        for node in tree.known:
            inside = children.setdefault(node.label, set())
            inside.update((*(child.label for child in node.children), *node.loops))
    return children


def _reached(start: QName, onward: dict[QName, set[QName]]) -> set[QName]:
    reached: set[QName] = set()
    waiting = [start]
    while waiting:
        for label in onward.get(waiting.pop(), ()):
            if label not in reached:
                reached.add(label)
                waiting.append(label)
    return reached

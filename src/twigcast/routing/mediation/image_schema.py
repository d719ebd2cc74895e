"""The advertisement of a publisher whose documents are rewritten: the schema of their images.

Subscriptions are written against the global schema, so they overlap images, never the publisher's own schema.
One name may have different content at different places of the image; an automaton over places keeps them
apart, as path expressions would.
"""

from __future__ import annotations

from twigcast.analysis import SchemaAutomaton
from twigcast.pattern import ANY, NameTest
from twigcast.rewriting import Mapping, QName, SchemaNode, SchemaTree
from twigcast.routing.advertising import Advertisement

MOST = 5000
"""The largest number of positions; a document that goes beyond them is flooded, as any unexpected one."""


def image_advertisement(id: str, mapping: Mapping) -> Advertisement:
    """The advertisement of the images of a mapping."""
    return Advertisement(id, places_automaton(mapping.image))


def places_automaton(tree: SchemaTree) -> SchemaAutomaton:
    """The automaton of the label paths of a schema tree.

    Places with one name below one place are one position, since an automaton must be deterministic.
    """
    tests: list[NameTest] = [ANY]
    follow: list[int] = [0]
    numbers: dict[frozenset[str], int] = {}
    waiting: list[tuple[int, dict[QName, list[SchemaNode]]]] = [(0, _by_label(tree.roots))]
    while waiting:
        number, below = waiting.pop()
        for label, nodes in below.items():
            keys = frozenset(node.key for node in nodes)
            position = numbers.get(keys)
            if position is None and len(tests) < MOST:
                position = numbers[keys] = len(tests)
                tests.append(NameTest(*label))
                follow.append(0)
                waiting.append((position, _children(tree, nodes)))
            if position is not None:
                follow[number] |= 1 << position
    return SchemaAutomaton(tuple(tests), tuple(follow))


def _children(tree: SchemaTree, nodes: list[SchemaNode]) -> dict[QName, list[SchemaNode]]:
    children: list[SchemaNode] = []
    for node in nodes:
        tree.expand(node)
        children += node.children
        children += [tree[key] for key in node.loops.values()]
    return _by_label(children)


def _by_label(nodes: list[SchemaNode]) -> dict[QName, list[SchemaNode]]:
    by_label: dict[QName, list[SchemaNode]] = {}
    for node in nodes:
        by_label.setdefault(node.label, []).append(node)
    return by_label

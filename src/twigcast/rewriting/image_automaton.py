"""The schema of images as an automaton, which ``analysis.overlaps`` compares with subscriptions.

An element graph cannot describe an image, in which one name can have several contents.  Here a position is a
set of places with one label path:

    course ──► name                      a place that is not matched and happens to have this name
           └─► instructor ──► name       the places cmu/Course/Lecturer and cmu/Course/Tutor

Cost: the places of the tree; below the first ``LARGEST`` of a large schema any name is admitted.
"""

from __future__ import annotations

from collections.abc import Iterable

from twigcast.analysis import SchemaAutomaton
from twigcast.pattern import ANY, NameTest
from twigcast.rewriting.labels import QName
from twigcast.rewriting.schema_tree import LARGEST, SchemaNode, SchemaTree


def image_automaton(tree: SchemaTree) -> SchemaAutomaton:
    """The automaton of the label paths of a schema tree, most often that of an image."""
    numbers: dict[frozenset[str], int] = {}
    tests: list[NameTest] = [ANY]
    follow: list[set[int]] = [set()]
    waiting: list[tuple[int, list[SchemaNode]]] = []
    anything = 0

    def position(label: QName, nodes: list[SchemaNode]) -> int:
        key = frozenset(node.key for node in nodes)
        at = numbers.get(key)
        if at is None:
            at = numbers[key] = len(tests)
            tests.append(NameTest(*label))
            follow.append(set())
            waiting.append((at, nodes))
        return at

    for label, nodes in _by_label(tree.roots).items():
        follow[0].add(position(label, nodes))
    for at, nodes in waiting:  # grows while it is read
        if len(tests) > LARGEST:
            if not anything:
                anything = len(tests)
                tests.append(ANY)
                follow.append({anything})
            follow[at].add(anything)
            continue
        below: list[SchemaNode] = []
        for node in nodes:
            tree.expand(node)
            below += node.children
            below += (tree[key] for key in node.loops.values())
        follow[at] |= {position(label, inside) for label, inside in _by_label(below).items()}
    return SchemaAutomaton(tuple(tests), tuple(sum(1 << number for number in each) for each in follow))


def _by_label(nodes: Iterable[SchemaNode]) -> dict[QName, list[SchemaNode]]:
    found: dict[QName, list[SchemaNode]] = {}
    for node in nodes:
        found.setdefault(node.label, []).append(node)
    return found

"""The six rules by which the papers derive operators, as they are printed, for comparison with ``derive``.

    phase 1   Exchange    m(parent of e) is a child of m(e)
    phase 2   Rename      e and m(e) have different labels
              ToElement   an attribute of e has its image as a child of m(e)
              Insert      m(parent of e) is above m(e), and nothing is matched to the path between
              Downgrade   a sibling of e has its image as a child of m(e)
              Upgrade     a child of e has its image as a sibling of m(e)

Each rule looks at one level only and fires for each node by itself, so many matchings do not end where they
should: places further away are not reached, and a path for two places is made twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from twigcast.rewriting.deriving import checked_pairs
from twigcast.rewriting.operators import (
    Downgrade,
    Exchange,
    Insert,
    Operator,
    Rename,
    ToElement,
    Upgrade,
    apply_all,
)
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree


def printed_rules(source: SchemaTree, target: SchemaTree, pairs: Mapping[str, str]) -> tuple[Operator, ...]:
    """The operators that the rules give, which may not be applicable one after the other."""
    m = {key: target[image] for key, image in checked_pairs(source, target, pairs).items()}
    first = [
        Exchange(e.parent.key, e.key)
        for e in _matched(source, m)
        if e.parent is not None and e.parent.key in m and m[e.parent.key].parent is m[e.key]
    ]
    swapped = apply_all(source, first)
    return (*first, *(operator for e in _matched(swapped, m) for operator in _second_phase(e, m)))


def _second_phase(e: SchemaNode, m: dict[str, SchemaNode]) -> Iterator[Operator]:
    image, parent = m[e.key], e.parent
    if e.label != image.label:
        yield Rename(e.key, image.label)
    for attribute in e.attributes:
        if attribute.key in m and m[attribute.key].parent is image:
            yield ToElement(attribute.key, attribute.label)
    if parent is not None and parent.key in m:
        path = _between(m[parent.key], image)
        if path and not any(each.key == other.key for each in path for other in m.values()):
            yield Insert(parent.key, tuple(each.label for each in path), (e.key,))
    if parent is not None:
        for sibling in parent.children:
            if sibling is not e and sibling.key in m and m[sibling.key].parent is image:
                yield Downgrade(parent.key, (sibling.key,), e.key)
    for child in e.children:
        if child.key in m and m[child.key].parent is image.parent and m[child.key] is not image:
            yield Upgrade(e.key, (child.key,))


def _between(above: SchemaNode, below: SchemaNode) -> list[SchemaNode]:
    """The nodes on the way from a node down to another, without both; none if it is not above the other."""
    path: list[SchemaNode] = []
    for each in below.ancestors():
        if each is above:
            return path[::-1]
        path.append(each)
    return []


def _matched(tree: SchemaTree, m: Mapping[str, SchemaNode]) -> list[SchemaNode]:
    for key in m:
        _ = tree.find(key)  # creates the node
    return [node for node in tree.known if node.key in m and not node.is_attribute]

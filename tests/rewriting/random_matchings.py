"""Random schema trees and matchings, for tests and for the count of what the printed rules manage."""

from __future__ import annotations

import random

from twigcast.rewriting import SchemaTree
from twigcast.rewriting.labels import QName
from twigcast.rewriting.schema_tree import SchemaNode


def random_tree(draw: random.Random, name: str, size: int) -> SchemaTree:
    """A tree of ``size`` elements, some of them repeated, and some with an attribute."""
    root = SchemaNode(name, QName("", name))
    nodes = [root]
    while len(nodes) < size:
        parent = draw.choice([*nodes[-4:], root])
        label = draw.choice("abcdefgh") + str(len(nodes))
        least, most = draw.choice([(1, 1), (0, 1), (0, None), (1, None)])
        node = SchemaNode(f"{parent.key}/{label}", QName("", label), parent, least, most)
        parent.children.append(node)
        nodes.append(node)
    for node in nodes:
        if draw.random() < 0.2:
            attribute = SchemaNode(f"{node.key}/@n", QName("", "n"), node, 0, 1, is_attribute=True)
            node.attributes.append(attribute)
    return SchemaTree(None, [root])


def random_matching(draw: random.Random) -> tuple[SchemaTree, SchemaTree, dict[str, str]]:
    """Two trees and pairs of their nodes, at most one for each place of the second.

    Some sources share a place with nothing below it; attributes lead to elements.
    """
    source, target = (random_tree(draw, name, draw.randint(2, 9)) for name in ("s", "t"))
    places = [node.key for node in source.known]
    images = [node.key for node in target.known if not node.is_attribute]
    draw.shuffle(places)
    draw.shuffle(images)
    count = draw.randint(1, min(len(places), len(images)))
    pairs = dict(zip(places[:count], images[:count], strict=True))
    if draw.random() < 0.8:  # most publishers have one root for all, as the global schema has
        pairs = {place: image for place, image in pairs.items() if place != "s" and image != "t"} | {"s": "t"}
    leaves = [
        image
        for image in pairs.values()
        if image != "t" and not any(other.startswith(f"{image}/") for other in pairs.values())
    ]
    if leaves and len(places) > count and draw.random() < 0.2:
        pairs.setdefault(places[count], draw.choice(leaves))
    return source, target, pairs


def random_document(draw: random.Random, tree: SchemaTree) -> str:
    """A document of a tree without loops."""

    def element(node: SchemaNode) -> str:
        attributes = "".join(f' {each.label.local}="v"' for each in node.attributes if draw.random() < 0.7)
        content = ""
        for child in node.children:
            most = child.least + 2 if child.most is None else child.most
            content += "".join(element(child) for _ in range(draw.randint(child.least, most)))
        return f"<{node.label.local}{attributes}>{content}</{node.label.local}>"

    return element(tree.root)


def ends_at_images(image: SchemaTree, pairs: dict[str, str], source: SchemaTree) -> bool:
    """Whether every matched node is at the path of its image.

    Where a root is put below others, the made node has its place, and the root that of the global root.
    """
    root = source.root.key
    paths = {node.path_text for node in image.known}
    for place, goal in pairs.items():
        node = image[place]
        if place == root and "/" in goal and image.root.key == root:
            if goal not in paths:
                return False
        elif node.path_text != goal:
            return False
    return True

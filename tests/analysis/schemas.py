"""Random small schemas, and documents that conform to them."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from hypothesis import strategies as st

from twigcast.schema import Child, Choice, ContentKind, ElementDeclaration, ElementGraph, element_graph

NAMESPACES = {"p": "urn:p"}
NAMES = ("a", "b", "c", "p:a", "d")


def graphs(names: tuple[str, ...] = NAMES) -> st.SearchStrategy[ElementGraph]:
    """Draw schemas of up to five elements; some are recursive, and some elements have required children."""
    return st.randoms(use_true_random=False).map(lambda random: graph(random, names))


def graph(random: Random, names: tuple[str, ...] = NAMES) -> ElementGraph:
    """Draw one schema."""
    declared = names[: random.randint(1, len(names))]
    elements = []
    for name in declared:
        children = [child for child in declared if random.random() < 0.4]
        least = random.choice([0, 0, 1]) if children else 0
        model = Choice(tuple(Child(child) for child in children), least, None) if children else None
        elements.append(ElementDeclaration(name, ContentKind.ELEMENTS if model else ContentKind.EMPTY, model))
    return element_graph(elements, declared[0], tuple(NAMESPACES.items()))


def simple_graph(children: Mapping[str, str], root: str = "a") -> ElementGraph:
    """Make a schema from the child names of each element; all children are optional and repeatable."""
    names = dict.fromkeys([*children, *(child for each in children.values() for child in each.split())])
    elements = []
    for name in names:
        below = tuple(Child(child) for child in children.get(name, "").split())
        model = Choice(below, 0, None) if below else None
        elements.append(ElementDeclaration(name, ContentKind.ELEMENTS if model else ContentKind.EMPTY, model))
    return element_graph(elements, root)


def conforming(random: Random, graph: ElementGraph, depth: int = 6, width: int = 3) -> bytes:
    """Draw a document in which each parent admits its children; their order and number are free."""
    declared = "".join([f' xmlns:{prefix}="{uri}"' for prefix, uri in graph.namespaces])

    def element(name: str, levels: int, attributes: str) -> str:
        children = [child.name for child in graph.children(name)] if levels else []
        chosen = [random.choice(children) for _ in range(random.randint(0, width))] if children else []
        inside = "".join([element(child, levels - 1, "") for child in chosen])
        return f"<{name}{attributes}>{inside}{random.choice(['', '', '5', 'x'])}</{name}>"

    return element(graph.root, depth - 1, declared).encode()

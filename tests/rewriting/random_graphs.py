"""Random schemas as element graphs, for tests of dialects and matching."""

from __future__ import annotations

from random import Random

from twigcast.schema import (
    AttributeDeclaration,
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    Sequence,
    element_graph,
)


def random_graph(seed: int) -> ElementGraph:
    """A small schema: nested elements of all cardinalities, attributes, mixed content, and a shared type."""
    random = Random(seed)
    elements: list[ElementDeclaration] = []

    def grow(name: str, depth: int) -> str:
        bounds = [(0, 1), (1, 1), (0, None), (1, None)]
        attributes = (AttributeDeclaration("a"),) if random.random() < 0.2 else ()
        if depth == 0 or (depth < 3 and random.random() < 0.4):
            elements.append(ElementDeclaration(name, ContentKind.MIXED, None, attributes))
            return name
        names = [grow(f"{name}{letter}", depth - 1) for letter in "abcd"[: random.randint(1, 4)]]
        parts = [Child(each, *random.choice(bounds)) for each in names]
        if random.random() < 0.3:
            parts.append(Child("shared", 0, 1))
        if random.random() < 0.15:
            model = Choice(tuple(parts), 0, None)
            elements.append(ElementDeclaration(name, ContentKind.MIXED, model, attributes))
        else:
            elements.append(
                ElementDeclaration(name, ContentKind.ELEMENTS, Sequence(tuple(parts)), attributes)
            )
        return name

    grow("r", 3)
    elements.append(ElementDeclaration("shared", ContentKind.MIXED))
    return element_graph(reversed(elements), "r")

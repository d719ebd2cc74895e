"""Random DTDs whose names have prefixes, and whose content models lxml can decide."""

from __future__ import annotations

from random import Random

from twigcast.schema import (
    AttributeDeclaration,
    AttributeKind,
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    Particle,
    Presence,
    Sequence,
    element_graph,
)

NAMESPACES = {"p": "urn:p", "q": "urn:q"}
NAMES = ("p:r", "x", "p:x", "q:x", "y", "q:y", "z")
TIMES: tuple[tuple[int, int | None], ...] = ((1, 1), (1, 1), (0, 1), (0, None), (1, None))


def deterministic_graph(random: Random) -> ElementGraph:
    """A schema in which no model has a name twice, so that lxml, too, finds it deterministic.

    Its root binds the prefixes; several names are alike but for their prefixes.
    """
    bindings = tuple(
        AttributeDeclaration(f"xmlns:{prefix}", AttributeKind.CDATA, Presence.FIXED, (), uri)
        for prefix, uri in NAMESPACES.items()
    )
    elements = []
    for number, name in enumerate(NAMES):
        content = random.choice([*ContentKind, ContentKind.ELEMENTS, ContentKind.ELEMENTS])
        names = random.sample(NAMES, random.randint(1, len(NAMES)))
        model: Particle | None = None
        if content is ContentKind.ELEMENTS:
            model = _particle(random, names)
        elif content is ContentKind.MIXED and random.random() < 0.8:
            model = Choice(tuple(map(Child, names)), 0, None)
        elements.append(ElementDeclaration(name, content, model, () if number else bindings))
    return element_graph(elements, NAMES[0])


def _particle(random: Random, names: list[str]) -> Particle:
    times = random.choice(TIMES)
    if len(names) == 1:
        return Child(names[0], *times)
    cuts = sorted(random.sample(range(1, len(names)), random.randint(1, min(3, len(names) - 1))))
    groups = [names[start:end] for start, end in zip([0, *cuts], [*cuts, len(names)], strict=True)]
    kind = random.choice([Sequence, Choice])
    return kind(tuple(_particle(random, group) for group in groups), *times)

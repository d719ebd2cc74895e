"""The XPEs of the routing paper's section 5: set A, of which some 90 % are covered, and set B, some 50 %.

The paper makes both with a path generator from the NITF DTD, distinct, of at most 10 steps, and varies the
probabilities of ``*`` and ``//``, which it does not give.  How many of 100,000 are covered depends far more
on how short paths may be: one ``//p`` covers thousands.  So lengths are chosen first:

| 100,000 distinct XPEs | steps | p(*) | p(//) | covered |
|---|---|---|---|---|
| the generator's own habit | 1–10 | 0.2 | 0.2 | all but one |
| | 4–10 | 0.02 | 0.02 | 97 % |
| | 7–10 | 0 | 0 | 94 % |
| **set A** | 6–10 | 0.1 | 0.1 | 90.0 % |
| | 7–10 | 0.1 | 0.1 | 77 % |
| | 8–10 | 0.1 | 0.1 | 66 % |
| **set B** | 9–10 | 0.12 | 0.12 | 49.1 % |
| | 9–10 | 0.1 | 0.1 | 48 % |
| | 9–10 | 0.02 | 0.02 | 39 % |

Smaller sets of the same recipe are covered less, since fewer coverers are in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from twigcast.pattern import Pattern, parse
from twigcast.schema import ElementGraph
from twigcast.workload import SubscriptionOptions, generate_subscriptions

SIZE = 100_000

SET_A = SubscriptionOptions(seed=1, min_steps=6, max_steps=10, wildcard=0.1, descendant=0.1)
"""About 90 % are covered."""

SET_B = SubscriptionOptions(seed=1, min_steps=9, max_steps=10, wildcard=0.12, descendant=0.12)
"""About 50 % are covered."""

SETS = {"A": SET_A, "B": SET_B}


def subscriptions(
    name: str, graph: ElementGraph, count: int = SIZE, seed: int = 1
) -> Iterator[tuple[str, Pattern]]:
    """The subscriptions of a set with ids of their own: ``A-1-0`` is the first of set A with seed 1."""
    texts = generate_subscriptions(graph, count, replace(SETS[name], seed=seed))
    for number, text in enumerate(texts):
        yield f"{name}-{seed}-{number}", parse(text, dict(graph.namespaces))

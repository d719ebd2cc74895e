"""Chooses the prefixes at which a document is cut, from the weights of a query tree.

``choose`` takes the node with the largest residual: the weight at or below it that no chosen node below it
has already.  It walks down while one child has it all, so that prefixes are long, and drops a chosen ancestor
that is now lighter.  The algorithm of the paper is in ``experiments/engines/chunking``.

    a 3 ─ b 3 ─ c 2, d 1     two chunks: b, then c (b has 1 left and is removed), then d
"""

from __future__ import annotations

from twigcast.chunking.outline import Names
from twigcast.chunking.query_tree import QueryTree

CHUNKS = 8
"""The default for the maximal number of prefixes by which a document is cut."""

_NOTHING = 1e-9  # weights are sums of fractions


def choose(tree: QueryTree, most: int = CHUNKS) -> list[Names]:
    """At most ``most`` prefixes, in the order in which they were chosen; the root is never one.

    Cost: O(height · most · nodes); a leaf is never removed, so it ends.
    """
    chosen: list[Names] = []
    order = {node: number for number, node in enumerate(tree.nodes)}
    while len(chosen) < most:
        residuals = tree.residuals(chosen)
        free = [node for node in tree.nodes if node not in chosen and len(node) > 1]
        free = [node for node in free if residuals[node] > _NOTHING]
        if not free:
            break
        heaviest = max(residuals[node] for node in free)
        alike = [node for node in free if residuals[node] > heaviest - _NOTHING]
        node = max(alike, key=lambda each: (len(each), -order[each]))
        while True:
            heirs = [
                child
                for child in tree.children(node)
                if child not in chosen and residuals[child] > residuals[node] - _NOTHING
            ]
            if len(heirs) != 1:
                break
            node = heirs[0]
        chosen.append(node)
        residuals = tree.residuals(chosen)
        chosen = [
            each
            for each in chosen
            if not (
                len(each) < len(node)
                and node[: len(each)] == each
                and residuals[each] < residuals[node] - _NOTHING
            )
        ]
    return chosen

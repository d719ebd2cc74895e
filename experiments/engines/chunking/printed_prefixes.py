"""The prefixes at which the paper cuts a document, repaired where its algorithm does not end.

It takes the heaviest node again and again, and subtracts its weight from the ancestors each time, also what
an earlier choice has taken already; so it leaves more to the rest than ``choose``.
"""

from __future__ import annotations

from twigcast.chunking import CHUNKS
from twigcast.chunking.outline import Names
from twigcast.chunking.query_tree import QueryTree

_NOTHING = 1e-9  # weights are sums of fractions


def printed_prefixes(tree: QueryTree, most: int = CHUNKS) -> list[Names]:
    """The prefixes of the paper's algorithm, repaired where it does not end or contradicts its example."""
    weights = tree.weights()
    chosen: list[Names] = []
    while len(chosen) < most:
        node: Names | None = None
        for each in tree.nodes:
            if each in chosen or len(each) < 2 or weights[each] <= _NOTHING:
                continue
            if node is None or weights[each] > weights[node] + _NOTHING:
                node = each
        if node is None:
            break
        walking = True
        while walking:
            walking = False
            for child in tree.children(node):
                if abs(weights[child] - weights[node]) < _NOTHING and child not in chosen:
                    node, walking = child, True
                    break
        for depth in range(1, len(node)):
            above = node[:depth]
            weights[above] = max(0.0, weights[above] - weights[node])
        chosen = [each for each in chosen if weights[each] >= weights[node] - _NOTHING]
        chosen.append(node)
    return chosen

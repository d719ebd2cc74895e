"""The tree of the label paths that queries ask for, with weights.

    /a/b/c, /a/b/d, /a/b/c             a 3
                                       └── b 3
                                           ├── c 2
                                           └── d 1

A query weighs 1, or what it is given, spread equally over its targets.  The weight of a node is the sum over
the targets at or below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from twigcast.chunking.outline import Names


class QueryTree:
    """The nodes of a query tree, each a label path, in the order in which they were added."""

    def __init__(self, own: Mapping[Names, float] | Iterable[tuple[Names, float]] = ()) -> None:
        self._own: dict[Names, float] = {}
        self._nodes: dict[Names, None] = {}
        self._children: dict[Names, list[Names]] = {}
        for path, weight in own.items() if isinstance(own, Mapping) else own:
            self.add(path, weight)

    def add(self, path: Names, weight: float) -> None:
        """Add weight at a label path."""
        self._own[path] = self._own.get(path, 0.0) + weight
        for depth in range(1, len(path) + 1):
            node = path[:depth]
            if node not in self._nodes:
                self._nodes[node] = None
                self._children.setdefault(node[:-1], []).append(node)

    @property
    def nodes(self) -> list[Names]:
        """All nodes, an ancestor before its descendants."""
        return list(self._nodes)

    def children(self, node: Names) -> list[Names]:
        """The children of a node in their order."""
        return self._children.get(node, [])

    def own(self, node: Names) -> float:
        """The weight of the targets exactly at a node."""
        return self._own.get(node, 0.0)

    def weights(self) -> dict[Names, float]:
        """The weight of each node."""
        return self.residuals(frozenset())

    def residuals(self, chosen: Iterable[Names]) -> dict[Names, float]:
        """For each node the weight at or below it that is not at or below a chosen node further down."""
        taken = set(chosen)
        found: dict[Names, float] = {}
        passed: dict[Names, float] = {}
        for node in sorted(self._nodes, key=len, reverse=True):
            found[node] = self.own(node) + sum(passed[child] for child in self.children(node))
            passed[node] = 0.0 if node in taken else found[node]
        return {node: found[node] for node in self._nodes}

    @property
    def total(self) -> float:
        """The weight of all targets."""
        return sum(self._own.values())

"""Joins what fragments show: which branches of a query node hold at which element.

    /a[b]//c[d][e]      held:  (a, 1·1): b           c matches at 3·4 when d and e hold there;
                               (c, 3·4): d, e        then the branch of c holds at every a above 3·4

The thesis keeps a list of ids for each branch of a branch node; here it is the set of branches for each
branch node and id.  A match of a node is a match of the branch that it lies on at *every* element that the
branch node above it can be, not only at one: with ``//`` and recursion there are several.
"""

from __future__ import annotations

from experiments.engines.fragments.node_table import NodeTable
from twigcast.fragmenting.scheduling.contexts import ContextElement


class Joins:
    """The branches that hold at elements which fragments share, for one document.

    Invariant: what is held is closed: if all branches of a node hold at an element, the branch of that node
    holds at all elements above at which it can.
    """

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._held: dict[tuple[int, int], int] = {}
        self.matched: set[int] = set()
        """The queries that match."""

    def holds(self, node: int, element: ContextElement, child: int) -> bool:
        """Whether a branch of a query node is known to hold at an element."""
        return bool(self._held.get((node, element.id), 0) >> child & 1)

    def hold(self, node: int, element: ContextElement, children: int) -> None:
        """Note that branches of a query node hold at an element, and what follows from that above it."""
        waiting = [(node, element, children)]
        while waiting:
            node, element, children = waiting.pop()
            before = self._held.get((node, element.id), 0)
            if not children & ~before:
                continue
            held = self._held[node, element.id] = before | children
            if held != self._table.required[node]:
                continue
            parent = self._table.parent[node]
            if parent < 0:
                self.matched.add(self._table.query[node])
                continue
            for above in candidates(self._table, node, element.above):
                waiting.append((parent, above, 1 << node))


def candidates(table: NodeTable, node: int, above: ContextElement | None) -> list[ContextElement]:
    """The elements that the parent of a query node can be, if the node matches directly below ``above``.

    With ``/`` it is the element itself, with ``//`` also those above it, where their paths fit.
    """
    parent = table.parent[node]
    found = []
    while above is not None:
        if above.state.fitting >> parent & 1:
            found.append(above)
        if table.is_child[node]:
            break
        above = above.above
    return found

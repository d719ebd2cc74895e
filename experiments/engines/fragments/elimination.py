"""Which pairs of a fragment and a query node need not be evaluated, given what fragments have shown.

**+, redundant**: a match there could only show branches that are known to hold, at every element that the
branch nodes above can be.
**−, unnecessary**: a match there could only serve branch nodes at elements where another of their branches
can no longer come: it does not hold, and no pair that is left lies below the element and on that branch.

An entry point is useful if on some way up, from element to element and from query node to query node, no
branch is redundant and no branch node is refuted.  To drop an entry point may refute further branch nodes,
so − goes on until nothing changes.  − needs the headers of all fragments: what has not come is not absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from experiments.engines.fragments.entry_points import EntryPoint
from experiments.engines.fragments.joins import Joins, candidates
from experiments.engines.fragments.node_table import NodeTable
from twigcast.fragmenting.fragments import fragment_number
from twigcast.fragmenting.scheduling.contexts import ContextElement


class Elimination:
    """Decides which entry points of a query are still useful."""

    def __init__(self, table: NodeTable, joins: Joins, *, redundant: bool, unnecessary: bool) -> None:
        self._table = table
        self._joins = joins
        self._redundant = redundant
        self._unnecessary = unnecessary

    def useful(
        self,
        points: Mapping[EntryPoint, ContextElement],
        may_show_more: Callable[[int], bool],
        *,
        all_headers: bool,
    ) -> set[EntryPoint]:
        """Return the entry points of a query that are useful.

        ``points`` are those of fragments that are not evaluated, each with the element above its subtrees;
        ``may_show_more`` says whether a fragment, by number, is to be evaluated for this query.
        """
        live = set(points)
        while True:
            expected: set[tuple[int, int]] | None = None
            if self._unnecessary and all_headers:
                expected = self._expected((point, points[point]) for point in live)
            search = _Search(self._table, self._joins, self._redundant, expected, may_show_more)
            kept = {point for point in live if search.enters(point.node, points[point])}
            if len(kept) == len(live) or expected is None:
                return kept
            live = kept

    def _expected(self, points: Iterable[tuple[EntryPoint, ContextElement]]) -> set[tuple[int, int]]:
        """The branches, each with an element, for which something may still come from below the element."""
        table = self._table
        found: set[tuple[int, int]] = set()
        for point, inner in points:
            branches, node = [], point.node
            while (parent := table.parent[node]) >= 0:
                if table.branches >> parent & 1:
                    branches.append((parent, node))
                node = parent
            for element in inner.path():
                found |= {(b, element.id) for p, b in branches if element.state.fitting >> p & 1}
        return found


class _Search:
    """Searches ways up from entry points, each edge at each element once."""

    def __init__(
        self,
        table: NodeTable,
        joins: Joins,
        redundant: bool,
        expected: set[tuple[int, int]] | None,
        may_show_more: Callable[[int], bool],
    ) -> None:
        self._table = table
        self._joins = joins
        self._redundant = redundant
        self._expected = expected
        self._may_show_more = may_show_more
        self._known: dict[tuple[int, int], bool] = {}

    def enters(self, node: int, above: ContextElement) -> bool:
        """Whether a match of a node, in a subtree below an element, would be of use."""
        return any(self._serves(node, element) for element in candidates(self._table, node, above))

    def _serves(self, node: int, element: ContextElement) -> bool:
        """Whether a match of the branch of a node at an element, which its parent can be, would be of use."""
        key = (node, element.id)
        if key not in self._known:
            parent, above = self._table.parent[node], element.above
            is_redundant = self._redundant and self._joins.holds(parent, element, node)
            if is_redundant or self._refuted(parent, element):
                serves = False
            else:
                at_top = self._table.parent[parent] < 0
                serves = at_top or (above is not None and self.enters(parent, above))
            self._known[key] = serves
        return self._known[key]

    def _refuted(self, node: int, element: ContextElement) -> bool:
        """Whether a branch node cannot match at an element: a branch neither holds nor can come."""
        table = self._table
        if self._expected is None or not table.branches >> node & 1:
            return False
        if self._may_show_more(fragment_number(element.id)):
            return False
        required = table.required[node]
        while required:
            child = required & -required
            required ^= child
            branch = child.bit_length() - 1
            if not self._joins.holds(node, element, branch) and (branch, element.id) not in self._expected:
                return True
        return False

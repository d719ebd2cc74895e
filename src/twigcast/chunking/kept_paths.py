"""The needs of all chunks as one automaton over label paths, which the projector asks.

Needs are kept in a tree of steps for each chunk.  A state has, for each chunk, the nodes of its tree that can
go on from here, and what is kept here; it is made when a label path first leads to it.  So states are shared
by all label paths that have the same to come, and a document with deep recursion has few.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from twigcast.chunking.reach.needs import Need
from twigcast.document import Keep
from twigcast.pattern import Axis, NameTest


class _State(NamedTuple):
    name: tuple[str, str] | None
    nodes: tuple[frozenset[int], ...]
    keeps: tuple[Keep, ...]


class KeptPaths:
    """Decides what is kept of each element, for several chunks: the ``Decisions`` of a projector."""

    def __init__(self, needs: Sequence[Iterable[Need]]) -> None:
        self._trees = [_StepTree(each) for each in needs]
        whole = tuple(tree.keep_of({0}) for tree in self._trees)
        first = _State(
            None,
            tuple(frozenset() if keep is Keep.TREE else frozenset({0}) for keep in whole),
            tuple(Keep.TREE if keep is Keep.TREE else Keep.ABOVE for keep in whole),
        )
        self.start = 0
        self._states = [first]
        self._numbers = {first: 0}
        self._steps: dict[tuple[int, str, str], int] = {}

    def step(self, state: int, namespace: str, local: str) -> int:
        """The state of a child with this name."""
        key = state, namespace, local
        found = self._steps.get(key)
        if found is None:
            made = self._child(self._states[state], namespace, local)
            found = self._numbers.setdefault(made, len(self._states))
            if found == len(self._states):
                self._states.append(made)
            self._steps[key] = found
        return found

    def keeps(self, state: int) -> Sequence[Keep]:
        """How much is kept for each chunk."""
        return self._states[state].keeps

    def name(self, state: int) -> tuple[str, str] | None:
        """The name of the elements of a state; None for the document node."""
        return self._states[state].name

    def _child(self, parent: _State, namespace: str, local: str) -> _State:
        nodes: list[frozenset[int]] = []
        keeps: list[Keep] = []
        for tree, here in zip(self._trees, parent.nodes, strict=True):
            ended, onward = tree.read(here, namespace, local) if here else (set(), frozenset())
            keep = tree.keep_of(ended)
            if keep is Keep.TREE:
                onward = frozenset()
            elif keep is Keep.DROP and onward:
                keep = Keep.ABOVE
            nodes.append(onward)
            keeps.append(keep)
        return _State((namespace, local), tuple(nodes), tuple(keeps))


class _StepTree:
    """The steps of many needs with their common beginnings shared; a node is what a beginning has reached."""

    def __init__(self, needs: Iterable[Need]) -> None:
        self._edges: list[dict[tuple[Axis, NameTest], int]] = [{}]
        self._keeps: list[Keep] = [Keep.DROP]
        for need in needs:
            node = 0
            for step in need.steps:
                below = self._edges[node].setdefault(step, len(self._edges))
                if below == len(self._edges):
                    self._edges.append({})
                    self._keeps.append(Keep.DROP)
                node = below
            self._keeps[node] = max(self._keeps[node], need.keep)
        self._waits = [any(axis is Axis.DESCENDANT for axis, _ in edges) for edges in self._edges]
        self._leads = [bool(edges) for edges in self._edges]

    def keep_of(self, nodes: Iterable[int]) -> Keep:
        return max((self._keeps[node] for node in nodes), default=Keep.DROP)

    def read(self, nodes: frozenset[int], namespace: str, local: str) -> tuple[set[int], frozenset[int]]:
        """The nodes that are reached at a child, and those that can go on from it.

        A node below which a descendant is looked for stays; it is negative where only these edges count.
        """
        reached: set[int] = set()
        onward: set[int] = set()
        for node in nodes:
            origin = node if node >= 0 else ~node
            for (axis, test), below in self._edges[origin].items():
                if (node >= 0 or axis is Axis.DESCENDANT) and test.admits(namespace, local):
                    reached.add(below)
            if self._waits[origin]:
                onward.add(~origin)
        onward |= {node for node in reached if self._leads[node]}
        return reached, frozenset(onward)

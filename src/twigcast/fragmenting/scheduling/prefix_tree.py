"""The tree of all prefixes of many queries: common steps are compared with a header once.

    /a/b/c  /a/b//d  /a/b/d        document ── /a ── /b ┬─ /c    (query 1, node 3)
                                                        ├─ //d   (query 2, node 3)
                                                        └─ /d    (query 3, node 3)

The key of a node is axis and name test, so ``/d`` and ``//d`` stay apart.  Each node keeps the list of its
members, (query, query node); several nodes of one query may fall together, as in ``/a[b/c][b/d]``.

A ``PathState`` is the set of tree nodes whose prefix can be laid on a label path, so that its last step falls
on the last label.  States are interned and remember their successors: a document, or the headers of its
fragments, walk through few of them.
Sets of query nodes are bit sets over all queries: bit ``first[query] + number``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from twigcast.document import Name
from twigcast.fragmenting.scheduling.queries import Query, QueryNode
from twigcast.pattern import ANY, Axis, NameTest


@dataclass(eq=False, slots=True)
class PrefixNode:
    """A step that begins the same in all its members."""

    number: int
    axis: Axis
    test: NameTest
    members: list[tuple[int, int]] = field(default_factory=list)
    children: dict[tuple[Axis, NameTest], PrefixNode] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class PathState:
    """The tree nodes that fit at the end of a label path, and those that fit there or above."""

    at: frozenset[int]
    above: frozenset[int]
    fitting: int
    """The query nodes of ``at``."""
    fitting_above: int
    """The query nodes of ``above``."""
    following: dict[Name, PathState] = field(default_factory=dict, repr=False)
    by_text: dict[str, PathState] = field(default_factory=dict, repr=False)
    """As ``following``, by the name as a parser reports it."""
    entering: dict[str, int] = field(default_factory=dict, repr=False)


class PrefixTree:
    """The prefixes of several queries, and the states of label paths in them."""

    def __init__(self, queries: Sequence[Query]) -> None:
        self.queries = tuple(queries)
        self.first = [0]
        for query in self.queries:
            self.first.append(self.first[-1] + len(query))
        self.nodes = [PrefixNode(0, Axis.CHILD, ANY)]
        for number, query in enumerate(self.queries):
            places: list[PrefixNode] = []
            for node in query.nodes:
                place = self._place(places[node.parent], node) if places else self.nodes[0]
                place.members.append((number, node.number))
                places.append(place)
        self._members = [self._mask(node.members) for node in self.nodes]
        self._states: dict[tuple[frozenset[int], frozenset[int]], PathState] = {}
        self.document = self._state(frozenset({0}), frozenset({0}))

    def bit(self, query: int, number: int) -> int:
        """The bit of a query node."""
        return 1 << self.first[query] + number

    def members(self, mask: int) -> Iterator[tuple[int, int]]:
        """The query nodes of a bit set, as (query, number)."""
        query = 0
        for position in bits(mask):
            while self.first[query + 1] <= position:
                query += 1
            yield query, position - self.first[query]

    def state(self, path: Iterable[Name]) -> PathState:
        """The state of a label path from the root."""
        state = self.document
        for label in path:
            state = self.step(state, label)
        return state

    def step(self, state: PathState, label: Name) -> PathState:
        """The state of a path that is one label longer."""
        known = state.following.get(label)
        if known is None:
            children = self._children(state, label, Axis.CHILD) | self._children(
                state, label, Axis.DESCENDANT
            )
            known = state.following[label] = self._state(children, state.above | children)
        return known

    def entering(self, state: PathState, local: str) -> int:
        """The query nodes that a subtree may match whose root has a name, below a path: R of Prefix.

        These are the nodes that fit at the root, and the ``//`` steps whose parent fits above: they may match
        anywhere in the subtree.  The root's namespace is not asked for, since a header does not say whether
        its start tag declares another one.
        """
        known = state.entering.get(local)
        if known is None:
            known = 0
            for axis, above in ((Axis.CHILD, state.at), (Axis.DESCENDANT, state.above)):
                for number in above:
                    for child in self.nodes[number].children.values():
                        if child.axis is axis and (
                            axis is Axis.DESCENDANT or child.test.local in (None, local)
                        ):
                            known |= self._members[child.number]
            state.entering[local] = known
        return known

    def _children(self, state: PathState, label: Name, axis: Axis) -> frozenset[int]:
        return frozenset(
            child.number
            for number in (state.at if axis is Axis.CHILD else state.above)
            for child in self.nodes[number].children.values()
            if child.axis is axis and child.test.admits(*label)
        )

    def _place(self, parent: PrefixNode, node: QueryNode) -> PrefixNode:
        key = (node.axis, node.test)
        if key not in parent.children:
            parent.children[key] = PrefixNode(len(self.nodes), *key)
            self.nodes.append(parent.children[key])
        return parent.children[key]

    def _state(self, at: frozenset[int], above: frozenset[int]) -> PathState:
        if (at, above) not in self._states:
            self._states[at, above] = PathState(at, above, self._union(at), self._union(above))
        return self._states[at, above]

    def _union(self, numbers: Iterable[int]) -> int:
        mask = 0
        for number in numbers:
            mask |= self._members[number]
        return mask

    def _mask(self, members: Iterable[tuple[int, int]]) -> int:
        mask = 0
        for query, number in members:
            mask |= self.bit(query, number)
        return mask


def bits(mask: int) -> Iterator[int]:
    """The positions of the bits of a set, in rising order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low

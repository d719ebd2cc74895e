"""Which subscriptions must be forwarded, given those already forwarded.

A SubscriptionTree keeps patterns so that each child is covered by its parent (routing paper, section 4.1):

        /a                  //b ┄┄┄┄┄┄┄┄┐     roots: forwarded
        ├── /a/*             └── //b/c  ┊
        │    └── /a/b                   ┊     covered: kept, not forwarded
        └── /a//b/d ◄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┘     a super pointer: //b covers it as well

A new pattern goes down from the roots: below a sibling that covers it (case 3), above those that it covers
(case 2), beside the others (case 1).  Super pointers lead to patterns covered outside the subtree; when a
parent leaves, its children move there first, and only those that nothing covers are issued again.

Invariants: a pattern is a root if and only if no stored pattern is known to cover it; patterns that cover
each other share a node, which is forwarded under one of its ids.
Cost: a search among siblings at each level, see ``covering_index``.  As in the paper, super pointers are
found where they come for free, never by a search of their own; they are kept with what they lead to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from twigcast.analysis import CoveringIndex, Summary, Witness, summary, summary_covers
from twigcast.filtering import unknown_id
from twigcast.pattern import Pattern
from twigcast.routing.change import Change, check_ids, net_change
from twigcast.system import garbage_collection_paused

SUPERS = 2
"""Of those that cover a new pattern at one level, so many are looked for: a parent and a super pointer."""

DEEPEST = 32
"""So many levels down is a place looked for; below that, siblings may cover each other."""


class SavedNode(NamedTuple):
    """A node of a saved tree: its ids, the number of its parent or -1, and those of its ``above``."""

    ids: tuple[str, ...]
    parent: int
    above: tuple[int, ...]


class Node:
    """Subscriptions that cover each other, what covers them, and what they cover."""

    __slots__ = ("above", "aliases", "children", "issued", "members", "parent", "summary")

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        self.members: dict[str, Pattern] = {}
        self.aliases: list[Pattern] = [summary.pattern]
        """The patterns that were ever its members': all equivalent, few."""
        self.issued: str | None = None
        """The member under whose id it is forwarded; None where it is not."""
        self.parent: Node | None = None
        self.children = CoveringIndex()
        self.above: tuple[Node, ...] = ()
        """Nodes with a super pointer to this one, some of them perhaps gone."""

    @property
    def pattern(self) -> Pattern:
        return self.summary.pattern


class SubscriptionTree:
    """Subscriptions by id; ``uncovered`` are those to forward, and each change says how they change."""

    def __init__(self, subscriptions: Iterable[tuple[str, Pattern]] = ()) -> None:
        self._roots = CoveringIndex()
        self._nodes: dict[Summary, Node] = {}
        self._by_pattern: dict[Pattern, Node] = {}
        self._by_id: dict[str, Node] = {}
        self._uncovered: dict[str, Pattern] = {}
        self._before: dict[str, Pattern | None] = {}  # of the ids touched by the change under way
        self.change(subscriptions, ())

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, id: object) -> bool:
        return id in self._by_id

    @property
    def uncovered(self) -> Mapping[str, Pattern]:
        """What a neighbour has to know: one id and pattern for each root."""
        return MappingProxyType(self._uncovered)

    @property
    def roots(self) -> list[Node]:
        """The nodes that nothing covers."""
        return [self._nodes[item] for item in self._roots]

    def children(self, node: Node) -> list[Node]:
        """The nodes right below a node."""
        return [self._nodes[item] for item in node.children]

    def supers(self, node: Node) -> list[Node]:
        """The nodes that the super pointers of a node lead to: covered by it, outside its subtree."""
        return [other for other in self._nodes.values() if node in other.above]

    def node(self, id: str) -> Node:
        """The node of a subscription."""
        if id not in self._by_id:
            raise unknown_id(id)
        return self._by_id[id]

    def add(self, id: str, pattern: Pattern) -> Change:
        """Subscribe."""
        return self.change([(id, pattern)], ())

    def remove(self, id: str) -> Change:
        """Unsubscribe; what only this subscription covered is forwarded again."""
        return self.change((), [id])

    def change(self, added: Iterable[tuple[str, Pattern]], removed: Iterable[str]) -> Change:
        """Unsubscribe some, then subscribe others; what is forwarded and withdrawn in the end."""
        added, removed = list(added), list(removed)
        check_ids(added, removed, self._by_id)
        with garbage_collection_paused():
            loose = [orphan for id in removed for orphan in self._taken_out(id)]
            loose += [node for id, pattern in added for node in self._taken_in(id, pattern)]
            for node in sorted(loose, key=lambda node: node.summary.least):  # coverers before the covered
                if node.members:
                    self._place(node, self._shelter(node))
        return self._net()

    def save(self) -> tuple[SavedNode, ...]:
        """Return the nodes, each after its parent, so that ``restore`` need not search for their places."""
        nodes = self.roots
        for node in nodes:  # grows while it is walked
            nodes += self.children(node)
        numbers = {node: number for number, node in enumerate(nodes)}
        return tuple(
            SavedNode(
                tuple(node.members),
                -1 if node.parent is None else numbers[node.parent],
                tuple([numbers[other] for other in node.above if other in numbers]),
            )
            for node in nodes
        )

    def restore(self, subscriptions: Mapping[str, Pattern], saved: Iterable[SavedNode]) -> Change:
        """Subscribe many at once, at the places that an earlier tree had found for them.

        A saved place is taken if the parent covers the node, which is checked.  Subscriptions without a saved
        place are placed by a search.
        Cost: one containment for each pattern, where a search takes a hundred.
        """
        saved = list(saved)
        nodes: dict[int, Node] = {}
        with garbage_collection_paused():
            for number, (ids, parent, _) in enumerate(saved):
                if parent < 0 or parent in nodes:
                    node = self._restored(ids, nodes.get(parent), subscriptions)
                    if node is not None:
                        nodes[number] = node
            for number, node in nodes.items():
                node.above = tuple([nodes[other] for other in saved[number].above if other in nodes])
        return self.change([item for item in subscriptions.items() if item[0] not in self._by_id], ())

    # The tree

    def _restored(
        self, ids: Iterable[str], parent: Node | None, subscriptions: Mapping[str, Pattern]
    ) -> Node | None:
        """Take in a node at its saved place; None if it cannot stand there."""
        members = {id: subscriptions[id] for id in ids if id in subscriptions and id not in self._by_id}
        if not members:
            return None
        patterns = list(members.values())
        if len(patterns) > 1:
            patterns = list(dict.fromkeys(patterns))
        first, *others = map(summary, patterns)
        if parent is not None and not summary_covers(parent.summary, first):
            return None
        if not all(summary_covers(first, other) and summary_covers(other, first) for other in others):
            return None
        if others and any(pattern in self._by_pattern for pattern in patterns):
            return None
        node = Node(first)
        if any(self._by_pattern.setdefault(pattern, node) is not node for pattern in patterns):
            return None
        self._nodes[first] = node
        node.members, node.aliases, node.parent = members, patterns, parent
        for id in members:
            self._by_id[id] = node
        (self._roots if parent is None else parent.children).add(first)
        if parent is None:
            self._forward(node)
        return node

    def _taken_in(self, id: str, pattern: Pattern) -> Iterator[Node]:
        """The node to be placed, unless one with the same pattern has its place."""
        node = self._by_pattern.get(pattern)
        if node is None:
            found = summary(pattern)
            node = self._nodes[found] = self._by_pattern[pattern] = Node(found)
            yield node
        node.members[id] = pattern
        self._by_id[id] = node

    def _taken_out(self, id: str) -> Iterator[Node]:
        """The nodes that lose their parent as a subscription leaves."""
        node = self._by_id.pop(id)
        del node.members[id]
        issued = node.issued == id
        if issued:
            self._withdraw(node, id)
        if node.members:
            if issued:
                self._forward(node)
            return
        siblings = self._roots if node.parent is None else node.parent.children
        if node.summary in siblings:  # and not itself on its way to another place
            siblings.discard(node.summary)
        del self._nodes[node.summary]
        for alias in node.aliases:
            del self._by_pattern[alias]
        for item in node.children:
            child = self._nodes[item]
            child.parent = node.parent  # who covers it too, if he stays
            yield child

    def _shelter(self, node: Node) -> Node | None:
        """A node known to cover one that is to be placed, where it can go straight away."""
        parent = node.parent
        while parent is not None and not parent.members:
            parent = parent.parent
        if parent is not None:
            return parent
        node.above = tuple([other for other in node.above if other.members])
        for other in node.above:
            above: Node | None = other
            while above is not None and above is not node:
                above = above.parent
            if above is None:
                return other
        return None

    def _place(self, node: Node, parent: Node | None) -> None:
        """Put a node with its subtree at its place below ``parent``, which covers it."""
        item = node.summary
        siblings = self._roots if parent is None else parent.children
        witness = Witness(item.pattern)
        covered: list[Summary] = []
        for _ in range(DEEPEST):
            found = siblings.coverers(item, witness, SUPERS)
            if not found:
                covered = siblings.covered(item)
                break
            coverer = self._nodes[found[0]]
            if summary_covers(item, found[0]):
                self._join(node, coverer)
                return
            node.above += tuple([self._nodes[other] for other in found[1:]])
            parent, siblings = coverer, coverer.children
        for each in covered:
            below = self._nodes[each]
            siblings.discard(each)
            below.parent = node
            node.children.add(each)
            if below.issued is not None:
                self._withdraw(below, below.issued)
        node.parent = parent
        siblings.add(item)
        if parent is None:
            self._forward(node)

    def _join(self, node: Node, other: Node) -> None:
        """Make one node of two that cover each other."""
        for id in node.members:
            self._by_id[id] = other
        other.members |= node.members
        other.aliases += node.aliases
        for alias in node.aliases:
            self._by_pattern[alias] = other
        node.members = {}
        del self._nodes[node.summary]
        for item in node.children:
            self._place(self._nodes[item], other)

    # What the neighbour knows

    def _forward(self, node: Node) -> None:
        id, pattern = next(iter(node.members.items()))
        node.issued = id
        self._before.setdefault(id, self._uncovered.get(id))
        self._uncovered[id] = pattern

    def _withdraw(self, node: Node, id: str) -> None:
        node.issued = None
        self._before.setdefault(id, self._uncovered.pop(id))

    def _net(self) -> Change:
        """How ``uncovered`` differs from what it was before this change."""
        change = net_change(self._before, self._uncovered)
        self._before.clear()
        return change

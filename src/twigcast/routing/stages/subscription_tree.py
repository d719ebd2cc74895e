"""Decides which subscriptions must be forwarded: those that no other subscription covers.

A ``SubscriptionTree`` keeps patterns so that each parent covers its children (routing paper, section 4.1):

        /a                  //b ┄┄┄┄┄┄┄┄┐     roots: forwarded
        ├── /a/*             └── //b/c  ┊
        │    └── /a/b                   ┊     covered: kept, not forwarded
        └── /a//b/d ◄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┘     a super pointer: //b covers it as well

A new pattern descends from the roots: it goes below a sibling that covers it (case 3), above the siblings
that it covers (case 2), and beside the others (case 1).  Super pointers lead to covered patterns outside the
subtree.  When a parent is removed, its children move below a node that has a super pointer to them; only
children that no node covers are forwarded again.

Invariants: a pattern is a root if and only if no stored pattern is known to cover it; patterns that cover
each other share a node, which is forwarded under one of its ids.
Cost: one search among siblings at each level, see ``covering_index``.  All proofs of a change together have a
budget; patterns whose covering was not proved within it stand beside each other.  As in the paper, super
pointers are by-products of these searches and are never searched for; they are stored at the node that they
lead to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from twigcast.analysis import CoveringIndex, Summary, Witness, proof_budget, summary, summary_covers
from twigcast.filtering import unknown_id
from twigcast.pattern import Pattern
from twigcast.routing.stages.change import Change, check_ids, net_change
from twigcast.system import garbage_collection_paused

SUPERS = 2
"""How many coverers of a new pattern are searched for at each level: a parent and a super pointer."""

DEEPEST = 32
"""A new pattern descends at most this many levels; below that, siblings may cover each other."""


class SavedNode(NamedTuple):
    """A node of a saved tree: its ids, the number of its parent or -1, and the numbers of its ``above``."""

    ids: tuple[str, ...]
    parent: int
    above: tuple[int, ...]


class Node:
    """Subscriptions that cover each other, with their parent and children in the tree."""

    __slots__ = ("above", "aliases", "children", "issued", "members", "parent", "summary")

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        self.members: dict[str, Pattern] = {}
        self.aliases: list[Pattern] = [summary.pattern]
        """All patterns that members ever had; they are equivalent, and few."""
        self.issued: str | None = None
        """The id under which the node is forwarded; None if it is not forwarded."""
        self.parent: Node | None = None
        self.children = CoveringIndex()
        self.above: tuple[Node, ...] = ()
        """Nodes with a super pointer to this one; some of them may have been removed."""

    @property
    def pattern(self) -> Pattern:
        return self.summary.pattern


class SubscriptionTree:
    """The covering stage: subscriptions by id, of which ``uncovered`` are forwarded."""

    def __init__(self, subscriptions: Iterable[tuple[str, Pattern]] = ()) -> None:
        self._roots = CoveringIndex()
        self._nodes: dict[Summary, Node] = {}
        self._by_pattern: dict[Pattern, Node] = {}
        self._by_id: dict[str, Node] = {}
        self._uncovered: dict[str, Pattern] = {}
        self._before: dict[str, Pattern | None] = {}  # for ids touched by the current change
        self.change(subscriptions, ())

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, id: object) -> bool:
        return id in self._by_id

    @property
    def uncovered(self) -> Mapping[str, Pattern]:
        """The subscriptions to forward: one id and pattern for each root."""
        return MappingProxyType(self._uncovered)

    @property
    def roots(self) -> list[Node]:
        """The nodes that no other node covers."""
        return [self._nodes[item] for item in self._roots]

    def children(self, node: Node) -> list[Node]:
        """Return the children of a node."""
        return [self._nodes[item] for item in node.children]

    def supers(self, node: Node) -> list[Node]:
        """Return the nodes that the super pointers of a node lead to: covered by it, outside its subtree."""
        return [other for other in self._nodes.values() if node in other.above]

    def node(self, id: str) -> Node:
        """Return the node of a subscription."""
        if id not in self._by_id:
            raise unknown_id(id)
        return self._by_id[id]

    def add(self, id: str, pattern: Pattern) -> Change:
        """Add a subscription; return the change of ``uncovered``."""
        return self.change([(id, pattern)], ())

    def remove(self, id: str) -> Change:
        """Remove a subscription; subscriptions that only it covered are forwarded again."""
        return self.change((), [id])

    def change(self, added: Iterable[tuple[str, Pattern]], removed: Iterable[str]) -> Change:
        """Remove subscriptions, then add others; return the net change of ``uncovered``."""
        added, removed = list(added), list(removed)
        check_ids(added, removed, self._by_id)
        with garbage_collection_paused():
            loose = [orphan for id in removed for orphan in self._removed(id)]
            loose += [node for id, pattern in added for node in self._added(id, pattern)]
            with proof_budget(len(loose)):
                for node in sorted(loose, key=lambda node: node.summary.least):  # coverers first
                    if node.members:
                        self._insert(node, self._known_coverer(node))
        return self._net()

    def behind(self) -> dict[str, list[str]]:
        """Return, for each forwarded id, the ids of the subscriptions that it is known to cover, and its own.

        These are the descendants of a root, and nodes that super pointers lead to with their descendants.
        """
        found: dict[Node, list[str]] = {root: [] for root in self.roots}
        waiting = [(root, frozenset((root,))) for root in found]
        for node, above in waiting:  # the loop appends to the list
            above |= {_root(other) for other in node.above if other.members}
            for root in above:
                found[root] += node.members
            waiting += [(child, above) for child in self.children(node)]
        return {root.issued: ids for root, ids in found.items() if root.issued is not None}

    def save(self) -> tuple[SavedNode, ...]:
        """Return the nodes, each after its parent, so that ``restore`` need not search for their parents."""
        nodes = self.roots
        for node in nodes:  # the loop appends to the list
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
        """Add many subscriptions, below the parents that they had in a saved tree.

        A saved parent is used only if it covers the node, which is checked.  Subscriptions without a usable
        saved node are inserted by a search.
        Cost: one containment test for each pattern, where a search takes a hundred.
        """
        saved = list(saved)
        nodes: dict[int, Node] = {}
        with garbage_collection_paused(), proof_budget(len(subscriptions)):
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
        """Add a node below its saved parent; return None if it cannot be there."""
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

    def _added(self, id: str, pattern: Pattern) -> Iterator[Node]:
        """Add a subscription; yield its node if the node is new and must be inserted into the tree."""
        node = self._by_pattern.get(pattern)
        if node is None:
            found = summary(pattern)
            node = self._nodes[found] = self._by_pattern[pattern] = Node(found)
            yield node
        node.members[id] = pattern
        self._by_id[id] = node

    def _removed(self, id: str) -> Iterator[Node]:
        """Remove a subscription; yield the nodes that lose their parent by this."""
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
        if node.summary in siblings:  # else it waits to be inserted itself
            siblings.discard(node.summary)
        del self._nodes[node.summary]
        for alias in node.aliases:
            del self._by_pattern[alias]
        for item in node.children:
            child = self._nodes[item]
            child.parent = node.parent  # which covers it too, if it remains
            yield child

    def _known_coverer(self, node: Node) -> Node | None:
        """Return a node that is known to cover ``node``, below which it can be inserted without a search."""
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

    def _insert(self, node: Node, parent: Node | None) -> None:
        """Insert a node with its subtree below ``parent``, which covers it, or below a descendant of it."""
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
        """Join a node with another one, where each covers the other."""
        for id in node.members:
            self._by_id[id] = other
        other.members |= node.members
        other.aliases += node.aliases
        for alias in node.aliases:
            self._by_pattern[alias] = other
        node.members = {}
        del self._nodes[node.summary]
        for item in node.children:
            self._insert(self._nodes[item], other)

    # The output

    def _forward(self, node: Node) -> None:
        id, pattern = next(iter(node.members.items()))
        node.issued = id
        self._before.setdefault(id, self._uncovered.get(id))
        self._uncovered[id] = pattern

    def _withdraw(self, node: Node, id: str) -> None:
        node.issued = None
        self._before.setdefault(id, self._uncovered.pop(id))

    def _net(self) -> Change:
        """Return the change of ``uncovered`` since the last call."""
        change = net_change(self._before, self._uncovered)
        self._before.clear()
        return change


def _root(node: Node) -> Node:
    while node.parent is not None:
        node = node.parent
    return node

"""Replaces a set of subscriptions by one with fewer steps, losing as little selectivity as possible.

    /a/b/c, /a/b/d, /e/f         8 steps                groups:      {/a/b/c, /a/b/d}   {/e/f}
    share 0.7: at most 5         ─────────►             forwarded:   /a/b/*             /e/f

Patterns are in groups.  Each group is forwarded as one pattern that covers its members: a member, the least
general common pattern, or the common pattern without some leaves.  While the forwarded patterns exceed their
share of steps, the offer that loses the least selectivity for each saved step is accepted: two groups are
joined, or the pattern of one group loses a leaf.

Invariants: each pattern is covered by the pattern of its group; the forwarded patterns have at most the share
of the input's steps, unless only one pattern of one step is left.
Cost: groups are sorted by their steps, once from the front and once from the back.  A group is compared only
with the NEIGHBOURS groups before and after it in each order, some 100 µs for each common pattern.  An offer
stays in a heap until one of its groups is dissolved.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush
from types import MappingProxyType

from twigcast.analysis import (
    CoveringIndex,
    Selectivity,
    Summary,
    Witness,
    common_pattern,
    proof_budget,
    sample_selectivity,
    schema_selectivity,
    shorter_patterns,
    step_count,
    summary,
)
from twigcast.pattern import Axis, Pattern
from twigcast.routing.stages.change import Change, check_ids, net_change

__all__ = ["AGGREGATED", "Aggregating", "Selectivity", "sample_selectivity", "schema_selectivity"]

AGGREGATED = "aggregate:"
"""The prefix of the id of an aggregate, before its canonical text."""

NEIGHBOURS = 2
"""With how many groups before it and after it, in either order, a group may be joined."""

SMALL = 16
"""A group of at most this size is dissolved when a member leaves; a larger one when half has left."""


class _Group:
    """Subscriptions that are forwarded as one pattern."""

    __slots__ = ("backward", "forward", "id", "members", "selectivity", "size", "steps", "summary")

    def __init__(self, id: str, pattern: Pattern, selectivity: float) -> None:
        self.id = id
        self.summary = summary(pattern)
        self.members: dict[str, Pattern] = {}
        self.size = 0
        self.steps = step_count(pattern)
        self.selectivity = selectivity
        trunk = [
            ("//" if step.axis is Axis.DESCENDANT else "/") + (step.test.local or "*")
            for step in pattern.alternatives[0].steps
        ]
        self.forward = ("".join(trunk), id)
        self.backward = ("".join(reversed(trunk)), id)

    @property
    def pattern(self) -> Pattern:
        return self.summary.pattern


class Aggregating:
    """The aggregation stage: subscriptions by id, and the smaller set that is forwarded in their place.

    ``share`` is the largest number of steps of the output, as a share of the steps of the input.
    """

    def __init__(self, share: float, selectivity: Selectivity) -> None:
        if not 0.0 < share <= 1.0:
            raise ValueError(f"the share must be above 0 and at most 1, not {share}")
        self.share = share
        self._selectivity = selectivity
        self._patterns: dict[str, Pattern] = {}
        self._of: dict[str, _Group] = {}
        self._groups: dict[str, _Group] = {}  # by the id that is forwarded
        self._by_summary: dict[Summary, _Group] = {}
        self._index = CoveringIndex()
        self._forward: list[tuple[str, str]] = []
        self._backward: list[tuple[str, str]] = []
        self._offers: list[tuple[float, int, _Group, _Group | None, Pattern]] = []
        self._new: list[_Group] = []  # groups without offers
        self._made = 0  # offers made so far; breaks ties in the heap
        self._allowed = 0  # steps of the input
        self._used = 0  # steps of the output
        self._before: dict[str, Pattern | None] = {}

    def __len__(self) -> int:
        return len(self._patterns)

    @property
    def patterns(self) -> Mapping[str, Pattern]:
        """The patterns that are forwarded, by id."""
        return MappingProxyType({id: group.pattern for id, group in self._groups.items()})

    @property
    def steps(self) -> int:
        """The number of steps of all forwarded patterns."""
        return self._used

    def add(self, id: str, pattern: Pattern) -> Change:
        """Add a subscription; return the change of the output."""
        return self.change([(id, pattern)], ())

    def remove(self, id: str) -> Change:
        """Remove a subscription; return the change of the output."""
        return self.change((), [id])

    def change(self, added: Iterable[tuple[str, Pattern]], removed: Iterable[str]) -> Change:
        """Remove subscriptions, then add others; return the net change of the output."""
        added, removed = list(added), list(removed)
        check_ids(added, removed, self._patterns)
        loose: dict[str, Pattern] = {}
        for id in removed:
            self._allowed -= step_count(self._patterns.pop(id))
            if id in self._of:
                loose |= self._removed(id)
            else:
                del loose[id]
        for id, pattern in added:
            self._patterns[id] = loose[id] = pattern
            self._allowed += step_count(pattern)
        with proof_budget(len(loose) + len(self._groups)):  # all groups may get new offers
            for id, pattern in loose.items():
                self._settle(id, pattern, {id: pattern})
            self._reduce()
        return self._net()

    def behind(self) -> dict[str, list[str]]:
        """Return, for each forwarded id, the ids of the subscriptions in its group."""
        return {id: list(group.members) for id, group in self._groups.items()}

    # Groups

    def _removed(self, id: str) -> dict[str, Pattern]:
        """Remove a subscription from its group; return the members that need a new group, if it dissolves."""
        group = self._of.pop(id)
        del group.members[id]
        if group.id in group.members or len(group.members) > max(SMALL, group.size // 2):
            return {}
        self._dissolve(group)
        for member in group.members:
            del self._of[member]
        return group.members

    def _settle(self, id: str, pattern: Pattern, members: dict[str, Pattern]) -> None:
        """Put members with a common pattern into a group that covers it, or into a new group.

        A new group absorbs all groups whose patterns it covers.
        """
        item = summary(pattern)
        covering = self._index.coverers(item, Witness(pattern), 1)
        if covering:
            group = self._by_summary[covering[0]]
        elif id in self._groups:  # an aggregate that is there already, for which no work for a proof is left
            group = self._groups[id]
        else:
            group = _Group(id, pattern, self._selectivity(pattern))
            for covered in self._index.covered(item):
                other = self._by_summary[covered]
                self._dissolve(other)
                members = other.members | members
            self._establish(group)
        group.members |= members
        group.size = len(group.members)
        for member in members:
            self._of[member] = group

    def _establish(self, group: _Group) -> None:
        self._before.setdefault(group.id, None)
        self._groups[group.id] = self._by_summary[group.summary] = group
        self._index.add(group.summary)
        insort(self._forward, group.forward)
        insort(self._backward, group.backward)
        self._used += group.steps
        self._new.append(group)

    def _dissolve(self, group: _Group) -> None:
        self._before.setdefault(group.id, group.pattern)
        del self._groups[group.id]
        del self._by_summary[group.summary]
        self._index.discard(group.summary)
        for order, key in ((self._forward, group.forward), (self._backward, group.backward)):
            del order[bisect_left(order, key)]
        self._used -= group.steps

    def _exists(self, group: _Group) -> bool:
        return self._groups.get(group.id) is group

    # Offers

    def _reduce(self) -> None:
        """Accept offers until the output has no more than its share of steps."""
        allowed = self.share * self._allowed
        while self._used > allowed:
            self._make_offers()
            if not self._offers:
                return
            _, _, group, other, pattern = heappop(self._offers)
            if not self._exists(group) or (other is not None and not self._exists(other)):
                continue
            self._dissolve(group)
            members = group.members
            if other is not None:
                self._dissolve(other)
                members = members | other.members
            self._settle(AGGREGATED + str(pattern), pattern, members)

    def _make_offers(self) -> None:
        """Make the offers of new groups, or of all groups if no offer is left."""
        new = self._new or ([] if self._offers else list(self._groups.values()))
        self._new = []
        if len(self._offers) > 1000 + 20 * len(self._groups):
            self._offers = [
                offer
                for offer in self._offers
                if self._exists(offer[2]) and (offer[3] is None or self._exists(offer[3]))
            ]
            heapify(self._offers)
        for group in new:
            if self._exists(group):
                self._offer(group)

    def _offer(self, group: _Group) -> None:
        """Offer to shorten the pattern of a group, and to join the group with its neighbours."""
        for pattern in shorter_patterns(group.pattern):
            self._push(group, None, pattern, group.selectivity)
        for order, key in ((self._forward, group.forward), (self._backward, group.backward)):
            at = bisect_left(order, key)
            for _, id in order[max(0, at - NEIGHBOURS) : at + NEIGHBOURS + 1]:
                other = self._groups[id]
                if other is not group:
                    pattern = common_pattern(group.pattern, other.pattern)
                    together = 1.0 - (1.0 - group.selectivity) * (1.0 - other.selectivity)
                    self._push(group, other, pattern, together)

    def _push(self, group: _Group, other: _Group | None, pattern: Pattern, selectivity: float) -> None:
        saved = group.steps + (other.steps if other else 0) - step_count(pattern)
        if saved > 0:
            lost = max(0.0, self._selectivity(pattern) - selectivity)
            self._made += 1
            heappush(self._offers, (lost / saved, self._made, group, other, pattern))

    # The output

    def _net(self) -> Change:
        groups = {id: self._groups[id] for id in self._before if id in self._groups}
        change = net_change(self._before, {id: group.pattern for id, group in groups.items()})
        self._before.clear()
        return change

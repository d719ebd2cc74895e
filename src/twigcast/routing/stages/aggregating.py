"""A set of subscriptions replaced by one with fewer steps, which loses as little selectivity as it can.

    /a/b/c, /a/b/d, /e/f         9 steps                groups:  {/a/b/c, /a/b/d}   {/e/f}
    share 0.7: at most 5         ─────────►             as                /a/b/*     /e/f

Patterns are in groups; each group is forwarded as one pattern that covers its members: a member itself, the
least general pattern in common, or that without some leaves.  While the groups have more than their share of
steps, the change that loses least selectivity for each step it saves is made: two groups become one, or a
group loses a leaf.

Invariants: each pattern is covered by that of its group; the groups' patterns have at most the share of the
input's steps, unless there is only one, of one step.
Cost: a group is compared with its neighbours in the order of its steps from the front and from the back,
not with all others: 2 × NEIGHBOURS common patterns, some 100 µs each.  Offers stay in a heap until a group of
theirs is gone.
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
    sample_selectivity,
    schema_selectivity,
    shortened,
    step_count,
    summary,
)
from twigcast.pattern import Axis, Pattern
from twigcast.routing.stages.change import Change, check_ids, net_change

__all__ = ["AGGREGATED", "Aggregating", "Selectivity", "sample_selectivity", "schema_selectivity"]

AGGREGATED = "aggregate:"
"""How the id of an aggregated subscription begins; its canonical text follows."""

NEIGHBOURS = 2
"""How many groups before and after a group it may become one with, in either order."""

SMALL = 16
"""A group up to this size is taken apart when a member leaves; a larger one when half of it has left."""


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
    """Subscriptions by id, and the smaller set that is forwarded in their place.

    ``share`` is that of the input's steps which the output may have.
    """

    def __init__(self, share: float, selectivity: Selectivity) -> None:
        if not 0.0 < share <= 1.0:
            raise ValueError(f"the share must be above 0 and at most 1, not {share}")
        self.share = share
        self._selectivity = selectivity
        self._patterns: dict[str, Pattern] = {}
        self._of: dict[str, _Group] = {}
        self._groups: dict[str, _Group] = {}  # by the id under which they are forwarded
        self._by_summary: dict[Summary, _Group] = {}
        self._index = CoveringIndex()
        self._forward: list[tuple[str, str]] = []
        self._backward: list[tuple[str, str]] = []
        self._offers: list[tuple[float, int, _Group, _Group | None, Pattern]] = []
        self._new: list[_Group] = []  # groups that no offer was made for
        self._made = 0  # offers so far, which decide between equal ones
        self._allowed = 0  # steps of the input
        self._used = 0  # steps of the output
        self._before: dict[str, Pattern | None] = {}

    def __len__(self) -> int:
        return len(self._patterns)

    @property
    def patterns(self) -> Mapping[str, Pattern]:
        """What is forwarded."""
        return MappingProxyType({id: group.pattern for id, group in self._groups.items()})

    @property
    def steps(self) -> int:
        """The number of steps of all that is forwarded."""
        return self._used

    def add(self, id: str, pattern: Pattern) -> Change:
        """Subscribe."""
        return self.change([(id, pattern)], ())

    def remove(self, id: str) -> Change:
        """Unsubscribe."""
        return self.change((), [id])

    def change(self, added: Iterable[tuple[str, Pattern]], removed: Iterable[str]) -> Change:
        """Unsubscribe some, then subscribe others; what is forwarded and withdrawn in the end."""
        added, removed = list(added), list(removed)
        check_ids(added, removed, self._patterns)
        loose: dict[str, Pattern] = {}
        for id in removed:
            self._allowed -= step_count(self._patterns.pop(id))
            if id in self._of:
                loose |= self._left(id)
            else:
                del loose[id]
        for id, pattern in added:
            self._patterns[id] = loose[id] = pattern
            self._allowed += step_count(pattern)
        for id, pattern in loose.items():
            self._settle(id, pattern, {id: pattern})
        self._reduce()
        return self._net()

    # Groups

    def _left(self, id: str) -> dict[str, Pattern]:
        """The members that need a group as one leaves theirs."""
        group = self._of.pop(id)
        del group.members[id]
        if group.id in group.members or len(group.members) > max(SMALL, group.size // 2):
            return {}
        self._dissolve(group)
        for member in group.members:
            del self._of[member]
        return group.members

    def _settle(self, id: str, pattern: Pattern, members: dict[str, Pattern]) -> None:
        """Put members into a group that covers their common pattern, or into one of their own.

        A group of their own takes in all groups that its pattern covers.
        """
        item = summary(pattern)
        covering = self._index.coverers(item, Witness(pattern), 1)
        if covering:
            group = self._by_summary[covering[0]]
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

    def _is_there(self, group: _Group) -> bool:
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
            if not self._is_there(group) or (other is not None and not self._is_there(other)):
                continue
            self._dissolve(group)
            members = group.members
            if other is not None:
                self._dissolve(other)
                members = members | other.members
            self._settle(AGGREGATED + str(pattern), pattern, members)

    def _make_offers(self) -> None:
        """Find out what new groups could become; all groups once more, where no offer is left."""
        new = self._new or ([] if self._offers else list(self._groups.values()))
        self._new = []
        if len(self._offers) > 1000 + 20 * len(self._groups):
            self._offers = [
                offer
                for offer in self._offers
                if self._is_there(offer[2]) and (offer[3] is None or self._is_there(offer[3]))
            ]
            heapify(self._offers)
        for group in new:
            if self._is_there(group):
                self._offer(group)

    def _offer(self, group: _Group) -> None:
        """Offer what a group could become, alone or with its neighbours."""
        for pattern in shortened(group.pattern):
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

    # What the neighbour knows

    def _net(self) -> Change:
        groups = {id: self._groups[id] for id in self._before if id in self._groups}
        change = net_change(self._before, {id: group.pattern for id, group in groups.items()})
        self._before.clear()
        return change
